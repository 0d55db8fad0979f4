"""A repository's licence, by what its files and its metadata say."""

from __future__ import annotations

import pytest

from harness.quality.licence import UNKNOWN, licence, of_metadata, of_text

MIT = (
    "Copyright (c) 2024 Ada\n\nPermission is hereby granted, free of charge, to any person obtaining a copy, to deal\n"
    "in the Software without restriction.\n"
)
BSD = "Redistribution and use in source and binary forms, with or without modification, are permitted.\n"


@pytest.mark.parametrize(
    ("text", "spdx"),
    [
        (MIT, "MIT"),
        (MIT.replace("\n", "\r\n> "), "MIT"),
        (BSD, "BSD-2-Clause"),
        (f"{BSD} * Neither the name … may be used to endorse or promote products.", "BSD-3-Clause"),
        ("                    Apache License\n              Version 2.0, January 2004\n", "Apache-2.0"),
        ("GNU GENERAL PUBLIC LICENSE\n Version 3, 29 June 2007\n TERMS AND CONDITIONS", "GPL-3.0-only"),
        ("GNU LESSER GENERAL PUBLIC LICENSE\n Version 2.1, February 1999\n", "LGPL-2.1-only"),
        ("GNU AFFERO GENERAL PUBLIC LICENSE\n Version 3\n", "AGPL-3.0-only"),
        (
            "Under the GNU General Public License, either version 2, or (at your option) any later version.",
            "GPL-2.0-or-later",
        ),
        ("Mozilla Public License Version 2.0 … GNU General Public License, Version 2.0", "MPL-2.0"),
        ("All rights reserved. Do not copy.", UNKNOWN),
        ("", UNKNOWN),
    ],
)
def test_a_known_text_is_told_and_an_unknown_one_is_not_guessed(text, spdx):
    assert of_text(text) == spdx


@pytest.mark.parametrize(
    ("words", "trove", "spdx"),
    [
        ("MIT", (), "MIT"),
        ("mit", (), "MIT"),
        ("MIT OR Apache-2.0", (), "MIT OR Apache-2.0"),
        ("BSD 3-Clause", (), "BSD-3-Clause"),
        ("Our own terms", (), UNKNOWN),
        (None, ("License :: OSI Approved :: MIT License",), "MIT"),
        ("BSD", ("License :: OSI Approved :: BSD License",), UNKNOWN),
        (
            None,
            ("License :: OSI Approved :: MIT License", "License :: OSI Approved :: Apache Software License"),
            UNKNOWN,
        ),
        (MIT, (), "MIT"),
        (None, (), UNKNOWN),
    ],
)
def test_metadata_is_told_by_expression_word_or_classifier(words, trove, spdx):
    assert of_metadata(words, trove) == spdx


def test_the_file_stands_over_the_metadata_and_the_difference_is_told():
    found = licence({"LICENSE.txt": MIT.encode(), "src/LICENSE": BSD.encode()}, words="ISC")

    assert (found.spdx, found.told_by, found.file, found.differs) == ("MIT", "file", "LICENSE.txt", "ISC")


def test_both_saying_the_same_is_said():
    assert licence({"COPYING": MIT.encode()}, words="MIT").told_by == "file and metadata"


def test_a_choice_of_licences_is_the_metadata_s_expression():
    found = licence({"LICENSE-MIT": MIT.encode(), "LICENSE-BSD": BSD.encode()}, words="MIT OR BSD-2-Clause")

    assert found.spdx == "MIT OR BSD-2-Clause"


def test_without_a_known_file_the_metadata_stands():
    found = licence({"LICENCE": b"\xff\xfe our own"}, words="MIT")

    assert (found.spdx, found.told_by, found.file) == ("MIT", "metadata", "LICENCE")


def test_nothing_known_is_unknown():
    found = licence({"README.md": MIT.encode(), "licenses_test.py": b""})

    assert (found.spdx, found.told_by, found.file) == (UNKNOWN, "", None)
