"""Runs inside the tools image: reads files before and after patches, says what ruff, bandit and lizard find in each.

One JSON document on standard input, one on standard output. The files are data: nothing is imported or run.
A file that several predictions share (the base of one task, say) is read once. Each tool runs over all files at once;
where that fails, over those of one prediction at a time: a file that breaks a tool costs its own prediction only.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import importlib.metadata
import io
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
import tokenize
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path("/tmp/files")  # noqa: S108 - a tmpfs of a container that is used once
BIN = Path(sys.executable).parent
RUFF_RULES = "E4,E7,E9,F,B,PLE"
RUFF_OLDEST = (3, 7)
BANDIT_SKIPS = "B101,B403,B404,B405,B406,B407,B408,B409"
"""Assertions, and imports whose uses have checks of their own."""
SECONDS_FOR_ALL = 120.0
SECONDS_FOR_ONE = 20.0
MOST = 2000
"""Findings of one tool on one side of one prediction."""
SIDES = ("before", "after")
_SAFE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,80}")

Entry = dict[str, Any]


@dataclass
class Copy:
    """A file as the tools see it: one for each content, name and version of Python."""

    path: Path
    python: str
    lines: list[str]

    def text(self, line: int) -> str:
        """A line, without the space around it."""
        return self.lines[line - 1].strip()[:200] if 0 < line <= len(self.lines) else ""


@dataclass
class Item:
    """One prediction: per side, the paths of its files and the copies that stand for them."""

    id: str
    copies: dict[str, list[tuple[str, Copy]]] = field(default_factory=lambda: {side: [] for side in SIDES})
    configs: dict[str, bytes] = field(default_factory=dict)
    """The repository's eslint configurations at the base, by path."""

    def all(self) -> list[Copy]:
        """Every copy, of both sides."""
        return [copy for side in SIDES for _, copy in self.copies[side]]


@dataclass
class Findings:
    """Findings of a tool, by path of a copy."""

    entries: dict[str, list[Entry]] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)

    def add(self, path: str, entry: Entry) -> None:
        """Take an entry in, unless there are too many."""
        listed = self.entries.setdefault(path, [])
        if len(listed) < MOST:
            listed.append(entry)


Tool = Callable[[list[Copy], float], Findings]
Optional = Callable[[Entry, list[Item]], tuple[str, dict[str, Entry]]]
"""From the question and its predictions to a version, empty where it was not used, and what it says of each."""


def main(request: str | bytes, **optional: Optional) -> None:
    """Answer one question, with these tools besides."""
    question = json.loads(request)
    copies: dict[tuple[str, str, str], Copy] = {}
    items = [read(item, copies) for item in question["items"]]
    answers: dict[str, Entry] = {item.id: {} for item in items}
    for name, tool in (("ruff", ruff), ("bandit", bandit), ("lizard", lizard)):
        for item, findings in run_tool(tool, items):
            answers[item.id][name] = {"error": findings} if isinstance(findings, str) else by_own_path(item, findings)
    versions = {name: importlib.metadata.version(name) for name in ("ruff", "bandit", "lizard")}
    for name, more in optional.items():
        try:
            version, results = more(question, items)
        except Exception as error:  # noqa: BLE001 - it must not cost what the others say
            version, results = "", {item.id: {"error": f"{type(error).__name__}: {error}"[:300]} for item in items}
        versions |= {name: version} if version else {}
        for item in items:
            answers[item.id][name] = results[item.id]
    sys.stdout.write(json.dumps({"versions": versions, "items": answers}))


def read(prediction: Entry, copies: dict[tuple[str, str, str], Copy]) -> Item:
    """A prediction, its files put where the tools find them, under names of our own."""
    item = Item(id=prediction["id"])
    item.configs = {config["path"]: base64.b64decode(config["data"]) for config in prediction.get("configs", ())}
    for file in prediction["files"]:
        for side in SIDES:
            if file[side] is not None:
                data = as_utf8(base64.b64decode(file[side]))
                item.copies[side].append((file["path"], copy_of(data, file["path"], prediction["python"], copies)))
    return item


