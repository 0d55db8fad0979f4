"""The licence of a repository, by what its licence file says and by what its metadata says. Pure.

Known texts are told by phrases that only they have; anything else is `unknown`, never guessed. Names are SPDX
identifiers (https://spdx.org/licenses/). This is a note for people, no legal advice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

UNKNOWN = "unknown"
_FILE = re.compile(r"(?:LICEN[CS]E|COPYING|UNLICENSE)(?:[-._][\w.-]+)?", re.IGNORECASE)
_START = 1500
"""Characters in which a licence tells its own name; further down it may name others."""
_GIVEN = ("permission is hereby granted, free of charge", "to deal in the software without restriction")
_KEPT = "above copyright notice and this permission notice"
_LIBERAL = "redistribution and use in source and binary forms"
_GNU = {
    "gnu affero general public license": "AGPL",
    "gnu lesser general public license": "LGPL",
    "gnu library general public license": "LGPL",
    "gnu general public license": "GPL",
}
_BY_PHRASES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Apache-2.0", ("apache license", "version 2.0")),
    ("MPL-2.0", ("mozilla public license", "version 2.0")),
    ("EPL-2.0", ("eclipse public license", "2.0")),
    ("EUPL-1.2", ("european union public licence", "1.2")),
    ("BSL-1.0", ("boost software license",)),
    ("CC0-1.0", ("cc0 1.0 universal",)),
    ("Unlicense", ("free and unencumbered software released into the public domain",)),
    ("Python-2.0", ("python software foundation license version 2",)),
    ("Artistic-2.0", ("the artistic license 2.0",)),
    ("MIT-0", (*_GIVEN, "mit no attribution")),
    ("MIT", _GIVEN),
    ("ISC", ("permission to use, copy, modify, and/or distribute this software", _KEPT)),
    ("ISC", ("permission to use, copy, modify, and distribute this software", _KEPT)),
    ("0BSD", ("permission to use, copy, modify, and/or distribute this software",)),
    ("Zlib", ("this software is provided 'as-is', without any express or implied warranty", "altered source versions")),
    ("WTFPL", ("do what the fuck you want to public license",)),
    ("BSD-4-Clause", (_LIBERAL, "all advertising materials")),
    ("BSD-3-Clause", (_LIBERAL, "may be used to endorse or promote")),
    ("BSD-2-Clause", (_LIBERAL,)),
)  # fmt: skip
_CLASSIFIERS = {
    "MIT License": "MIT",
    "MIT No Attribution License (MIT-0)": "MIT-0",
    "Apache Software License": "Apache-2.0",
    "ISC License (ISCL)": "ISC",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "The Unlicense (Unlicense)": "Unlicense",
    "Boost Software License 1.0 (BSL-1.0)": "BSL-1.0",
    "CC0 1.0 Universal (CC0 1.0) Public Domain Dedication": "CC0-1.0",
    "GNU General Public License v2 (GPLv2)": "GPL-2.0-only",
    "GNU General Public License v2 or later (GPLv2+)": "GPL-2.0-or-later",
    "GNU General Public License v3 (GPLv3)": "GPL-3.0-only",
    "GNU General Public License v3 or later (GPLv3+)": "GPL-3.0-or-later",
    "GNU Lesser General Public License v2 or later (LGPLv2+)": "LGPL-2.0-or-later",
    "GNU Lesser General Public License v3 (LGPLv3)": "LGPL-3.0-only",
    "GNU Lesser General Public License v3 or later (LGPLv3+)": "LGPL-3.0-or-later",
    "GNU Affero General Public License v3": "AGPL-3.0-only",
    "GNU Affero General Public License v3 or later (AGPLv3+)": "AGPL-3.0-or-later",
}
_WORDS = {
    "mit license": "MIT", "the mit license": "MIT", "apache 2.0": "Apache-2.0", "apache license 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0", "apache-2": "Apache-2.0", "bsd-3": "BSD-3-Clause",
    "bsd 3-clause": "BSD-3-Clause", "3-clause bsd": "BSD-3-Clause", "new bsd": "BSD-3-Clause",
    "bsd 3-clause license": "BSD-3-Clause", "bsd 2-clause": "BSD-2-Clause", "mpl 2.0": "MPL-2.0",
    "gplv3": "GPL-3.0-only", "gplv2": "GPL-2.0-only", "gplv3+": "GPL-3.0-or-later", "lgplv3": "LGPL-3.0-only",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Licence:
    """What is known of a repository's licence."""

    spdx: str = UNKNOWN
    """An SPDX identifier or expression, or `unknown`."""
    told_by: str = ""
    """`file`, `metadata`, or `file and metadata` where both say the same; empty where neither does."""
    file: str | None = None
    """The licence file at the repository's root."""
    differs: str | None = None
    """What the metadata says, where that is something else than the file."""

    def public(self) -> dict[str, object]:
        """As it stands in task.yaml."""
        return {"spdx": self.spdx, "told_by": self.told_by, "file": self.file, "differs": self.differs}


