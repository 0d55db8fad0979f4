"""The hidden side of a task as files: which they are, what is in them, and a digest of that.

By the digest a sealed task's content is told without a key. What changes no verdict is no part of it: the canary, what
the proof saw but for the fix's own tripwires, recorded calls, what other files tell, what the image was built from, and
wrong patches.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from harness.core import json_text
from harness.core.errors import InputError
from harness.core.expectations import Expectations
from harness.core.instance import Hidden
from harness.dataset.model_files import decoded, parse_model
from harness.dataset.schema import TestsModel
from harness.dataset.seal import canary_marks
from harness.judging.places import ids_by_place

_NAME = re.compile(r"survivor-\d{2,}-[a-z]+\.patch")
OF_FIX = "of-fix-"
"""How names of files begin that a task's image was built from, as the fix leaves them."""
HINTS_FILE = "hints.md"
ORIGINAL_FILE = "original_statement.md"
TESTS_FILE = "tests.json"
GOLD_FILE = "gold.patch"
TEST_FILE = "test.patch"
EXPECTATIONS_FILE = "expectations.json"
TRUST_FILE = "trust.json"
"""Of a task from before there were expectations: it stays hidden, and nothing reads it."""
CALLS_FILE = "calls.json"
HIDDEN_FILES = (HINTS_FILE, ORIGINAL_FILE, TESTS_FILE, GOLD_FILE, TEST_FILE, EXPECTATIONS_FILE, TRUST_FILE, CALLS_FILE)
"""The hidden files of a task, with its survivors and what begins with `OF_FIX`; where it is sealed, `sealed.age` stands
in place of these."""
HIDDEN_DIGEST = "hidden_digest"
"""The field of a sealed task's task.yaml."""
_NO_CONTENT = (canary_marks.FIELD, "evidence", "judged", "schema_version")


def is_survivor(name: str) -> bool:
    """Whether a file of a task's folder, by its name, is one of them."""
    return _NAME.fullmatch(name) is not None


def is_hidden(name: str) -> bool:
    """Whether a file of a task's folder, by its name, belongs to its hidden side."""
    return name in HIDDEN_FILES or is_survivor(name) or name.startswith(OF_FIX)


def hidden_names(folder: Path) -> tuple[str, ...]:
    """The hidden files that lie open in a task's folder, by name."""
    names = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    hidden = [name for name in names if is_hidden(name)]
    return (*(name for name in HIDDEN_FILES if name in hidden), *(name for name in hidden if name not in HIDDEN_FILES))


def hidden_of(contents: Mapping[str, bytes], where: Path) -> Hidden:
    """The hidden side, from its files by name.

    Raises:
        InputError: a file is missing or broken; the message names it as lying in `where`.

    """
    if missing := [name for name in (TESTS_FILE, GOLD_FILE, TEST_FILE) if name not in contents]:
        raise InputError(f"{where} holds no {missing[0]}")
    tests = parse_model(contents[TESTS_FILE], where / TESTS_FILE, TestsModel)
    hints, original = contents.get(HINTS_FILE, b""), contents.get(ORIGINAL_FILE, b"")
    return Hidden(
        gold_patch=canary_marks.without_in_patch(contents[GOLD_FILE]),
        test_patch=canary_marks.without_in_patch(contents[TEST_FILE]),
        fail_to_pass=tests.fail_to_pass,
        pass_to_pass=tests.pass_to_pass,
        flaky=tests.flaky,
        test_files=tests.test_files,
        hints=canary_marks.without_in_markdown(decoded(hints, where / HINTS_FILE)),
        original_statement=canary_marks.without_in_markdown(decoded(original, where / ORIGINAL_FILE)),
        evidence=tests.evidence,
        expectations=_expectations(contents.get(EXPECTATIONS_FILE), where / EXPECTATIONS_FILE),
        survivors={
            name: canary_marks.without_in_patch(data) for name, data in sorted(contents.items()) if is_survivor(name)
        },
        calls=_calls(contents[CALLS_FILE], where / CALLS_FILE) if CALLS_FILE in contents else b"",
        inputs={
            name: canary_marks.without_in_gzip(data)
            for name, data in sorted(contents.items())
            if name.startswith(OF_FIX)
        },
        extra=tests.model_extra or {},
    )


