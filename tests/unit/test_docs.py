"""Every command has help and stands in the documentation; what the README names exists."""

from __future__ import annotations

import importlib
import re
from importlib import metadata
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

from harness.cli.lazy import LazyCommand
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


def commands(group, words: tuple[str, ...] = ("goldseam",)):
    for name, entry in group.commands.items():
        command = entry.load() if isinstance(entry, LazyCommand) else entry
        if hasattr(command, "commands"):
            yield from commands(command, (*words, name))
        else:
            yield " ".join((*words, name)), command


COMMANDS = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_help(name):
    assert (COMMANDS[name].help or "").strip()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_help(name):
    unexplained = [parameter.name for parameter in COMMANDS[name].params if not getattr(parameter, "help", "")]

    assert unexplained == []


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_stands_in_the_documentation(name):
    assert re.search(rf"{name}\b", PAGES), f"no page names `{name}`"


ENTRIES = [
    (name, entry)
    for panels in (main.COMMANDS, holdout.COMMANDS)
    for entries in panels.values()
    for name, entry in entries.items()
]


@pytest.mark.parametrize(("name", "entry"), ENTRIES)
def test_a_line_in_help_is_what_the_command_says_of_itself(name, entry):
    command = LazyCommand(name, entry, "").load()
    assert command.name in {name, None, ""}
    assert " ".join(command.help.partition("\n\n")[0].split()) == entry.help


@pytest.mark.parametrize("module", sorted({entry.module for _, entry in ENTRIES}))
def test_every_command_of_a_module_can_be_called(module):
    own = typer.main.get_group(importlib.import_module(module).app).commands
    assert module in {"miner.cli.holdout", "miner.cli.images"} or set(own) <= {name for name, _ in ENTRIES}


def test_the_version_is_told():
    told = CliRunner().invoke(app, ["--version"])
    assert (told.exit_code, told.output) == (0, f"goldseam {metadata.version('goldseam')}\n")


@pytest.mark.parametrize(
    "path", sorted(set(re.findall(r"`((?:docs|datasets|benchmarks|harness|miner)/[\w./-]+)`", PAGES)))
)
def test_a_path_that_the_documentation_names_exists(path):
    assert (ROOT / path).exists()


def test_the_readme_is_short():
    prose = re.sub(r"```.*?```|^ {4}.*?$|\]\([^)]*\)", "", README, flags=re.MULTILINE | re.DOTALL)

    assert len(re.findall(r"\w[\w'’.%–-]*", prose)) <= _WORDS_OF_README


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#:]+)[^)]*\)", README))))
def test_a_link_of_the_readme_leads_somewhere(target):
    assert (ROOT / target).exists()


@pytest.mark.parametrize("line", re.findall(r"^    (goldseam .+?)(?: {2,}#.*)?$", README, re.MULTILINE))
def test_a_command_of_the_readme_has_the_options_that_it_shows(line):
    name, command = next((name, command) for name, command in COMMANDS.items() if line.startswith(name))
    options = {option for parameter in command.params for option in parameter.opts}

    assert set(re.findall(r"(?<= )-{1,2}[a-z][a-z-]*", line.removeprefix(name))) <= options


@pytest.mark.parametrize(
    "target", re.findall(r"^ *- .*?: ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
)
def test_a_page_of_the_navigation_exists(target):
    assert (ROOT / "docs" / target).exists()


def test_every_page_stands_in_the_navigation():
    listed = set(re.findall(r"([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))

    assert {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")} == listed


@pytest.mark.parametrize(
    ("language", "name"), [("bash", "evaluate-candidate.sh"), ("yaml", "github.yml"), ("yaml", "gitlab.yml")]
)
def test_the_guide_to_ci_shows_a_file_as_it_is(language, name):
    text = (ROOT / "docs" / "ci" / name).read_text(encoding="utf-8")

    assert f"```{language}\n{text}```" in (ROOT / "docs" / "howto" / "ci.md").read_text(encoding="utf-8")
