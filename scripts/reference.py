"""Write docs/reference/ from the program: every command, option, setting, variable, exit code and closed list of words.

Run as `python scripts/reference.py` after a change to any of them; `--check` writes nothing and ends with 1 where a
page differs from the program.
"""

from __future__ import annotations

import argparse
import ast
import csv
import inspect
import itertools
import re
import sys
import textwrap
from enum import Enum, StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import typer.main

from harness.analysis import compare
from harness.analysis.gate import decision
from harness.analysis.gate.config import GateRules
from harness.cli.shell import help as help_text
from harness.cli.shell.command import REMOVED_IN, RENAMED
from harness.config import settings
from harness.core import errors
from harness.core.instance import Outcome, TaskState
from harness.dataset.ledger.entry import Event
from harness.dataset.policy import Policy
from harness.grading.failures import FailureClass
from harness.judging.places import Place
from harness.judging.tripwires import Tripwire
from harness.quality.difficulty import Tier
from harness.runs.refresh.drift import Result
from harness.solve.answers.extract import NoPatch
from harness.solve.base import Fault
from miner.cli.main import app
from miner.importing.judge import IdVerdict
from miner.sources.change import Stage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pydantic import BaseModel

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "reference"
PACKAGES = ("harness", "miner")
OLD_HELP = ROOT / "scripts" / "help_0_1.csv"
"""Options of each command that 0.1 showed, counted in its source."""
NOTE = "<!-- Written by scripts/reference.py from the program; do not edit. -->\n\n"

SECTIONS: dict[str, type[BaseModel]] = {
    "images": settings.ImageSettings,
    "github": settings.GithubSettings,
    "mining": settings.MiningSettings,
    "signals": settings.SignalsSettings,
    "solve": settings.SolveSettings,
    "gate": GateRules,
    "holdout": Policy,
    "declared": settings.DeclaredSettings,
}
NAMED = {"declared": 'declared."OWNER/NAME"'}
"""Sections that hold a table for each name."""
VARIABLES_OF_SECTIONS = {"images", "github", "mining", "signals", "solve"}
"""Sections of which every key can be set by GOLDSEAM_<SECTION>_<KEY>."""
GATE_VARIABLES = ("max_drop", "mode", "require")

VARIABLES = {
    "GOLDSEAM_CACHE_DIR": "Folder of downloads and locks that runs share, as `[images] cache_dir`.",
    "GOLDSEAM_GITHUB_TOKEN": "Token for GitHub; GH_TOKEN and GITHUB_TOKEN are read after it.",
    "GOLDSEAM_GITHUB_APP_PRIVATE_KEY": "Private key of the GitHub App itself, in place of a file.",
    "GOLDSEAM_LEDGER_KEY": "SSH private key that signs the lines of a dataset's ledger.",
    "GOLDSEAM_REPORT_KEY": "Key of the MAC over reports, shared by machines that trust each other's runs.",
    "GOLDSEAM_USER": "Who is named in the ledger; by default git's user.email, else login@host.",
    "GOLDSEAM_MINI_PYTHON": "Interpreter that has mini-swe-agent, for `goldseam solve --agent mini`.",
}
INTERNAL = {"GOLDSEAM_BUILT_WITH", "GOLDSEAM_CUTOFF", "GOLDSEAM_CYTHON", "GOLDSEAM_VALUES"}
"""Variables that goldseam sets for its own programs in containers."""