def hidden_files(hidden: Hidden, *, canary: str = "") -> dict[str, bytes]:
    """The hidden side as files by name, each with the canary: the given one, or the one it was read with."""
    mark = canary or str(hidden.extra.get(canary_marks.FIELD, ""))
    fields = {canary_marks.FIELD: mark} if mark else {}
    before = canary_marks.in_comment(mark).encode()
    files = {
        GOLD_FILE: before + hidden.gold_patch,
        TEST_FILE: before + hidden.test_patch,
        TESTS_FILE: _tests_file(replace(hidden, extra={**hidden.extra, **fields})),
        **{name: before + data for name, data in hidden.survivors.items()},
        **{name: canary_marks.in_file(name, data, mark) for name, data in hidden.inputs.items()},
    }
    for name, text in ((HINTS_FILE, hidden.hints), (ORIGINAL_FILE, hidden.original_statement)):
        if text:
            files[name] = (canary_marks.in_markdown(mark) + text).encode("utf-8", "surrogateescape")
    if hidden.expectations.tests:
        files[EXPECTATIONS_FILE] = (json.dumps({**hidden.expectations.as_json(), **fields}) + "\n").encode()
    if hidden.calls:
        files[CALLS_FILE] = (json.dumps({**json.loads(hidden.calls), **fields}) + "\n").encode()
    return files


def _calls(data: bytes, where: Path) -> bytes:
    """The bytes, once they are a JSON object; harness/differential knows what is in it."""
    if json_text.read_object(data) is None:
        raise InputError(f"{where} is broken: it holds no JSON object")
    return data


def _expectations(data: bytes | None, where: Path) -> Expectations:
    if data is None:
        return Expectations()
    try:
        return Expectations.from_json(json_text.loads(data))
    except ValueError as error:
        raise InputError(f"{where} is broken: {error}") from error


def _tests_file(hidden: Hidden) -> bytes:
    model = TestsModel.model_validate(
        {
            **hidden.extra,
            "FAIL_TO_PASS": hidden.fail_to_pass,
            "PASS_TO_PASS": hidden.pass_to_pass,
            "flaky": hidden.flaky,
            "test_files": hidden.test_files,
            "evidence": dict(hidden.evidence),
            "judged": ids_by_place(hidden) if hidden.expectations.tests else {},
        }
    )
    return (json.dumps(model.as_written(), indent=1) + "\n").encode()


def hidden_digest(contents: Mapping[str, bytes]) -> str:
    """`sha256:…` over a task's hidden files, by name; over their bytes where they cannot be read."""
    files = sorted(
        (name, hashlib.sha256(_bare(name, data)).hexdigest())
        for name, data in contents.items()
        if not (is_survivor(name) or name.startswith(OF_FIX) or name == CALLS_FILE)
    )
    return f"sha256:{hashlib.sha256(json.dumps(files).encode()).hexdigest()}"


def _bare(name: str, data: bytes) -> bytes:
    if name.endswith(".patch"):
        return canary_marks.without_in_patch(data)
    if name.endswith(".md"):
        text = canary_marks.without_in_markdown(data.decode("utf-8", "surrogateescape"))
        return text.encode("utf-8", "surrogateescape")
    if (fields := json_text.read_object(data)) is None:
        return data
    left = {key: value for key, value in fields.items() if key not in _NO_CONTENT}
    evidence = fields.get("evidence")
    if isinstance(evidence, dict) and "tripwires" in evidence:
        left["tripwires"] = evidence["tripwires"]  # these decide whether a pass needs review
    return json.dumps(left, sort_keys=True, ensure_ascii=True).encode()
