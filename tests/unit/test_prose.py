"""The word list finds what it has to in prose and in messages, and leaves code alone."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("prose", ROOT / "scripts" / "prose.py")
prose = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(prose)


@pytest.fixture
def places(tmp_path, monkeypatch):
    monkeypatch.setattr(prose, "ROOT", tmp_path)

    def look(name: str, text: str) -> list[str]:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return list(prose._of_room(tmp_path / name))

    return look


@pytest.mark.parametrize(
    "sentence",
    [
        "It mends the cause.",
        "Four run at once.",
        "A change was left.",
        "A bug of ours.",
        "The reason stands in the log.",
        "It brings tests.",
        "The same command goes on.",
        "The user is told.",
        "Hidden files lie open.",
    ],
)
def test_a_word_of_the_list_is_found(places, sentence):
    assert len(places("page.md", f"{sentence}\n")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "It fixes the cause, and the others continue.\n",
        "Call `mend()`.\n",
        "    goldseam mend\n",
        "```console\n$ mend\n```\n",
        "See [there](mend.md#at-once).\n",
        "What is left over is a standard.\n",
        "They can't be told apart.\n",
    ],
)
def test_other_words_and_code_are_not_found(places, text):
    assert places("page.md", text) == []


def test_the_message_of_an_error_is_read(places):
    assert len(places("a.py", 'raise InputError("mend it", hint="it stands in the log")\n')) == 2


def test_the_help_of_an_option_is_read(places):
    assert len(places("a.py", 'Option("--jobs", help="At once.")\n')) == 1


def test_a_message_that_is_only_built_is_read(places):
    assert len(places("a.py", 'text = f"{count} run at once"\n')) == 1


def test_the_docstring_of_a_command_is_read_and_no_other(places):
    text = '@app.command()\ndef mine():\n    """Mend it."""\n\n\ndef help():\n    """Mend it."""\n'
    assert len(places("a.py", text)) == 1


def test_names_and_comments_of_code_are_not_read(places):
    assert places("a.py", "mend = told()  # at once\n") == []