def copy_of(data: bytes, path: str, python: str, copies: dict[tuple[str, str, str], Copy]) -> Copy:
    """The copy of a file; made where it is not there yet."""
    name = path.rpartition("/")[2]
    suffix = os.path.splitext(name)[1]  # noqa: PTH122 - of a name that may be no path here
    name = name if _SAFE_NAME.fullmatch(name) else f"module{suffix}"
    key = (hashlib.sha256(data).hexdigest(), name, python)
    if key not in copies:
        target = ROOT / f"f{len(copies)}" / name
        target.parent.mkdir(parents=True)
        target.write_bytes(data)
        copies[key] = Copy(path=target, python=python, lines=data.decode("utf-8", "replace").split("\n"))
    return copies[key]


def as_utf8(data: bytes) -> bytes:
    """A Python source in UTF-8, whatever encoding it declares; unchanged where that can't be done."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data if encoding.startswith("utf-8") else data.decode(encoding).encode()
    except (SyntaxError, UnicodeError, LookupError):
        return data


def run_tool(tool: Tool, items: list[Item]) -> Iterable[tuple[Item, Findings | str]]:
    """Findings of a tool by prediction, or why it failed."""
    try:
        findings = tool(distinct(items), SECONDS_FOR_ALL)
        return [(item, findings) for item in items]
    except Exception:  # noqa: BLE001 - one by one, then, and each failure is told
        results: list[tuple[Item, Findings | str]] = []
        for item in items:
            try:
                results.append((item, tool(distinct([item]), SECONDS_FOR_ONE)))
            except Exception as error:  # noqa: BLE001
                results.append((item, f"{type(error).__name__}: {error}"[:300]))
        return results


def distinct(items: list[Item]) -> list[Copy]:
    """The copies of these predictions, each once."""
    return list({copy.path: copy for item in items for copy in item.all()}.values())


def by_own_path(item: Item, findings: Findings) -> Entry:
    """Findings of a tool on one prediction, under its own paths."""
    answer: Entry = {}
    for side in SIDES:
        listed = [(path, findings.entries.get(str(copy.path), [])) for path, copy in item.copies[side]]
        answer[side] = [{**entry, "path": path} for path, entries in listed for entry in entries]
    answer["unread"] = {
        side: [
            {"path": path, "why": findings.unread[str(copy.path)]}
            for path, copy in item.copies[side]
            if str(copy.path) in findings.unread
        ]
        for side in SIDES
    }
    return answer


def run(argv: list[str], seconds: float, *, env: dict[str, str] | None = None, stdin: bytes = b"") -> bytes:
    """Standard output of a tool.

    Raises:
        RuntimeError: it failed.

    """
    env = {"PATH": f"{BIN}:/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", **(env or {})}
    try:
        completed = subprocess.run(
            argv, env=env, cwd="/", input=stdin, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"it took longer than {seconds:g} s") from None
    if completed.returncode:
        errors = completed.stderr.decode("utf-8", "replace").strip().splitlines()
        raise RuntimeError(f"it ended with {completed.returncode}: {errors[-1][:200] if errors else ''}")
    return completed.stdout


def ruff(copies: list[Copy], seconds: float) -> Findings:
    """Lint findings. `noqa` comments are not heeded: a patch could add them."""
    findings = Findings()
    by_version: dict[str, list[Copy]] = {}
    for copy in copies:
        if copy.path.suffix in (".py", ".pyi"):
            by_version.setdefault(copy.python, []).append(copy)
    for version, chosen in sorted(by_version.items()):
        by_path = {str(copy.path): copy for copy in chosen}
        for violation in json.loads(run_ruff(version, list(by_path), seconds)):
            copy = by_path[violation["filename"]]
            line = int((violation.get("location") or {}).get("row") or 0)
            entry = {"rule": violation.get("code") or "invalid-syntax", "line": line, "text": copy.text(line)}
            findings.add(str(copy.path), {**entry, "message": str(violation.get("message", ""))[:300]})
    return findings


def run_ruff(version: str, paths: list[str], seconds: float) -> bytes:
    """Ruff's report. It reads the files as the task's version of Python does, where it knows that one."""
    argv = [str(BIN / "ruff"), "check", "--isolated", "--no-cache", "--output-format=json", "--exit-zero"]
    argv += ["--quiet", "--ignore-noqa", "--no-respect-gitignore", f"--select={RUFF_RULES}"]
    numbers = tuple(int(part) for part in version.split(".")[:2]) if re.fullmatch(r"\d+(\.\d+)+", version) else ()
    if numbers >= RUFF_OLDEST:
        try:
            return run([*argv, f"--target-version=py{numbers[0]}{numbers[1]}", *paths], seconds)
        except RuntimeError as error:
            if "target-version" not in str(error) and "ended with 2" not in str(error):
                raise
    return run([*argv, *paths], seconds)


def bandit(copies: list[Copy], seconds: float) -> Findings:
    """Security findings. `nosec` comments are not heeded. A file that it can't parse has none, and is named."""
    findings = Findings()
    by_path = {str(copy.path): copy for copy in copies if copy.path.suffix == ".py"}
    if not by_path:
        return findings
    argv = ["bandit", "-q", "-f", "json", "--exit-zero", "--ignore-nosec", "-s", BANDIT_SKIPS, *by_path]
    report = json.loads(in_child(lambda out: run_bandit(argv, out), seconds))
    for issue in report["results"]:
        copy = by_path[issue["filename"]]
        line = int(issue["line_number"])
        entry = {"rule": issue["test_id"], "cwe": (issue.get("issue_cwe") or {}).get("id"), "line": line}
        entry |= {"severity": issue["issue_severity"].lower(), "confidence": issue["issue_confidence"].lower()}
        findings.add(str(copy.path), {**entry, "message": issue["issue_text"][:300], "text": copy.text(line)})
    findings.unread = {error["filename"]: str(error["reason"])[:200] for error in report["errors"]}
    return findings


