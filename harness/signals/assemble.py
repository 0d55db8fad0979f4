"""From what was observed and what the tools say to the signals of one prediction. Pure, so saved evidence will do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from harness.core.test_ids import readable
from harness.patches.patch import Patch
from harness.sandbox.images.tools import COMMAND
from harness.signals import delta
from harness.signals.model import (
    CompiledFile,
    Compiles,
    Complexity,
    EslintLint,
    ImportedFile,
    Imports,
    Lint,
    Measure,
    Network,
    PatchSize,
    Runtime,
    Security,
    Signals,
    Skipped,
    Writes,
)
from harness.signals.observed import (
    FILE_BYTES,
    MAX_FILES,
    TOTAL_BYTES,
    AfterFrame,
    CompiledFrame,
    Observations,
    Source,
    readable_files,
)
from harness.signals.static import Reading

NO_TOOLS = f"there is no tools image; run `{COMMAND}`, then the same command again"
_JAVASCRIPT = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx")
_NO_JAVASCRIPT = "no JavaScript or TypeScript is changed"
_NO_CODE = "no file is changed that it reads"
_NOT_TOLD = "the supervisor did not report it"
_TOTAL_MIB = TOTAL_BYTES // 1024 // 1024
_STATUSES = ("imports", "fails", "unknown")


@dataclass(frozen=True, kw_only=True)
class SignalInputs(Observations):
    """What was observed in one trial, and what the trial itself tells. `why_not` says why there was none."""

    why_not: str = ""
    exited: bool = False
    seconds: float = 0.0
    max_rss_kb: int = 0
    gold: Mapping[str, Any] = field(default_factory=dict)
    """The proof's evidence, as tests.json has it."""


def evidence(inputs: SignalInputs) -> dict[str, Any]:
    """The part of it in results.json, so that `from_evidence` gives the same again."""
    return {
        "why_not": inputs.why_not,
        "exited": inputs.exited,
        "compiled": inputs.compiled.model_dump(mode="json") if inputs.compiled else None,
        "after": inputs.after.model_dump(mode="json") if inputs.after else None,
        "skipped": [{"path": source.path, "why": source.why_not} for source in inputs.sources if source.why_not],
    }


def from_evidence(
    fields: Mapping[str, Any], *, seconds: float, max_rss_kb: int, gold: Mapping[str, Any]
) -> SignalInputs:
    """What was seen, from what results.json kept of it.

    Raises:
        ValueError: this is no such evidence.

    """
    try:
        return SignalInputs(
            why_not=str(fields["why_not"]),
            exited=bool(fields["exited"]),
            seconds=seconds,
            max_rss_kb=max_rss_kb,
            sources=tuple(
                Source(path=str(entry["path"]), before=None, after=None, why_not=str(entry["why"]))
                for entry in fields["skipped"]
            ),
            compiled=CompiledFrame.model_validate(fields["compiled"]) if fields["compiled"] else None,
            after=AfterFrame.model_validate(fields["after"]) if fields["after"] else None,
            gold=gold,
        )
    except (KeyError, TypeError, ValidationError) as error:
        raise ValueError(f"this is not evidence of signals: {error}") from error


def first(patch: Patch | None, inputs: SignalInputs, *, static: str = "") -> Signals:
    """The signals as far as a trial tells them; `static` says why the tools have not read the files (yet)."""
    no_trial = inputs.why_not
    python = _python(patch)
    nothing = not readable_files(patch)
    why = no_trial or static
    unread = Measure() if nothing and not no_trial else Measure(measured=not why, why_not=why)
    common = unread.model_dump()
    javascript = any(file.path.endswith(_JAVASCRIPT) for file in patch.files) if patch else False
    return Signals(
        patch=_size(patch),
        compiles=_compiles(inputs, python),
        imports=_imports(inputs, python),
        lint=Lint(**common),
        eslint=EslintLint(measured=False, why_not=(why or _NOT_TOLD) if javascript else _NO_JAVASCRIPT),
        security=Security(**common),
        semgrep=Measure(measured=False, why_not=why or (_NO_CODE if nothing else _NOT_TOLD)),
        complexity=Complexity(**common),
        runtime=_runtime(inputs),
        network=_network(inputs),
        writes=_writes(inputs),
        skipped=_skipped(patch, inputs),
    )


def with_static(signals: Signals, reading: Reading) -> Signals:
    """The signals with what the tools say."""
    if reading.answer is None:
        why = Measure(measured=False, why_not=reading.why_not).model_dump()
        eslint = signals.eslint if signals.eslint.why_not == _NO_JAVASCRIPT else EslintLint(**why)
        update = {"lint": Lint(**why), "security": Security(**why), "complexity": Complexity(**why)}
        return signals.model_copy(update={**update, "eslint": eslint, "semgrep": Measure(**why)})
    return signals.model_copy(
        update={
            "lint": delta.lint(reading.answer.ruff),
            "eslint": delta.eslint(reading.answer.eslint),
            "security": delta.security(reading.answer.bandit, reading.answer.semgrep),
            "semgrep": delta.semgrep(reading.answer.semgrep),
            "complexity": delta.complexity(reading.answer.lizard),
            "tools": dict(reading.versions),
        }
    )


