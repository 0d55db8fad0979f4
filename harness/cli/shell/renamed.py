"""Old spellings of options: they work for one version, hidden from help, with a hint that names the new one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

REMOVED_IN = "0.3"

_EVERYWHERE: Mapping[str, str] = {"--out": "--output"}
RENAMED: Mapping[str, Mapping[str, str]] = {
    "demo": {"--into": "--output"},
    "mine": {"--fresh": "--force"},
    "evaluate": {"--no-cache": "--force", "--no-retry-errors": ""},
    "compare": {"--base-model": "--baseline-model"},
    "gate": {
        "--base-model": "--baseline-model",
        "--confirm": "--confirm-run",
        "--first": "--allow-missing-baseline",
    },
    "images rebuild": {"--instance-id": "--id"},
    "holdout import": {"--fresh": "--force"},
    "holdout calls": {"--again": "--force"},
    "holdout strength": {"--again": "--force"},
    "holdout strip": {"--again": "--force"},
    "holdout refresh": {"--retry": "--retry-errors", "--no-retry": "", "--force": "--accept-drift"},
    "holdout quarantine": {"--why": "--reason"},
    "holdout release": {"--why": "--reason"},
    "holdout retire": {"--why": "--reason"},
    "holdout export": {"--to": "--format", "--hidden": "--with-hidden"},
    "holdout difficulty": {"--runs": "--run"},
    "solve": {"--name": "--model-name"},
}
"""New spelling by command and old spelling; an empty one where the option only said what holds anyway."""


def renamed_in(command: str) -> Mapping[str, str]:
    """New spellings by old ones in a command, such as `holdout refresh`."""
    return {**_EVERYWHERE, **RENAMED.get(command, {})}


def translate(command: str, words: Sequence[str], *, own: frozenset[str], tell: bool) -> list[str]:
    """The words of a command line with old spellings replaced; `tell` prints a hint for each on standard error.

    `own` holds the spellings that the command has itself: these are never replaced, and nothing else is put in place.
    """
    table = {old: new for old, new in renamed_in(command).items() if old not in own and (not new or new in own)}
    translated: list[str] = []
    for place, word in enumerate(words):
        if word == "--":
            return [*translated, *words[place:]]
        name, sign, value = word.partition("=")
        if name not in table:
            translated.append(word)
            continue
        new = table[name]
        if new:
            translated.append(f"{new}{sign}{value}")
        if tell:
            note(name, new)
    return translated


def note(old: str, new: str) -> None:
    """The hint that an old spelling gets."""
    text = f"{old} is now {new}" if new else f"{old} is the default and can be left out"
    typer.echo(f"note: {text}; the old spelling goes away in {REMOVED_IN}", err=True)