def run_bandit(argv: list[str], out: int) -> None:
    """Its command line, in this process, which it ends."""
    os.dup2(out, 1)
    os.chdir("/")
    sys.argv = argv
    sys.stdout = os.fdopen(1, "w", encoding="utf-8")
    try:
        importlib.import_module("bandit.cli.main").main()
    except SystemExit as end:
        if end.code:
            raise
    finally:
        sys.stdout.flush()


def lizard(copies: list[Copy], seconds: float) -> Findings:
    """Functions with their cyclomatic complexity."""

    def work(out: int) -> None:
        with open(out, "wb") as file:
            file.write(json.dumps({str(copy.path): functions(copy) for copy in copies}).encode())

    return Findings(entries=json.loads(in_child(work, seconds)))


def in_child(work: Callable[[int], None], seconds: float) -> bytes:
    """What some work writes to a descriptor: in a child, which a deadline can end.

    Raises:
        RuntimeError: it failed.

    """
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(out)
            work(into)
            code = 0
        finally:
            os._exit(code)
    os.close(into)
    output = bytearray()
    deadline = time.monotonic() + seconds
    try:
        while (left := deadline - time.monotonic()) > 0 and select.select([out], [], [], left)[0]:
            chunk = os.read(out, 1 << 20)
            if not chunk:
                break
            output += chunk
        else:
            raise RuntimeError(f"it took longer than {seconds:g} s")
    finally:
        os.close(out)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    if not output:
        raise RuntimeError("it broke off")
    return bytes(output)


def functions(copy: Copy) -> list[Entry]:
    """The functions of a file, each with a digest of its text."""
    analyse = importlib.import_module("lizard").analyze_file.analyze_source_code
    entries = []
    for function in analyse(str(copy.path), "\n".join(copy.lines)).function_list[:MOST]:
        text = "\n".join(copy.lines[function.start_line - 1 : function.end_line])
        entry = {"function": function.long_name[:200], "complexity": function.cyclomatic_complexity}
        entries.append({**entry, "digest": hashlib.sha256(text.encode()).hexdigest()[:16]})
    return entries
