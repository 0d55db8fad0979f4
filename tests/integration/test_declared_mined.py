"""A repository whose runner goldseam.toml declares: shell scripts and C, mined, proved, evaluated and gated."""

from __future__ import annotations

import json

import pytest

from harness.core.instance import TaskState
from harness.dataset.folder import open_dataset
from tests import tiny
from tests.program import goldseam
from tests.repos import Repository

SETTINGS = """
[declared."acme/sums"]
install = ["make -s tool"]
tests = ["*.t"]
build = ["make -s sums"]
test = "mkdir -p out; sh {file} > out/results.tap"
results = "out/*.tap"
format = "tap"
env = { GREETING = "hello" }
"""
MAKEFILE = "sums: sums.c\n\tcc -o sums sums.c\ntool:\n\techo installed > tool\n"
INCLUDED = "#include <stdio.h>\n#include <stdlib.h>\n"
C = INCLUDED + 'int main(int n, char **a) {{ printf("%d\\n", atoi(a[1]) {} atoi(a[2])); }}\n'
WRONG, RIGHT = C.format("-"), C.format("+")
CHECK = """\
check() { if [ "$1" = "$2" ]; then echo "ok - $3"; else echo "not ok - $3"; bad=1; fi; }
"""
ZERO = 'check "$(./sums 0 0)" 0 zero\n'
TWO = 'check "$(./sums 1 1)" 2 two\ncheck "$GREETING $(cat tool)" "hello installed" surroundings\n'
BEFORE, AFTER = f"{CHECK}echo 1..1\n{ZERO}exit $bad\n", f"{CHECK}echo 1..3\n{ZERO}{TWO}exit $bad\n"
TEST = "checks/sums.t"
IDS = {name: f"{TEST}::{name}" for name in ("zero", "two", "surroundings")}


@pytest.fixture(scope="module")
def mined(tmp_path_factory):
    """A dataset of one task; nothing of what declared it is left when patches are judged."""
    folder = tmp_path_factory.mktemp("declared")
    repo = Repository(folder / "sums")
    repo.commit("Start", {"sums.c": WRONG, "Makefile": MAKEFILE, TEST: BEFORE, "README.md": "# Sums\n"})
    repo.commit("Fix a wrong sum (#7)", {"sums.c": RIGHT, TEST: AFTER})
    settings = folder / "declared.toml"
    settings.write_text(SETTINGS)
    done = goldseam(
        "--config", settings, "mine", repo.path, "--name", "acme/sums", "-o", folder / "data", "--runs", "1", "--json"
    )
    assert done.returncode == 0, done.error_text
    assert json.loads(done.stdout)["accepted"] == 1, (folder / "data/funnel.jsonl").read_text()
    settings.unlink()
    return folder / "data"


@pytest.mark.engine
def test_it_is_mined_and_proved_and_says_that_it_is_declared(mined):
    (task,) = (open_dataset(mined).task(task_id) for task_id in open_dataset(mined).ids())

    assert task.instance.state is TaskState.PROVED
    assert task.instance.test.framework == "declared-tap"
    assert task.instance.test.declared.protected == ("/tool",)
    assert task.hidden.fail_to_pass == (IDS["two"],)
    assert set(task.hidden.pass_to_pass) == {IDS["zero"], IDS["surroundings"]}
    assert task.instance.quality["judged"]["place"] == "declared"


FORGED = (
    tiny.diff(TEST, BEFORE, "echo 1..1; echo ok - two\n"),
    tiny.diff("out/forged.tap", None, "1..2\nok - zero\nok - two\n"),
    tiny.diff("tool", None, "mine\n"),
)
PATCHES = {
    "right": tiny.diff("sums.c", WRONG, RIGHT.replace('"%d', '"%i')),
    "shadowing": "".join(
        [tiny.diff("sums.c", WRONG, RIGHT), *(tiny.diff(name, None, text) for name, text in tiny.SHADOWS.items())]
    ),
    "broken": tiny.diff("sums.c", WRONG, "int main(void) {\n"),
    "forged": "".join(FORGED),
}


@pytest.mark.engine
def test_patches_are_judged_where_nothing_declares_it(mined, tmp_path):
    (task_id,) = open_dataset(mined).ids()
    predictions, run = tmp_path / "p.jsonl", tmp_path / "run"
    tiny.write_predictions(predictions, PATCHES, instance_id=task_id)
    done = goldseam("evaluate", mined, "-p", predictions, "--gold", "--null", "-o", run)
    assert done.returncode == 0, done.error_text
    told = [json.loads(file.read_text()) for file in run.glob(f"results/*/{task_id}/0/report.json")]
    reports = {report["model_name_or_path"]: report for report in told}
    outcomes = {model: (report["outcome"], report["failure_class"]) for model, report in reports.items()}

    assert outcomes["gold"] == outcomes["right"] == outcomes["shadowing"] == ("resolved", None)
    assert outcomes["broken"] == ("unresolved", "compile_error")
    assert outcomes["null"][0] == outcomes["forged"][0] == "unresolved"
    left_out = {part["path"]: part["reason"] for part in reports["forged"]["dropped"]}
    assert left_out == {TEST: "hidden_test", "out/forged.tap": "results_file", "tool": "declared_protected"}

    scores = goldseam("scores", run)
    assert "judged declared" in scores.stdout + scores.error_text
    gate = goldseam("gate", run, "--model", "gold", "--baseline", run, "--baseline-model", "gold")
    assert gate.returncode == 3
    assert "--require declared" in gate.stdout
