"""What only a fix requires is in the image of the commit before it, where that can be had."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from harness.config.settings import ImageSettings
from miner.evidence.tree import Fixed
from miner.languages.base import ImageRequest, RefusedError
from miner.languages.python import language
from miner.languages.python.detect import detect
from miner.languages.python.recipes import of_fix
from miner.layers.runner import Workshop
from miner.layers.secrets import collect
from miner.sources.change import Rejection, Stage
from tests.trees import Files

FIXED_AT = datetime(2024, 10, 22, 0, 20, tzinfo=UTC)
DAY_AFTER = "2024-10-23"
PYPROJECT = "[project]\nname='x'\ndependencies=['tokenize-rt>=5.2.0', 'six']\n"
TESTS = "[dependency-groups]\ntest=['pytest']\n"


def learned(before, fixed):
    tree = Files(before)
    after = Fixed(tree, {path: text.encode() for path, text in fixed.items()})
    return of_fix.required((tree, detect(tree)), (after, detect(after)), FIXED_AT)


@pytest.mark.parametrize(
    ("before", "fixed", "requirements"),
    [
        ({"pyproject.toml": PYPROJECT}, {"pyproject.toml": PYPROJECT.replace("5.2", "6.1")}, ("tokenize-rt>=6.1.0",)),
        (
            {"setup.py": "", "setup.cfg": "[options]\ninstall_requires =\n    a>=1\n"},
            {"setup.cfg": "[options]\ninstall_requires =\n    a>=2\n    b\n"},
            ("a>=2", "b"),
        ),
        (
            {"pyproject.toml": PYPROJECT + TESTS},
            {"pyproject.toml": PYPROJECT + TESTS.replace("'pytest'", "'pytest', 'responses'")},
            ("responses",),
        ),
        (
            {"setup.py": "setup(name='x')", "requirements-test.txt": "pytest\n"},
            {"requirements-test.txt": "pytest\nresponses>=0.20  # a newer one\n"},
            ("responses>=0.20",),
        ),
    ],
)
def test_what_is_new_is_required_as_of_the_day_after_the_fix(before, fixed, requirements):
    found = learned(before, fixed)
    assert found.requirements == requirements
    assert found.later == tuple((requirement.partition(">")[0], DAY_AFTER) for requirement in requirements)


@pytest.mark.parametrize("fixed", [PYPROJECT.replace(", 'six'", ""), PYPROJECT + "description='y'\n", "[project"])
def test_what_goes_or_is_no_requirement_changes_nothing(fixed):
    assert learned({"pyproject.toml": PYPROJECT}, {"pyproject.toml": fixed}) is None


@pytest.mark.parametrize("is_had", [True, False])
def test_where_it_cannot_be_had_what_was_required_before_is_tried(tmp_path, monkeypatch, is_had):
    tried = []

    def climb(job, _began):
        tried.append([lesson.requirements for lesson in job.learned])
        if job.learned and not is_had:
            raise RefusedError(Rejection(stage=Stage.ENVIRONMENT, reason="unresolvable", detail=""), said="")
        return "an image"

    monkeypatch.setattr(language, "climb", climb)
    monkeypatch.setattr(language, "expect_resolving", lambda _workshop: None)
    request = ImageRequest(
        workshop=Workshop(
            settings=ImageSettings(),
            secrets=collect(),
            folder=tmp_path,
            log=tmp_path / "log",
            progress=lambda _text: None,
            cache=tmp_path,
        ),
        tree=Files({"pyproject.toml": PYPROJECT}),
        touched=(),
        source=nullcontext,
        repo="team/x",
        base_commit="0" * 40,
        when=datetime(2024, 10, 21, tzinfo=UTC),
        version_hint=None,
        collect=None,
        repairing=None,
        fixed={"pyproject.toml": PYPROJECT.replace("5.2", "6.1").encode(), "x.py": b""},
        fixed_at=FIXED_AT,
    )
    assert language.PYTHON.build(request) == "an image"
    assert tried == [[("tokenize-rt>=6.1.0",)], *([] if is_had else [[]])]
    assert language.PYTHON.build(replace(request, fixed={"x.py": b""})) == "an image"
    assert tried[-1] == []
