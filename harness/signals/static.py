"""Static signals: changed files of many predictions, read by the tools in a few locked-down containers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from pydantic import ValidationError

from harness.core.errors import InfrastructureError, InputError, InterruptedRunError
from harness.core.instance import Budgets
from harness.core.records import PartialRecord
from harness.sandbox.images.tools import PYTHON
from harness.sandbox.job import Job, Sandbox
from harness.signals.delta import Answer
from harness.signals.sources import Sources

BATCH_BYTES = 8 * 1024 * 1024
BATCH_ITEMS = 24
_BUDGETS = Budgets(seconds=420, memory_mb=1024, cpus=1, pids=64, disk_mb=128, output_bytes=64 * 1024)
_PROGRAMS = ("analyst", "eslint_config", "optional_tools")
"""Modules that run in the image, each after those that it imports; the last one has `main`."""
_LOADED = ("bandit.cli.main", "lizard")
"""What takes long to load, so that it is there when the question comes."""
_BOOTSTRAP = f"""\
import contextlib,importlib,os,sys,types
os.environ["HOME"]="/nonexistent"
for name in {_LOADED!r}:
    with contextlib.suppress(Exception):
        importlib.import_module(name)
take=lambda: sys.stdin.buffer.read(int(sys.stdin.buffer.read(8),16))
package=sys.modules["harness.signals"]=types.ModuleType("harness.signals")
for name in {_PROGRAMS!r}:
    module=sys.modules["harness.signals."+name]=types.ModuleType("harness.signals."+name)
    setattr(package,name,module)
    exec(compile(take(),name,"exec"),module.__dict__)
module.main(take())
"""
"""The engine never closes standard input, so each part says how long it is."""
SUFFIXES = (".yaml", ".yml", ".json")
LARGEST = 4 * 1024 * 1024
"""Bytes of all rules together."""
_HINT = "semgrep_rules under [signals] in goldseam.toml, or GOLDSEAM_SIGNALS_SEMGREP_RULES, names a file or a folder"


class _Answers(PartialRecord):
    versions: dict[str, str]
    items: dict[str, Answer]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The tools' results for one prediction, or why there are none."""

    answer: Answer | None = None
    why_not: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    again: bool = False
    """Whether another try may fare better: it was not the files' fault."""


def batches(sizes: Iterable[tuple[str, int]]) -> Iterator[tuple[str, ...]]:
    """Names in groups that one container reads at once, by their sizes in bytes."""
    group: list[str] = []
    total = 0
    for name, size in sizes:
        if group and (len(group) >= BATCH_ITEMS or total + size > BATCH_BYTES):
            yield tuple(group)
            group, total = [], 0
        group.append(name)
        total += size
    if group:
        yield tuple(group)


def read(
    sources: Mapping[str, Sources], image: str, sandbox: Sandbox, *, rules: Rules | None = None
) -> dict[str, Reading]:
    """The tools' results for each prediction. Where a container with several of them fails, each gets its own.

    `rules` are those for semgrep.

    Raises:
        InterruptedRunError: the run was interrupted.

    """
    try:
        answers = _ask(sources, image, sandbox, rules)
    except InterruptedRunError:
        raise
    except InfrastructureError as error:
        return dict.fromkeys(sources, Reading(why_not=error.message, again=True))
    if isinstance(answers, _Answers):
        return {
            name: Reading(answer=answers.items[name], versions={**answers.versions, "image": image})
            for name in sources
            if name in answers.items
        }
    if len(sources) == 1:
        return dict.fromkeys(sources, Reading(why_not=answers))
    readings: dict[str, Reading] = {}
    for name, sources_of in sources.items():
        readings.update(read({name: sources_of}, image, sandbox, rules=rules))
    return readings


def expect(image: str | None, sandbox: Sandbox) -> None:
    """Have the tools' container started, where there is an image for it."""
    if image is not None:
        sandbox.expect(_job(image, b""))


def _job(image: str, stdin: bytes) -> Job:
    return Job(image=image, argv=(PYTHON, "-I", "-B", "-c", _BOOTSTRAP), stdin=stdin, budgets=_BUDGETS)


def _ask(sources: Mapping[str, Sources], image: str, sandbox: Sandbox, rules: Rules | None) -> _Answers | str:
    """The tools' answers, or why there are none."""
    folder = resources.files("harness.signals")
    programs = [folder.joinpath(f"{name}.py").read_bytes() for name in _PROGRAMS]
    numbers = {str(number): name for number, name in enumerate(sources)}
    question = json.dumps(
        {
            "items": [{"id": number, **sources[name].as_json()} for number, name in numbers.items()],
            "rules": [{"name": name, "text": text} for name, text in rules.files] if rules else [],
            "eslint_runner": folder.joinpath("eslint_runner.cjs").read_text(encoding="utf-8"),
        }
    )
    stdin = b"".join(b"%08x" % len(part) + part for part in (*programs, question.encode()))
    result = sandbox.run(_job(image, stdin))
    if result.timed_out or result.oom_killed or result.stdout_overflow or result.exit_code:
        words = {"time": result.timed_out, "memory": result.oom_killed, "room for their answer": result.stdout_overflow}
        lack = next((word for word, lacking in words.items() if lacking), "")
        last = result.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or [""]
        return f"the tools ran out of {lack}" if lack else f"the tools failed: {last[0][:200]}"
    try:
        answers = _Answers.model_validate_json(result.stdout)
    except ValidationError as error:
        return f"the tools' answer does not fit: {error.errors()[0]['msg']}"
    if set(answers.items) != set(numbers):
        return "the tools' answer is for other files"
    versions = {
        **answers.versions,
        **({"semgrep_rules": rules.digest} if rules and "semgrep" in answers.versions else {}),
    }
    return _Answers(versions=versions, items={numbers[key]: answer for key, answer in answers.items.items()})


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Rules by name: a path below the folder, or of the one file its name."""

    files: tuple[tuple[str, str], ...]

    @property
    def digest(self) -> str:
        """SHA-256 of names and texts, its first 16 hex digits."""
        return hashlib.sha256(json.dumps(self.files).encode()).hexdigest()[:16]


def read_rules(path: Path) -> Rules:
    """The rules in a file, or in the .yaml, .yml and .json files of a folder and those below it, hidden ones left out.

    Raises:
        InputError: there are none, they can't be read, or they are too large.

    """
    path = path.expanduser()
    if path.is_dir():
        paths = [file for file in sorted(path.rglob("*")) if file.is_file() and file.suffix in SUFFIXES]
        named_paths = [(file.relative_to(path).as_posix(), file) for file in paths]
        named_paths = [
            (name, file) for name, file in named_paths if not any(part.startswith(".") for part in name.split("/"))
        ]
    elif path.suffix in SUFFIXES:
        named_paths = [(path.name, path)]
    else:
        raise InputError(f"semgrep rules: {path} is not a folder and no .yaml, .yml or .json file", hint=_HINT)
    files: list[tuple[str, str]] = []
    left = LARGEST
    for name, rule_file in named_paths:
        try:
            left -= rule_file.stat().st_size
            if left < 0:
                raise InputError(f"semgrep rules: {path} has more than {LARGEST} bytes of them", hint=_HINT)
            files.append((name, rule_file.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"semgrep rules: {rule_file} can't be read: {error}", hint=_HINT) from error
    if not files:
        raise InputError(f"semgrep rules: {path} has no .yaml, .yml or .json file", hint=_HINT)
    return Rules(files=tuple(files))
