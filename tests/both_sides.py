"""A test as it was written and as the host judges it, of small products: run here, without a container."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from harness.core.expectations import Expectations
from harness.core.instance import Hidden, TestStatus
from harness.judging import judge
from harness.languages.base import TestReport
from harness.languages.python.frameworks import PYTEST
from miner.languages.python.language import PYTHON
from tests import inside, tiny

Files = Mapping[str, str]
"""Texts by path."""
_PROGRAM = compile(inside.part("supervisor", "recorder", "handout", "tripwire", "suites"), "<goldseam>", "exec")
_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(["pytest", "unittest.mock", "tests.both_sides"])


def _run(folder: str, files: Collection[str], written: str, libraries: Sequence[str]) -> None:
    """Become a process of tests that writes its frames into a file."""
    gc.freeze()  # pytest collects five times at its end, which takes longer than all the rest
    with Path(os.devnull).open("wb") as nothing:
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    sys.path[:] = [folder, *(entry for entry in sys.path if entry not in ("", str(Path.cwd()))), *libraries]
    sys.dont_write_bytecode = True
    sys.argv = ["pytest"]
    os.chdir(folder)
    names: dict[str, Any] = {"__name__": "runner"}
    exec(_PROGRAM, names)
    names["WORK"] = folder
    argv = ["-p", "no:cacheprovider", "-p", "no:randomly", f"--rootdir={folder}"]
    spec = {"files": sorted(files), "plugins": [], "argv": argv, "nose": False, "chdir": ""}
    with Path(written).open("w", encoding="utf-8") as stream:

        class Frames:
            def send(self, kind: str, **fields: object) -> None:
                stream.write(json.dumps({**fields, "t": kind}) + "\n")

        Frames().send("finish", code=int(names["run_pytest"](spec, Frames())))


def _report(files: Files, libraries: Sequence[str] = ()) -> TestReport:
    with tempfile.TemporaryDirectory(prefix="goldseam-") as folder:
        for path, text in files.items():
            place = Path(folder, "tree", path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        written = Path(folder, "frames")
        tests = [path for path in files if Path(path).name.startswith("test_")]
        child = _SERVER.Process(target=_run, args=(str(Path(folder, "tree")), tests, str(written), libraries))
        child.start()
        child.join()
        return PYTEST.read([json.loads(line) for line in written.read_text("utf-8").splitlines()])


class BothSides:
    """The tests of a product that a fix changes, also without what they expect."""

    def __init__(
        self,
        base: Files,
        fix: Files,
        tests: Files,
        installed: Collection[str] = ("pytest",),
        libraries: Sequence[str] = (),
    ) -> None:
        """`fix` has the files that it changes, as it leaves them; `tests` also what lies beside them.

        `installed` are the modules that are no product, `libraries` further folders of such.
        """
        self._fix, self._tests, self._libraries = {**base, **fix}, tests, libraries
        passed, before = (_passed(_report({**files, **tests}, libraries)) for files in (self._fix, base))
        self._listed = passed
        plain = tiny.task("image")
        hidden = Hidden(
            gold_patch="".join(tiny.diff(path, base.get(path), text) for path, text in fix.items()).encode(),
            test_patch=b"",
            fail_to_pass=tuple(sorted(passed - before)),
            pass_to_pass=tuple(sorted(passed & before)),
            test_files=tuple(tests),
        )
        test = replace(plain.instance.test, modules=tuple(installed))
        task = replace(plain, instance=replace(plain.instance, test=test), hidden=hidden)
        run = _Runs(base, self._fix, tests, libraries)
        contents = {path: text.encode() for path, text in {**self._fix, **tests}.items()}

        def read(paths):
            return {path: contents[path] for path in paths if path in contents}

        sources = PYTHON.test_sources([path for path in tests if path.endswith(".py")], read, tests.__contains__)
        self.expectations: Expectations = PYTHON.strip(task, sources, run).expectations

    @property
    def places(self) -> set[str]:
        """Where the tests are judged."""
        tests = self.expectations.tests
        return {tests[name].place if name in tests else "inside" for name in self._listed}

    def outcomes(self, product: Files) -> tuple[bool, bool]:
        """Whether a product, by what it has otherwise than the fix, passes all tests: themselves, and by the host."""
        files = {**self._fix, **product, **self._tests}
        stripped = _report({**files, **self.expectations.files}, self._libraries)
        reports = _report(files, self._libraries), judge.judge(self.expectations, stripped)
        test, host = (self._listed <= _passed(report) for report in reports)
        return test, host


class _Runs:
    """Runs both products here."""

    data: ClassVar[Mapping[str, str]] = {}

    def __init__(self, base: Files, fix: Files, tests: Files, libraries: Sequence[str]) -> None:
        self._base, self._fix, self._tests, self._libraries = base, fix, tests, libraries
        self.base = {path: text.encode() for path, text in base.items()}

    def __call__(
        self, files: Mapping[str, bytes], *, gold: bool, number: int = 0, tests: Collection[str] = ()
    ) -> TestReport:
        overlay = {path: text if isinstance(text, str) else text.decode() for path, text in files.items()}
        return _report({**(self._fix if gold else self._base), **self._tests, **overlay}, self._libraries)


def _passed(report: TestReport) -> set[str]:
    return {test_id for test_id, status in report.statuses.items() if status is TestStatus.PASSED}
