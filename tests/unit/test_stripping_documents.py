"""A document of doctests, without what its examples are to print."""

from __future__ import annotations

import doctest

import pytest

from miner.languages.base import Mode
from miner.languages.python.stripping.documents import StrippedDocument

TEXT = """\
Four is what two and two make.

    >>> from shop import f
    >>> f(2, 2)  # that is 4
    4
    >>> for n in 1, 2:
    ...     f('''a
    ... b''', n)  # doctest: +ELLIPSIS, -NORMALIZE_WHITESPACE
    'a...'
    'a...'
    >>> f(0)  # doctest: +SKIP
    0

And here it fails:

    >>> f('x')
    Traceback (most recent call last):
      ...
    ValueError: no x
"""


@pytest.fixture(name="document")
def _document():
    return StrippedDocument(TEXT.encode(), path="docs/use.rst", first=7)


def all_of(document: StrippedDocument, mode: Mode) -> dict[int, Mode]:
    return {slot.number: mode for slot in document.slots}


def test_each_example_that_says_what_it_prints_is_an_assertion_of_the_whole_file(document):
    assert [(slot.number, slot.function, slot.assertion.op) for slot in document.slots] == [
        (7, ("use.rst",), "doctest"),
        (8, ("use.rst",), "doctest"),
        (9, ("use.rst",), "doctest"),
    ]


def test_a_stripped_document_holds_calls_and_no_word_of_what_comes_of_them(document):
    stripped = document.stripped(all_of(document, Mode.EXPECTED))
    assert "f(2, 2)" in stripped
    assert "f('a\\\\nb', n)" in stripped
    assert [word for word in ("Four", "that is", "4", "...'", "fails", "ValueError", "no x") if word in stripped] == []


def test_a_stripped_document_has_the_examples_and_options_of_the_whole_one(document):
    def read(text: str):
        return [(one.options, bool(one.want)) for one in doctest.DocTestParser().get_examples(text)]

    options = {doctest.ELLIPSIS: True, doctest.NORMALIZE_WHITESPACE: False}
    skipped = ({doctest.SKIP: True}, True)
    assert read(TEXT) == [({}, False), ({}, True), (options, True), skipped, ({}, True)]
    assert read(document.stripped(all_of(document, Mode.EXPECTED))) == [
        ({}, False),
        ({}, False),
        (options, False),
        skipped,
        ({}, False),
    ]


def test_what_stays_inside_says_what_it_prints(document):
    kept = doctest.DocTestParser().get_examples(document.stripped(all_of(document, Mode.INSIDE)))
    assert [(one.want, one.exc_msg) for one in kept] == [
        (one.want, one.exc_msg) for one in doctest.DocTestParser().get_examples(TEXT)
    ]


def test_a_recording_tells_what_each_example_is_to_print(document):
    recorded = document.recording(all_of(document, Mode.EXPECTED))
    assert "(7).example('f(2, 2)', globals(), ('4\\n', None))" in recorded
    assert "'ValueError: no x\\n'" in recorded


@pytest.mark.parametrize("text", [b"\xff >>> f()\n1\n", b">>>f()\n1\n", b">>> f()  # doctest: +NOT_KNOWN\n1\n"])
def test_what_is_no_document_of_doctests_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        StrippedDocument(text, path="docs/use.rst", first=0)
