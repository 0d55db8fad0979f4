"""A project with an extension module in C: mined, proved, and judged against patches that build, do not, or attack."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from harness.core.instance import Outcome, Prediction
from harness.dataset.folder import open_dataset
from harness.runs import evaluate
from tests import tiny
from tests.repos import Repository

pytestmark = pytest.mark.engine


C = """\
#include <Python.h>

static PyObject *twice(PyObject *self, PyObject *arg) {
    long value = PyLong_AsLong(arg);
    if (value == -1 && PyErr_Occurred()) return NULL;
    return PyLong_FromLong(%s);
}

static PyMethodDef methods[] = {{"twice", twice, METH_O, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "fast._fast", "", -1, methods};
PyMODINIT_FUNC PyInit__fast(void) { return PyModule_Create(&module); }
"""
WRONG, RIGHT = C % "value + 2", C % "value * 2"
SETUP = """\
import os
import sys

from setuptools import Extension, setup

sys.path.insert(0, os.getcwd())
import helper

if "WITHOUT_C" in os.environ:
    sys.exit("what the tests run with has come to a build")

setup(name="fast", version="1", packages=["fast"], ext_modules=[Extension("fast._fast", ["fast/_fast.c"])])
"""
TEST = "from fast import twice\n\n\ndef test_two():\n    assert twice(2) == 4\n"
MORE = TEST + "\n\ndef test_three():\n    assert twice(3) == 6\n"
FILES = {
    "setup.py": SETUP,
    "tox.ini": "[testenv]\nsetenv =\n    WITHOUT_C = 1\ndeps = pytest\ncommands = pytest\n",
    "helper.py": "",
    "fast/__init__.py": "from fast._fast import twice\n",
    "fast/_fast.c": WRONG,
    "tests/test_fast.py": TEST,
}
FIX = tiny.diff("fast/_fast.c", WRONG, RIGHT)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compiled")
    repository = Repository(folder / "fast")
    repository.commit("Begin", FILES)
    repository.commit("Fix twice for numbers but two (fixes #1)", {"fast/_fast.c": RIGHT, "tests/test_fast.py": MORE})
    done = tiny.goldseam("mine", repository.path, "-o", folder / "dataset", "--runs", "1")
    assert done.returncode == 0, done.error_text
    return open_dataset(folder / "dataset")


@pytest.fixture(scope="module")
def task(dataset):
    (task_id,) = dataset.ids()
    return dataset.task(task_id)


@pytest.fixture(scope="module")
def verdict_on(task, sandbox):
    def judged(patch):
        prediction = Prediction(instance_id=task.instance_id, model_name_or_path="model", model_patch=patch)
        return evaluate.evaluate_one(task, prediction, sandbox, settings=evaluate.Settings())

    return judged


def with_helper(code):
    """A wrong change that has to be built, and whose build runs this code."""
    return tiny.diff("fast/_fast.c", WRONG, C % "value + 3") + tiny.diff("helper.py", "", code)


def test_a_fix_in_c_alone_becomes_a_task_whose_builds_know_nothing_of_the_variables_of_its_tests(task):
    assert task.instance.test.env == {"WITHOUT_C": "1"}
    assert task.hidden.fail_to_pass == ("tests/test_fast.py::test_three",)
    assert [output.split(".")[0] for output in task.instance.test.build.outputs] == ["fast/_fast"]


def test_gold_resolves_it_and_null_does_not(dataset, tmp_path):
    done = tiny.goldseam("evaluate", dataset.path, "--gold", "--null", "-o", tmp_path / "run", "--json")
    models = {model["model"]: model["resolved"] for model in json.loads(done.stdout)["goldseam"]["models"]}
    assert models == {"gold": 1, "null": 0}


def test_the_build_has_a_time_of_its_own(verdict_on):
    report = verdict_on(FIX).report
    assert report.outcome is Outcome.RESOLVED
    assert report.timings["build"] > 0


def test_a_patch_that_needs_no_build_costs_none(verdict_on):
    report = verdict_on(tiny.diff("fast/__init__.py", FILES["fast/__init__.py"], "twice = lambda n: 2 * n\n")).report
    assert report.outcome is Outcome.RESOLVED
    assert "build" not in report.timings


def test_a_patch_that_does_not_compile_is_a_failure_of_its_own_class(verdict_on):
    verdict = verdict_on(tiny.diff("fast/_fast.c", WRONG, C % "nonsense"))
    report = verdict.report
    assert (report.outcome, report.failure_class) == (Outcome.UNRESOLVED, "compile_error")
    assert "nonsense" in verdict.evidence.results["build"]["output"]


def test_the_projects_build_settings_are_no_models_to_change(verdict_on):
    patch = FIX + tiny.diff("setup.py", SETUP, SETUP + "raise SystemExit(1)\n")
    report = verdict_on(patch).report
    assert report.outcome is Outcome.RESOLVED
    assert list(report.dropped) == [{"path": "setup.py", "reason": "build_config"}]


WRITES = """\
import os
os.makedirs("tests", exist_ok=True)
for name in ("tests/conftest.py", "conftest.py", "fast/__init__.py", "sitecustomize.py"):
    open(name, "w").write("import fast; fast.twice = lambda n: 2 * n")
os.unlink("tests/test_fast.py")
os.symlink("/tmp/mine.py", "tests/test_fast.py")
open("/tmp/mine.py", "w").write("def test_two(): pass\\ndef test_three(): pass\\n")
"""
DAEMON = """\
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for _ in range(3000):
            try:
                text = open("/testbed/tests/test_fast.py").read()
                if "three" in text:
                    open("/testbed/fast/__init__.py", "w").write("twice = lambda n: 2 * n")
            except OSError:
                pass
            time.sleep(0.01)
    os._exit(0)
"""


@pytest.mark.parametrize(
    "code",
    [WRITES, DAEMON, "import os, signal\nos.kill(os.getppid(), 9)\nos.kill(-1, 9)\n"],
    ids=["writes into the tests", "a daemon that waits for the tests", "ends the supervisor"],
)
def test_a_build_that_reaches_for_the_tests_resolves_nothing(verdict_on, code):
    assert verdict_on(with_helper(code)).report.outcome is Outcome.UNRESOLVED


def test_a_build_that_never_ends_is_ended(task, sandbox):
    test = task.instance.test
    impatient = replace(test, build=replace(test.build, seconds=5.0))
    quick = replace(task, instance=replace(task.instance, test=impatient))
    hangs = with_helper("import time; time.sleep(600)\n")
    prediction = Prediction(instance_id=task.instance_id, model_name_or_path="model", model_patch=hangs)
    report = evaluate.evaluate_one(quick, prediction, sandbox, settings=evaluate.Settings()).report
    assert (report.outcome, report.failure_class) == (Outcome.UNRESOLVED, "performance_error")


def test_a_build_that_can_not_be_started_is_no_failure_of_the_patch(task, sandbox):
    test = task.instance.test
    broken = replace(test, build=replace(test.build, argv=("/opt/goldseam/venv/bin/nothing",)))
    lost = replace(task, instance=replace(task.instance, test=broken))
    prediction = Prediction(instance_id=task.instance_id, model_name_or_path="model", model_patch=FIX)
    report = evaluate.evaluate_one(lost, prediction, sandbox, settings=evaluate.Settings()).report
    assert report.outcome is Outcome.INFRA_ERROR


def test_a_module_that_can_not_be_read_is_the_patch_s_own_failure(verdict_on):
    code = "import atexit, glob, os\natexit.register(lambda: [os.chmod(name, 0) for name in glob.glob('fast/*.so')])\n"
    assert verdict_on(with_helper(code)).report.outcome is Outcome.UNRESOLVED
