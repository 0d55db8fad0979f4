"""Every command has help and stands in the documentation; what the README names exists."""

from __future__ import annotations

import ast
import functools
import importlib
import itertools
import re
from importlib import metadata
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

from harness.cli.shell.command import LazyCommand
from miner.cli import holdout, main
from miner.cli.main import app

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = "\n".join(
    page.read_text(encoding="utf-8")
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if page.parent.name != "reference"  # generated: names everything
)
_WORDS_OF_README = 500


program = functools.cache(lambda: typer.main.get_command(app))
load = functools.cache(LazyCommand.load)


def commands(group, words: tuple[str, ...] = ("goldseam",)):
    for name, entry in group.commands.items():
        command = load(entry) if isinstance(entry, LazyCommand) else entry
        if hasattr(command, "commands"):
            yield from commands(command, (*words, name))
        else:
            yield " ".join((*words, name)), command


@functools.cache
def every_command():
    """The commands by their words; loading them all takes a second."""
    return dict(commands(program()))


def test_a_command_has_help():
    assert [name for name, command in every_command().items() if not (command.help or "").strip()] == []


def test_every_option_has_help():
    for name, command in every_command().items():
        assert [parameter.name for parameter in command.params if not getattr(parameter, "help", "")] == [], name


def test_a_command_stands_in_the_documentation():
    assert [name for name in every_command() if not re.search(rf"{name}\b", PAGES)] == []


ENTRIES = [
    (name, entry)
    for panels in (main.COMMANDS, holdout.COMMANDS)
    for entries in panels.values()
    for name, entry in entries.items()
]


def test_a_line_in_help_is_what_the_command_says_of_itself():
    for name, entry in ENTRIES:
        command = LazyCommand(name, entry, "").load()
        assert command.name in {name, None, ""}
        assert " ".join(command.help.partition("\n\n")[0].split()) == entry.help, name


def test_every_command_of_a_module_can_be_called():
    for module in {entry.module for _, entry in ENTRIES} - {"miner.cli.holdout", "miner.cli.images"}:
        own = typer.main.get_group(importlib.import_module(module).app).commands
        assert set(own) <= {name for name, _ in ENTRIES}, module


def test_the_version_is_told():
    told = CliRunner().invoke(app, ["--version"])
    assert (told.exit_code, told.output) == (0, f"goldseam {metadata.version('goldseam')}\n")


def test_a_path_that_the_documentation_names_exists():
    named = set(re.findall(r"`((?:docs|datasets|benchmarks|harness|miner)/[\w./-]+)`", PAGES))
    assert named
    assert {path for path in named if not (ROOT / path).exists()} == set()


def test_the_readme_is_short():
    prose = re.sub(r"```.*?```|^ {4}.*?$|\]\([^)]*\)", "", README, flags=re.MULTILINE | re.DOTALL)

    assert len(re.findall(r"\w[\w'’.%–-]*", prose)) <= _WORDS_OF_README


def test_a_link_of_the_readme_leads_somewhere():
    targets = set(re.findall(r"\]\(([^)#:]+)[^)]*\)", README))
    assert targets
    assert {target for target in targets if not (ROOT / target).exists()} == set()


_KINDS = {"goldseam accepted run", "goldseam dataset"}
"""Words in files that begin like a call."""
_CALL = re.compile(r"(?:^(?: {4,}|\$ )|`)(goldseam [^`\n]+?)(?: {2,}.*)?(?:`|$)", re.MULTILINE)


def unknown(call: str) -> list[str]:
    """What a call names that the program does not have: a command, or an option of it."""
    words, group = call.split()[1:], program()
    known = {name for param in group.params for name in param.opts}
    while words and hasattr(group, "commands") and re.fullmatch(r"[a-z-]*[a-z]", words[0]) and words[0][0] != "-":
        entry = group.commands.get(words[0])
        if entry is None:
            return words[:1]
        group = load(entry) if isinstance(entry, LazyCommand) else entry
        known |= {name for param in group.params for name in (*param.opts, *param.secondary_opts)}
        words.pop(0)
    own = itertools.takewhile(lambda word: word not in {"|", "||", "&&", ">", ";", "#"}, words)
    options = [word.partition("=")[0] for word in own if re.match(r"--?[a-z]", word)]
    return [option for option in options if option not in {*known, "--help", "-h"}]


def wrong_of(calls):
    """By call, what is no word of the program in it."""
    return {call: words for call in sorted({*calls} - _KINDS) if (words := unknown(call))}


def test_a_call_that_the_documentation_shows_is_one_of_the_program():
    assert wrong_of(_CALL.findall(PAGES)) == {}


def texts_of_the_program(*, hints: bool = False):
    """Texts of code that names commands, with X for what is filled in; `hints` alone if asked for."""
    for file in sorted(file for room in ("goldseam", "harness", "miner") for file in (ROOT / room).rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if ("hint=" if hints else "goldseam ") not in text:
            continue
        tree = ast.parse(text)
        roots = [node.value for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "hint"]
        for node in [part for root in roots for part in ast.walk(root)] if hints else ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                yield "".join(part.value if isinstance(part, ast.Constant) else "X" for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


BEGUN_AS_A_CALL = re.compile(r"\Agoldseam (?!needs|survivor)[a-z].*")


def test_a_call_that_a_message_names_is_one_of_the_program():
    texts = list(texts_of_the_program())
    assert wrong_of(call for text in texts for found in (_CALL, BEGUN_AS_A_CALL) for call in found.findall(text)) == {}


def test_an_option_that_a_hint_names_is_one_of_some_command():
    known = {name for command in every_command().values() for param in command.params for name in param.opts}
    named = {name for text in texts_of_the_program(hints=True) for name in re.findall(r"(?<![\w-])--[a-z][\w-]*", text)}

    assert named - known == {"--unshallow", "--refetch", "--no-filter", "--task"}  # git's, and an agent's in an example


def test_a_wrong_call_is_found():
    assert wrong_of(["goldseam evaluate bench", "goldseam evaluat bench"]) == {"goldseam evaluat bench": ["evaluat"]}
    assert unknown("goldseam holdout export bench --to jsonl") == ["--to"]


def test_every_page_stands_in_the_navigation_and_no_other():
    listed = set(re.findall(r"([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))

    assert {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")} == listed


@pytest.mark.parametrize(
    ("language", "name"), [("bash", "evaluate-candidate.sh"), ("yaml", "github.yml"), ("yaml", "gitlab.yml")]
)
def test_the_guide_to_ci_shows_a_file_as_it_is(language, name):
    text = (ROOT / "docs" / "ci" / name).read_text(encoding="utf-8")

    assert f"```{language}\n{text}```" in (ROOT / "docs" / "howto" / "ci.md").read_text(encoding="utf-8")