LISTS: dict[str, tuple[tuple[str, type[StrEnum]], ...]] = {
    "A prediction": (
        ("Outcome of a prediction", Outcome),
        ("Failure class", FailureClass),
        ("Where a task is judged", Place),
        ("Tripwires", Tripwire),
        ("Why an answer of a model holds no patch", NoPatch),
        ("Why a model could not answer", Fault),
    ),
    "A task": (
        ("State of a task", TaskState),
        ("Difficulty", Tier),
        ("Stage of the funnel", Stage),
        ("Verdict on an imported test id", IdVerdict),
        ("Result of `holdout refresh`", Result),
        ("Event in the ledger", Event),
    ),
    "A comparison": (
        ("Answer of `goldseam compare`", compare.Answer),
        ("Why a task is left out of a comparison", compare.Reason),
        ("Answer of `goldseam gate`", decision.GateVerdict),
        ("Result of one rule", decision.Ruling),
        ("Change of one task", decision.Change),
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say which pages differ from the program")
    check = parser.parse_args().check
    stale = [name for name, text in pages().items() if _read(FOLDER / name) != text]
    if not check:
        FOLDER.mkdir(exist_ok=True)
        for name in stale:
            (FOLDER / name).write_text(pages()[name], encoding="utf-8")
        return 0
    for name in stale:
        sys.stderr.write(f"docs/reference/{name} differs from the program; run `make reference`\n")
    return 1 if stale else 0


def pages() -> dict[str, str]:
    """Text of every generated page by file name."""
    return {
        "commands.md": NOTE + "\n".join(_commands()) + "\n",
        "settings.md": NOTE + "\n".join(_settings()) + "\n",
        "exit-codes.md": NOTE + "\n".join(_exit_codes()) + "\n",
        "words.md": NOTE + "\n".join(_words()) + "\n",
        "help-tree.md": NOTE + "\n".join(_help_tree()) + "\n",
    }


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


# Commands


def commands() -> Iterator[tuple[str, Any]]:
    """Every command that does something, with the words that call it."""
    yield from _below(typer.main.get_command(app), ("goldseam",))


def _below(group: Any, words: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for name, entry in group.commands.items():
        command = entry.load() if hasattr(entry, "load") else entry
        if hasattr(command, "commands"):
            yield from _below(command, (*words, name))
        elif not command.hidden:
            yield " ".join((*words, name)), command


def _commands() -> Iterator[str]:
    yield "# Commands\n"
    yield "Every command and option, with defaults. `goldseam COMMAND --help` prints the same on a terminal.\n"
    yield "| command | what it does |\n|---|---|"
    every = list(commands())
    for words, command in every:
        summary = _one_line((command.help or "").partition("\n\n")[0])
        yield f"| [`{words}`](#{words.replace(' ', '-')}) | {_cell(summary)} |"
    for words, command in every:
        yield f"\n## `{words}` {{#{words.replace(' ', '-')}}}\n"
        yield _paragraphs(command.help or "")
        arguments = [part for part in command.params if part.param_type_name == "argument"]
        yield f"\n    {words} [OPTIONS] {' '.join(_argument(part) for part in arguments)}".rstrip() + "\n"
        if arguments:
            yield "| argument | meaning |\n|---|---|"
            yield from (f"| `{_argument(part)}` | {_cell(part.help or '')} |" for part in arguments)
        panels: dict[str, list[Any]] = {}
        for part in command.params:
            if part.param_type_name == "option" and not part.hidden:
                panels.setdefault(getattr(part, "rich_help_panel", None) or "Options", []).append(part)
        for panel, options in panels.items():
            yield f"\n**{panel}**\n\n| option | meaning | default | variable |\n|---|---|---|---|"
            yield from (_option_row(option) for option in options)


def _argument(part: Any) -> str:
    name = (part.metavar or part.name or "").upper().strip("{}")
    text = name if part.required else f"[{name}]"
    return f"{text}..." if part.nargs == -1 and "…" not in text and "..." not in text else text


def _option_row(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    value = "" if option.is_flag else f" {_metavar(option)}"
    repeats = " (repeatable)" if option.multiple and "repeatable" not in (option.help or "") else ""
    variable = option.envvar if isinstance(option.envvar, str) else ", ".join(option.envvar or ())
    return (
        f"| {names}{_cell(value)} | {_cell(_one_line(option.help or ''))}{repeats} | {_cell(_default(option))} | "
        f"{f'`{variable}`' if variable else ''} |"
    )


def _metavar(option: Any) -> str:
    if option.metavar:
        return str(option.metavar).strip("<>")
    annotation = option.type_descriptor.annotation
    inner = get_args(annotation)[0] if get_args(annotation) else annotation
    if isinstance(inner, type) and issubclass(inner, Enum):
        return "/".join(str(member.value) for member in inner)
    return {"int": "N", "float": "X", "Path": "PATH"}.get(getattr(inner, "__name__", ""), "TEXT")


def _default(option: Any) -> str:
    if option.required:
        return "required"
    if isinstance(option.default, bool):
        return ("on" if option.default else "off") if option.secondary_opts else ""
    return help_text.default_of(option, typer.Context(typer.main.get_command(app)))


# Help, before and after


def _everything(command: Any, words: str = "goldseam", parent: Any = None) -> Iterator[tuple[str, Any, Any]]:
    """Every group and command with the words that call it and its context."""
    context = command.context_class(command, info_name=words, parent=parent, **command.context_settings)
    yield words, command, context
    for name, entry in getattr(command, "commands", {}).items():
        child = entry.load() if hasattr(entry, "load") else entry
        if not child.hidden:
            yield from _everything(child, f"{words} {name}", context)


def _help_tree() -> Iterator[str]:
    with OLD_HELP.open(encoding="utf-8") as file:
        old = {row["command"]: (row["first screen"], row["all options"]) for row in csv.DictReader(file)}
    rows, longest = [], 0
    for words, command, context in _everything(typer.main.get_command(app)):
        sections = help_text.sections(command, context)
        first = len(sections[help_text.FIRST])
        advanced = sum(len(part) for title, part in sections.items() if title.startswith(help_text.ADVANCED))
        old_counts = " | ".join(old.get(words, ("–", "–")))
        rows.append(f"| `{words}` | {old_counts} | {first} | {advanced} | {len(command.examples)} |")
        longest = max(longest, first)
    yield "# Help, before and after\n"
    yield (
        "How many options the help of each command shows, in 0.1 and now. The first screen is what stands under "
        "Options, `--help` included; the other options come under Advanced. No help of 0.1 had an example. The four "
        "options that every command takes now (`--config`, `-v`, `-q`, `--no-color`) are not counted.\n"
    )
    before = max(int(first) for first, _ in old.values())
    yield f"The longest first screen had {before} options in 0.1 and has {longest} now.\n"
    yield (
        "| command | 0.1: first screen | 0.1: all | now: first screen | now: advanced | now: examples |\n"
        "|---|---|---|---|---|---|"
    )
    yield from rows
    yield "\n## One word for one thing\n"
    yield (
        f"Old spellings work until {REMOVED_IN}, with a hint that names the new one. `--out` is `--output` "
        "in every command.\n"
    )
    yield "| command | old | now |\n|---|---|---|"
    for words, table in RENAMED.items():
        for old_name, name in table.items():
            yield f"| `goldseam {words}` | `{old_name}` | {f'`{name}`' if name else 'the default'} |"


# Settings


def _settings() -> Iterator[str]:
    yield "# Settings\n"
    yield (
        "Flags win over environment variables, variables over `goldseam.toml` in the current folder. Unknown keys and "
        "values that do not fit are refused, with the name of whoever set them. Keys marked so are required.\n"
    )
    for section, model in SECTIONS.items():
        summary = _one_line((inspect.getdoc(model) or "").partition(":")[2] or inspect.getdoc(model) or "")
        yield f"## `[{NAMED.get(section, section)}]` {{#{section}}}\n"
        yield f"{summary[:1].upper()}{summary[1:]}\n"
        yield "| key | type | default | variable | meaning |\n|---|---|---|---|---|"
        described = docstrings(model)
        for name, field in model.model_fields.items():
            yield (
                f"| `{name}` | {_cell(_type(field.annotation))} | {_cell(_field_default(name, field))} | "
                f"{_variable(section, name)} | {_cell(described.get(name) or _described(field))} |"
            )
        yield ""
    yield "## Variables\n"
    yield "Variables that set no key of `goldseam.toml`, beside those of [options](commands.md).\n"
    yield "| variable | meaning |\n|---|---|"
    yield from (f"| `{name}` | {_cell(meaning)} |" for name, meaning in VARIABLES.items())
    yield (
        "\nThe engine is found by `DOCKER_HOST`, else at the usual sockets. The package index, proxies and "
        "certificates are taken from the variables that pip and uv read: `UV_DEFAULT_INDEX`, `PIP_INDEX_URL`, "
        "`HTTPS_PROXY`, `SSL_CERT_FILE` and their like. They reach builds and are stored in no image and no task."
    )


def _variable(section: str, name: str) -> str:
    if section in VARIABLES_OF_SECTIONS or (section == "gate" and name in GATE_VARIABLES):
        return f"`GOLDSEAM_{section.upper()}_{name.upper()}`"
    return ""


def _type(annotation: Any) -> str:
    names = {"str": "text", "int": "number", "float": "number", "bool": "true/false", "Path": "path", "date": "date"}
    options = [part for part in get_args(annotation) if part is not type(None)]
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return ", ".join(f'`"{member.value}"`' for member in annotation)
    if "Literal" in str(annotation) and options and all(isinstance(part, str) for part in options):
        return ", ".join(f'`"{part}"`' for part in options)
    base = getattr(annotation, "__name__", str(annotation))
    if base.startswith("dict"):
        return "table"
    if base.startswith("tuple"):
        return "list"
    if options:
        return " or ".join(dict.fromkeys(_type(part) for part in options if not _is_constraint(part)))
    return names.get(base, base)


def _is_constraint(part: Any) -> bool:
    return not isinstance(part, type) and not get_args(part)


def _field_default(name: str, field: Any) -> str:
    if field.is_required():
        return "required"
    if name == "cache_dir":
        return "`~/.cache/goldseam`"
    value = field.get_default(call_default_factory=True)
    if value is None or value in ("", (), {}):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value.value if isinstance(value, Enum) else value}`"


def _described(field: Any) -> str:
    text = field.description or ""
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def docstrings(thing: type) -> dict[str, str]:
    """The texts below the fields or members of a class, by name."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(thing)))
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    texts: dict[str, str] = {}
    for statement, following in itertools.pairwise(body):
        target: ast.expr | None = statement.target if isinstance(statement, ast.AnnAssign) else None
        if isinstance(statement, ast.Assign):
            target = statement.targets[0]
        if isinstance(target, ast.Name) and isinstance(following, ast.Expr):
            value = getattr(following.value, "value", None)
            if isinstance(value, str):
                texts[target.id] = _one_line(value)
    return texts


# Exit codes and words


def _exit_codes() -> Iterator[str]:
    yield "# Exit codes\n"
    yield "Every command uses the same codes.\n"
    yield "| code | meaning |\n|---|---|\n| 0 | Done; a gate passes. |"
    codes: dict[int, str] = {}
    for kind in (
        errors.AnswerIsNoError,
        errors.InputError,
        errors.NothingComparableError,
        errors.InfrastructureError,
        errors.BugError,
        errors.InterruptedRunError,
    ):
        codes[kind.exit_code] = _one_line(inspect.getdoc(kind) or "")
    codes[3] = f"{codes[3]} Also a gate that can't tell."
    yield from (f"| {code} | {_cell(text)} |" for code, text in sorted(codes.items()))
    yield (
        "\nA CI job can treat 1 and 3 differently: 1 is a regression, 3 means that the runs do not hold enough to say. "
        "After 4 and 130 the same command continues where it ended. After 70 the message names a log to report.\n"
    )
    yield "Commands that say more in their help:\n\n| command | what it says |\n|---|---|"
    for words, command in commands():
        for sentence in re.split(r"(?<=[.;])\s", _one_line(command.help or "")):
            if re.search(r"exit code|\bcode \d", sentence):
                yield f"| `{words}` | {_cell(sentence)} |"


def _words() -> Iterator[str]:
    yield "# Words that programs may rely on\n"
    yield (
        "Closed lists that reports, datasets and JSON output use. A word keeps its meaning within a major version; new "
        "words may come. Reasons of the funnel are listed in [Mining](../mining.md#why-a-change-was-skipped), reasons "
        "for which a part of a patch is left out in [Formats](../formats.md).\n"
    )
    for heading, lists in LISTS.items():
        yield f"## {heading}\n"
        for title, kind in lists:
            described = docstrings(kind)
            yield f"### {title}\n\n{_one_line(inspect.getdoc(kind) or '')}\n"
            yield "| word | meaning |\n|---|---|"
            yield from (f"| `{member.value}` | {_cell(described.get(member.name, ''))} |" for member in kind)
            yield ""


# Text


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _paragraphs(text: str) -> str:
    parts: Sequence[str] = re.split(r"\n\s*\n", inspect.cleandoc(text).replace("\b", ""))
    return "\n\n".join(_escaped(_one_line(part)) if not _is_example(part) else _block(part) for part in parts)


def _is_example(part: str) -> bool:
    return any(line.lstrip().startswith("goldseam ") for line in part.splitlines())


def _block(part: str) -> str:
    return "```console\n" + inspect.cleandoc(part.strip("\n")) + "\n```"


def _escaped(text: str) -> str:
    """Markdown in which brackets and angles stand for themselves, outside of code."""
    pieces: Iterable[str] = re.split(r"(`[^`]*`)", text)
    return "".join(piece if piece.startswith("`") else re.sub(r"([<>\[\]*_])", r"\\\1", piece) for piece in pieces)


def _cell(text: str) -> str:
    return _escaped(text).replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