def of_text(text: str) -> str:
    """The licence that a text is, or `unknown`."""
    plain = re.sub(r"[‘’`]", "'", " ".join(re.sub(r"[*#>|]|^\s*//", " ", text, flags=re.MULTILINE).lower().split()))
    start = plain[:_START]
    places = [(start.find(name), kind) for name, kind in _GNU.items() if name in start]
    if places and "mozilla public license" not in start:
        place, kind = min(places)
        version = re.search(r"version (\d)(?:\.(\d))?", start[place:])
        if version:
            later = "or (at your option) any later version" in start and "terms and conditions" not in start
            return f"{kind}-{version[1]}.{version[2] or 0}-{'or-later' if later else 'only'}"
    for spdx, phrases in _BY_PHRASES:
        if all(phrase in plain for phrase in phrases):
            return spdx
    return UNKNOWN


def of_metadata(words: str | None, classifiers: Iterable[str] = ()) -> str:
    """The licence that a project's metadata names: an SPDX expression, a customary word for one, or a classifier."""
    text = (words or "").strip()
    if text and "\n" not in text:
        if licence_found := _WORDS.get(text.lower().rstrip(".")):
            return licence_found
        try:
            return str(canonicalize_license_expression(text))
        except InvalidLicenseExpression:
            pass
    names = {
        licence for classifier in classifiers if (licence := _CLASSIFIERS.get(classifier.rpartition(" :: ")[2].strip()))
    }
    if len(names) == 1:
        return names.pop()
    return of_text(text) if "\n" in text else UNKNOWN


def licence(files: Mapping[str, bytes], *, words: str | None = None, classifiers: Iterable[str] = ()) -> Licence:
    """The licence of a tree: what its licence file says stands over what its metadata says.

    Several licence files that say different things are an expression with `OR` only where metadata says so; else the
    first that is known stands.
    """
    paths = sorted(path for path in files if PurePosixPath(path).name == path and _FILE.fullmatch(path))
    by_file = {path: of_text(files[path].decode("utf-8", "replace")) for path in paths}
    by_known_file = {path: licence_found for path, licence_found in by_file.items() if licence_found != UNKNOWN}
    path = next(iter(by_known_file), next(iter(paths), None))
    filed = by_file.get(path or "", UNKNOWN)
    from_metadata = of_metadata(words, classifiers)
    if filed == UNKNOWN:
        return Licence(spdx=from_metadata, told_by="metadata" if from_metadata != UNKNOWN else "", file=path)
    if from_metadata in (UNKNOWN, filed):
        return Licence(spdx=filed, told_by="file" if from_metadata == UNKNOWN else "file and metadata", file=path)
    if re.search(r"\b(?:OR|AND|WITH)\b", from_metadata) and set(by_known_file.values()) & set(
        re.split(r"[\s()]+", from_metadata)
    ):
        return Licence(spdx=from_metadata, told_by="file and metadata", file=path)
    return Licence(spdx=filed, told_by="file", file=path, differs=from_metadata)
