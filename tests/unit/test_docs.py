"""Every command has help and stands in the documentation; what the README names exists."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

from miner.cli.help_panels import HOLDOUT_PANELS, PANELS
from miner.cli.main import app

ROOT = Path(__file__).parents[2]
PAGES = "\n".join(
    page.read_text(encoding="utf-8") for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
)


def commands(group, words: tuple[str, ...] = ("goldseam",)):
    for name, command in group.commands.items():
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


@pytest.mark.parametrize(("group", "panels"), [((), PANELS), (("holdout",), HOLDOUT_PANELS)])
def test_help_lists_every_command_in_a_panel_and_nothing_else(group, panels):
    command = typer.main.get_command(app)
    for word in group:
        command = command.commands[word]
    assert sorted(command.commands) == sorted(name for names in panels.values() for name in names)


def test_the_version_is_told():
    told = CliRunner().invoke(app, ["--version"])
    assert (told.exit_code, told.output) == (0, f"goldseam {metadata.version('goldseam')}\n")


@pytest.mark.parametrize(
    "path", sorted(set(re.findall(r"`((?:docs|datasets|benchmarks|harness|miner)/[\w./-]+)`", PAGES)))
)
def test_a_path_that_the_documentation_names_exists(path):
    assert (ROOT / path).exists()
