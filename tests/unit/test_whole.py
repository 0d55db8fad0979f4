"""PASS_TO_PASS from the whole suite: taken where it says no less of the fix, and never at the cost of the task."""

from __future__ import annotations

import pytest

from harness.config.settings import load_settings
from harness.core.errors import InputError
from harness.core.instance import Budgets, TestSpec
from miner.languages.python.test_command import test_paths as paths_of
from miner.proof import Proof, Subject, test_collection
from miner.proof.subject import rejection
from tests import tiny
from tests.trees import Files

SUBJECT = Subject(
    instance_id="a__b-1",
    image="sha256:0",
    test=TestSpec(),
    test_files=("tests/test_b.py",),
    gold_patch=b"",
    test_patch=b"",
)
FIX = "tests/test_b.py::test_fix"


def proof(*fail_to_pass, pass_to_pass=(), **more):
    return Proof(
        fail_to_pass=fail_to_pass,
        pass_to_pass=pass_to_pass,
        flaky=(),
        budgets=Budgets(),
        evidence={},
        **more,
    )


def test_a_proof_over_all_files_takes_the_place_of_the_one_over_some():
    wide = proof(FIX, pass_to_pass=("tests/test_a.py::test_it",))
    subject, found = test_collection.widened(
        SUBJECT, proof(FIX), ["tests/test_a.py", "tests/test_b.py"], lambda _: wide
    )
    assert subject.test_files == ("tests/test_a.py", "tests/test_b.py")
    assert found.pass_to_pass == wide.pass_to_pass
    assert found.evidence["p2p"] == {"asked": "all", "files_added": 1}


@pytest.mark.parametrize(
    ("wide", "why"),
    [
        (rejection("timeout", "too long"), "timeout"),
        (proof("tests/test_a.py::test_other"), "tests of FAIL_TO_PASS do not pass every time among all others"),
        (proof(FIX, set_aside=rejection("unstable_fail_to_pass")), "tests of FAIL_TO_PASS do not pass"),
    ],
)
def test_a_suite_that_spoils_the_proof_is_left_and_told(wide, why):
    subject, found = test_collection.widened(SUBJECT, proof(FIX), ["tests/test_a.py"], lambda _: wide)
    assert subject is SUBJECT
    assert found.fail_to_pass == (FIX,)
    assert found.evidence["p2p"]["files_added"] == 0
    assert found.evidence["p2p"]["narrowed"].startswith(why)


@pytest.mark.parametrize("files", [["tests/test_b.py"], [], [f"t{n}.py" for n in range(test_collection.MOST_FILES)]])
def test_nothing_is_proved_again_for_no_further_file_or_too_many(files):
    subject, found = test_collection.widened(SUBJECT, proof(FIX), files, lambda _: pytest.fail("proved again"))
    assert (subject, found.fail_to_pass) == (SUBJECT, (FIX,))
    assert ("narrowed" in found.evidence["p2p"]) == (len(files) > 1)


@pytest.mark.parametrize(
    ("setting", "found"),
    [
        ("testpaths = tests ./docs/ gone", ("tests", "docs")),
        ("testpaths = a.py", ("a.py",)),
        ("addopts = -q", ()),
    ],
)
def test_tests_are_looked_for_where_pytest_would(setting, found):
    tree = Files({"pytest.ini": f"[pytest]\n{setting}\n", "tests/test_a.py": "", "docs/index.rst": "", "a.py": ""})
    assert paths_of(tree) == found


def test_anything_but_touched_and_all_is_refused(tmp_path):
    done = tiny.goldseam("mine", tmp_path, "-o", tmp_path / "out", "--p2p", "some")
    assert done.returncode == 2
    assert "--p2p: expected touched or all" in done.error_text


def test_a_setting_that_is_neither_is_refused(monkeypatch):
    monkeypatch.setenv("GOLDSEAM_MINING_P2P", "most")
    with pytest.raises(InputError, match="p2p"):
        load_settings()