def _python(patch: Patch | None) -> tuple[str, ...]:
    """The Python files that are there after the patch."""
    paths = [file.new_path for file in patch.files] if patch else []
    return tuple(path for path in paths if path is not None and path.endswith(".py"))


def _size(patch: Patch | None) -> PatchSize:
    files = patch.files if patch else ()
    return PatchSize(
        files=len(files),
        hunks=sum(file.hunks for file in files),
        added=sum(file.added for file in files),
        removed=sum(file.removed for file in files),
    )


def _compiles(inputs: SignalInputs, python: tuple[str, ...]) -> Compiles:
    if inputs.why_not:
        return Compiles(measured=False, why_not=inputs.why_not)
    if not python:
        return Compiles(ok=True)
    if inputs.compiled is None:
        return Compiles(measured=False, why_not=_first_why(inputs) or _NOT_TOLD)
    files = tuple(
        CompiledFile(path=path, ok=ok, error=error, line=line) for path, ok, error, line in inputs.compiled.files
    )
    oks = [file.ok for file in files]
    ok = False if False in oks else True if len(oks) == len(python) and None not in oks else None
    why = inputs.compiled.why or ("the compiler could not say" if None in oks else _first_why(inputs))
    return Compiles(measured=ok is not None, why_not="" if ok is not None else why or _NOT_TOLD, ok=ok, files=files)


def _imports(inputs: SignalInputs, python: tuple[str, ...]) -> Imports:
    if inputs.why_not:
        return Imports(measured=False, why_not=inputs.why_not)
    if not python:
        return Imports(ok=True)
    if inputs.after is None or inputs.after.loaded is None:
        return Imports(measured=False, why_not=_first_why(inputs) or "the test process did not say what it had loaded")
    tried = {path: (status, error) for path, status, error in inputs.after.imports if status in _STATUSES}
    files = []
    for path, mark in zip(inputs.after.modules, inputs.after.loaded, strict=False):
        status, error = ("loaded", "") if mark == "1" else tried.get(path, ("unknown", inputs.after.why))
        files.append(ImportedFile.model_validate({"path": path, "status": status, "error": error}))
    statuses = {file.status for file in files}
    ok = False if "fails" in statuses else True if "unknown" not in statuses and len(files) == len(python) else None
    return Imports(ok=ok, files=tuple(files))


def _first_why(inputs: SignalInputs) -> str:
    return next((source.why_not for source in inputs.sources if source.why_not and source.path.endswith(".py")), "")


def _runtime(inputs: SignalInputs) -> Runtime:
    if inputs.why_not or not inputs.exited:
        return Runtime(measured=False, why_not=inputs.why_not or "the test process was not seen to end")
    seconds, memory = _number(inputs.gold.get("gold_seconds")), _number(inputs.gold.get("gold_max_rss_kb"))
    return Runtime(
        seconds=round(inputs.seconds, 3),
        gold_seconds=seconds,
        seconds_ratio=round(inputs.seconds / seconds, 2) if seconds else None,
        max_rss_kb=inputs.max_rss_kb,
        gold_max_rss_kb=int(memory) if memory else None,
        memory_ratio=round(inputs.max_rss_kb / memory, 2) if memory else None,
    )


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and value > 0 else None


def _network(inputs: SignalInputs) -> Network:
    if inputs.why_not or inputs.after is None:
        return Network(measured=False, why_not=inputs.why_not or _NOT_TOLD)
    counted = inputs.after.network
    if "IpOutNoRoutes" not in counted:
        return Network(measured=False, why_not="the kernel of this runtime does not count it")
    return Network(
        attempts=counted["IpOutNoRoutes"] + counted.get("Ip6OutNoRoutes", 0),
        lookups=counted.get("UdpNoPorts", 0) + counted.get("Udp6NoPorts", 0),
        loopback_packets=counted.get("sent_lo", 0),
    )


def _writes(inputs: SignalInputs) -> Writes:
    if inputs.why_not or inputs.after is None:
        return Writes(measured=False, why_not=inputs.why_not or _NOT_TOLD)
    frame = inputs.after
    return Writes(files=frame.files, bytes=frame.bytes, paths=frame.paths, own_files=frame.own_files, more=frame.more)


def _skipped(patch: Patch | None, inputs: SignalInputs) -> tuple[Skipped, ...]:
    skipped = [Skipped(path=source.path, why=_why(source.why_not)) for source in inputs.sources if source.why_not]
    why = f"more than {MAX_FILES} files are changed"
    return (*skipped, *(Skipped(path=readable(file.path), why=why) for file in readable_files(patch)[MAX_FILES:]))


def _why(word: str) -> str:
    if word != "too large":
        return word
    return f"too large: it has more than {FILE_BYTES // 1024} KiB, or all files together more than {_TOTAL_MIB} MiB"
