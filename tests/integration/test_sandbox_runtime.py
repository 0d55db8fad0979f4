"""Another OCI runtime for containers."""

from __future__ import annotations

import pytest

from harness import evaluate
from harness.errors import InputError
from harness.sandbox.docker import DockerSandbox
from tests import tiny

pytestmark = pytest.mark.engine


def test_a_runtime_that_the_engine_lacks_is_refused_before_anything_runs():
    with pytest.raises(InputError, match="no runtime 'runsquare'"), DockerSandbox(runtime="runsquare"):
        pass


def test_a_named_runtime_runs_the_tests(tiny_image):
    with DockerSandbox(runtime="runc") as sandbox:
        verdict = evaluate.evaluate_one(
            tiny.task(tiny_image), tiny.prediction(), sandbox, settings=evaluate.Settings(runtime="runc")
        )
    assert verdict.report.resolved
