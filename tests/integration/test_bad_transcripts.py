"""Patches that write frames to break the host: each costs its own prediction, and the run goes on."""

from __future__ import annotations

import json

import pytest

from harness.core.instance import Outcome
from harness.runs import evaluate
from harness.runs.run_folder import RunFolder
from harness.sandbox.executors.local import LocalExecutor
from tests import tiny
from tests.silent import Listening

pytestmark = pytest.mark.engine

SENDER = """\
import gc
sender = next(one for one in gc.get_objects() if type(one).__name__ == "Frames" and any(getattr(one, "key", b"")))
def report(test_id="x", when="call", **more):
    told = dict(id=test_id, when=when, outcome="passed", xfail=False, seconds=0.1, text="")
    told.update(more)
    sender.send("report", **told)
value = half = ["i", "1"]
for number in range(900):
    value = ["l", [value]]
    half = value if number < 150 else half
"""
F2P = "tests/test_calc.py::test_two"
BOMBS = {
    "seconds of 400 digits": "report(seconds=10**400)",
    "seconds that sum up to infinity": f"for _ in range(3): report('{F2P}', 'setup', seconds=1e308)",
    "a slot of 4,000 digits": f"sender.send('value', id='{F2P}', slot=10**4000, n=0, values=[], raised=None)",
    "a value nested 900 deep": f"sender.send('value', id='{F2P}', slot=0, n=0, values=[value], raised=None)",
    "a value nested 300 deep": f"sender.send('value', id='{F2P}', slot=0, n=0, values=[half], raised=None)",
    "ids with half a character": "sender.send('collected', ids=['a\\ud800b']); report('a\\ud800b', text='\\ud800')",
    "an exit code of 4,000 digits": "sender.send('finish', code=10**4000)",
    "ids that are none": "sender.send('collected', ids=[None, 1.5, {'a': 1}, ['x'], True])",
    "a set of lists": f"sender.send('value', id='{F2P}', slot=0, n=0, values=[['S', [['l', []]]]], raised=None)",
    "a dict of one part": f"sender.send('value', id='{F2P}', slot=0, n=0, values=[['d', [1]]], raised=None)",
    "exceptions that are none": f"report('{F2P}', raised=[{{'names': [1, None, {{}}], 'errno': 'a'}}, 7])",
    "40,000 frames": "for number in range(40000): report('t%d' % number)",
}
HARMLESS = {"a value nested 900 deep", "ids with half a character", "exceptions that are none", "40,000 frames"}
"""They are of a form that the recorder could write, or never reach the host."""


def test_a_patch_that_breaks_the_host_costs_its_own_prediction(tmp_path, tiny_image, sandbox, monkeypatch):
    monkeypatch.setenv("GOLDSEAM_CACHE_DIR", str(tmp_path / "cache"))
    dataset = tiny.dataset(tmp_path / "dataset", tiny.task(tiny_image))
    wrong = {name: tiny.fix("return a - b", top=[*SENDER.splitlines(), bomb]) for name, bomb in BOMBS.items()}
    asked = [tiny.prediction(patch, model=name) for name, patch in {**wrong, "right": tiny.GOLD}.items()]
    observer = Listening()
    evaluate.run(
        dataset,
        asked,
        tmp_path / "run",
        sandbox=sandbox,
        executor=LocalExecutor(jobs=2),
        settings=evaluate.Settings(control=0, signals=True),
        observer=observer,
    )

    reports = {report.model_name_or_path: report for report in observer.reports}
    assert reports.pop("right").outcome is Outcome.RESOLVED
    wanted = {name: Outcome.UNRESOLVED if name in HARMLESS else Outcome.TAMPERED for name in BOMBS}
    assert {name: report.outcome for name, report in reports.items()} == wanted
    assert not (tmp_path / "cache" / "logs").exists()
    folder = RunFolder(path=tmp_path / "run")
    for prediction in asked:
        json.loads((folder.sample_folder(prediction) / "results.json").read_text())
