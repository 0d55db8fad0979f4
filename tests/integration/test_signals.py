"""Signals beside verdicts, measured in real containers."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from harness.config.settings import load_settings
from harness.runs import evaluate
from harness.runs.regrade import State, regrade
from harness.runs.verdict_cache import VerdictCache
from harness.sandbox.docker import DockerSandbox
from harness.sandbox.executors.local import LocalExecutor
from harness.sandbox.images import tools
from harness.signals.observed import FILE_BYTES
from harness.signals.sources import FILE
from miner.images import signal_tools
from tests import tiny
from tests.silent import Listening

pytestmark = pytest.mark.engine

BIG = "src/calc/table.py"
OLD = "src/calc/old.py"
ROWS = "ROWS = [\n" + "    'a generated row',\n" * (FILE_BYTES // 20) + "]\n"
WEAK = "import subprocess\n\n\ndef list_all(where):\n    return subprocess.call(where, shell=True)\n"
CLEAN = "def add(a, b):\n    return a + b\n"
FORGED = f"""\
open(__file__, "w").write({CLEAN!r})
import subprocess
def add(a, b):
    subprocess.call("true", shell=True)
    return a + b
"""
PATCHES = {
    "gold": tiny.GOLD,
    "syntax": tiny.fix("return a +"),
    "shell": tiny.fix("subprocess.call('true', shell=True)", "return a + b", top=["import subprocess"]),
    "eval": tiny.fix("return eval('a + b')"),
    "password": tiny.fix("password = 'correct horse battery'", "return a + b"),
    "connects": tiny.fix(
        "try:",
        "    socket.create_connection(('192.0.2.1', 80), 1)",
        "except OSError:",
        "    return a + b",
        top=["import socket"],
    ),
    "looks_up": tiny.fix(
        "try:",
        "    socket.getaddrinfo('example.org', 80)",
        "except OSError:",
        "    return a + b",
        top=["import socket"],
    ),
    "loops_back": tiny.fix(
        "with socket.create_server(('127.0.0.1', 0)) as server:",
        "    socket.create_connection(server.getsockname()).close()",
        "return a + b",
        top=["import socket"],
    ),
    "writes": tiny.fix(
        "open('/tmp/left behind', 'w').write('x' * 1000)", "open('/dev/shm/too', 'w').write('x')", "return a + b"
    ),
    "greedy": tiny.fix("x = bytearray(90_000_000); time.sleep(0.6)", "return a + b", top=["import time"]),
    "unimportable": tiny.fix("return a + b", top=["import no_such_module"]),
    "more_modules": tiny.GOLD
    + tiny.diff("src/calc/fine.py", None, "X = 1\n")
    + tiny.diff("src/calc/broken.py", None, "raise KeyError\n"),
    "meddles": tiny.GOLD + tiny.diff("src/calc/late.py", None, "import os\nos.write(198, b'forged\\n')\n"),
    "branches": tiny.fix("if a and b:", "    return a + b", "return a + b"),
    "moves": tiny.GOLD + tiny.diff(OLD, WEAK, "# one line more\n" + WEAK),
    "forges": tiny.diff(tiny.CALC, tiny.BUGGY, FORGED),
    "too_deep": tiny.GOLD + tiny.diff("src/calc/deep.py", None, "X = " + "1 + " * 50_000 + "1\n"),
    "large": tiny.GOLD + tiny.diff(BIG, ROWS, ROWS + "LAST = 1\n"),
    "latin": tiny.GOLD.encode()
    + tiny.diff("src/calc/names.py", None, "# -*- coding: latin-1 -*-\nX = 'Z\udce9'\n").encode(
        "utf-8", "surrogateescape"
    ),
    "nul": tiny.GOLD + tiny.diff("src/calc/nul.py", None, "X = 1\0\n"),
    "many": tiny.GOLD + "".join(tiny.diff(f"src/calc/m{n}.py", None, f"import os\nX = {n}\n") for n in range(99)),
    "quits": tiny.fix("import os; os._exit(0)"),
    "hangs": tiny.fix("import time; time.sleep(600)"),
    "foreign": tiny.diff("no/such/file.py", "a\n", "b\n"),
    "nothing": "",
}


def predictions(names=tuple(PATCHES)):
    return [
        tiny.prediction(
            text if isinstance(text := PATCHES[name], str) else text.decode("utf-8", "surrogateescape"), model=name
        )
        for name in names
    ]


def run(dataset, out, sandbox, names=tuple(PATCHES), *, image, cache=None, **settings):
    """Reports by model, and the notes."""
    notes = Listening()
    asked = evaluate.Settings(**{"signals": True, **settings})
    evaluate.run(
        dataset,
        predictions(names),
        out,
        sandbox=sandbox,
        executor=LocalExecutor(jobs=2),
        settings=asked,
        observer=notes,
        cache=cache,
        tools=lambda: image,
    )
    folders = {name: out / "results" / name / "tiny__calc-1/0" for name in names}
    return {name: json.loads((folder / "report.json").read_text()) for name, folder in folders.items()}, notes.noted


@pytest.fixture(scope="module")
def tools_image():
    return signal_tools.ensure(load_settings().images, lambda _text: None).image_id


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("signals")
    image = tiny.build_image(folder, {**tiny.FILES, BIG: ROWS, OLD: WEAK})
    task = tiny.task(image, budgets=replace(tiny.task().instance.budgets, seconds=8))
    proof = {"gold_seconds": 0.2, "gold_max_rss_kb": 25_000}
    task = replace(task, hidden=replace(task.hidden, evidence=proof))
    return tiny.dataset(folder / "dataset", task)


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("runs") / "with"


@pytest.fixture(scope="module")
def reports(dataset, tools_image, out):
    with DockerSandbox() as sandbox:
        return run(dataset, out, sandbox, image=tools_image)[0]


@pytest.fixture(scope="module")
def signals(reports):
    return {name: report["signals"] for name, report in reports.items()}


def test_verdicts_are_the_same_with_and_without_signals(reports, dataset, sandbox, tmp_path):
    names = ["gold", "syntax", "unimportable", "more_modules", "writes", "too_deep", "quits", "foreign", "nothing"]
    without, _ = run(dataset, tmp_path / "run", sandbox, names, image=None, signals=False)
    assert {name: one["signals"] for name, one in without.items()} == dict.fromkeys(names)
    same = ("outcome", "failure_class", "cause", "reason", "tests_status", "key")
    assert [[reports[name][field] for field in same] for name in names] == [
        [without[name][field] for field in same] for name in names
    ]


def test_the_fix_of_a_clean_task_has_no_finding(signals):
    gold = signals["gold"]
    assert [
        name for name in ("compiles", "imports", "lint", "security", "complexity") if not gold[name]["measured"]
    ] == []
    assert (gold["compiles"]["ok"], gold["imports"]["ok"]) == (True, True)
    assert (gold["lint"]["new"], gold["security"]["new"]) == ([], [])
    assert (gold["network"]["attempts"], gold["network"]["lookups"], gold["writes"]["files"]) == (0, 0, 0)
    assert gold["patch"] == {"files": 1, "hunks": 1, "added": 1, "removed": 1}


@pytest.mark.parametrize(("name", "cwe"), [("shell", 78), ("eval", 95), ("password", 259)])
def test_a_weakness_that_the_patch_brings_is_found_by_its_number(signals, name, cwe):
    found = {one["cwe"]: one for one in signals[name]["security"]["new"]}
    assert cwe in found
    assert found[cwe]["path"] == tiny.CALC
    assert found[cwe]["text"] in PATCHES[name]


def test_a_weakness_that_only_moved_is_not_new(signals):
    assert signals["moves"]["security"] == {**signals["gold"]["security"]}


def test_code_that_rewrites_itself_does_not_change_what_the_tools_read(signals):
    assert 78 in {one["cwe"] for one in signals["forges"]["security"]["new"]}


def test_a_syntax_error_does_not_compile(signals):
    found = signals["syntax"]
    assert found["compiles"]["ok"] is False
    assert found["compiles"]["files"][0]["line"] == 2
    assert found["imports"]["files"][0]["error"] == "SyntaxError"
    assert "invalid-syntax" in found["lint"]["new_by_rule"]
    assert not found["security"]["measured"]


def test_a_module_that_cannot_be_imported_is_told(signals):
    assert signals["unimportable"]["compiles"]["ok"]
    assert signals["unimportable"]["imports"]["ok"] is False


def test_modules_that_no_test_loads_are_tried_afterwards(signals):
    found = {one["path"]: one for one in signals["more_modules"]["imports"]["files"]}
    assert found[tiny.CALC]["status"] == "loaded"
    assert found["src/calc/fine.py"]["status"] == "imports"
    assert (found["src/calc/broken.py"]["status"], found["src/calc/broken.py"]["error"]) == ("fails", "KeyError")


def test_a_module_that_is_tried_afterwards_has_no_way_to_the_results(reports):
    found = {one["path"]: one for one in reports["meddles"]["signals"]["imports"]["files"]}
    assert found["src/calc/late.py"]["error"] == "OSError"
    assert reports["meddles"]["outcome"] == "resolved"


def test_new_lint_is_told_by_rule(signals):
    assert signals["many"]["lint"]["new_by_rule"] == {"F401": 99}


def test_more_branches_are_more_complex(signals):
    found = signals["branches"]["complexity"]
    assert (found["before"], found["after"], found["delta"]) == (1, 3, 2)
    assert found["functions"][0]["function"] == "add"


def test_an_attempt_to_connect_is_counted(signals):
    assert signals["connects"]["network"]["attempts"] >= 1
    assert signals["connects"]["network"]["lookups"] == 0


def test_a_name_that_is_looked_up_is_counted_apart(signals):
    assert signals["looks_up"]["network"]["lookups"] >= 1


def test_a_server_of_its_own_is_no_attempt(signals):
    found = signals["loops_back"]["network"]
    assert (found["attempts"], found["lookups"]) == (0, 0)
    assert found["loopback_packets"] > 0


def test_files_outside_the_work_tree_are_listed(signals):
    found = signals["writes"]["writes"]
    assert (found["files"], found["bytes"]) == (2, 1001)
    assert found["paths"] == ["/dev/shm/too", "/tmp/left behind"]


def test_more_time_and_memory_than_gold_took_is_told(signals):
    assert signals["greedy"]["runtime"]["seconds_ratio"] > 2
    assert signals["greedy"]["runtime"]["memory_ratio"] > 3
    assert signals["gold"]["runtime"]["memory_ratio"] < 3


def test_a_file_that_breaks_a_tool_costs_its_own_prediction_only(signals):
    assert "ruff failed" in signals["too_deep"]["lint"]["why_not"]
    others = [name for name, one in signals.items() if name not in ("too_deep", "foreign", "nothing")]
    assert [name for name in others if not signals[name]["lint"]["measured"]] == []


def test_a_file_that_the_compiler_gives_up_on_is_neither_right_nor_wrong(signals):
    found = {one["path"]: one["ok"] for one in signals["too_deep"]["compiles"]["files"]}
    assert found[tiny.CALC] is True
    assert found["src/calc/deep.py"] in (True, None)  # later versions of Python take it


def test_a_large_file_is_left_out_and_named(signals):
    assert [one["path"] for one in signals["large"]["skipped"]] == [BIG]
    assert "too large" in signals["large"]["skipped"][0]["why"]
    assert signals["large"]["security"]["measured"]


def test_a_source_in_another_encoding_is_read(signals):
    assert signals["latin"]["compiles"]["ok"]
    assert signals["latin"]["lint"]["new"] == []
    assert signals["latin"]["security"]["measured"]


def test_a_null_byte_is_no_source(signals):
    assert signals["nul"]["compiles"]["ok"] is False
    assert not signals["nul"]["security"]["measured"]


def test_a_process_that_quits_says_nothing_of_imports(signals):
    assert not signals["quits"]["imports"]["measured"]
    assert signals["quits"]["security"]["measured"]


def test_tests_that_hang_are_measured_all_the_same(signals):
    assert signals["hangs"]["runtime"]["seconds_ratio"] > 30
    assert signals["hangs"]["network"]["measured"]


@pytest.mark.parametrize(("name", "why"), [("foreign", "does not apply"), ("nothing", "empty patch")])
def test_without_a_trial_each_part_says_why(signals, name, why):
    parts = [part for key, part in signals[name].items() if isinstance(part, dict) and "measured" in part]
    assert parts
    assert [part for part in parts if part["measured"]] == []
    assert why in signals[name]["security"]["why_not"]


def test_the_versions_of_the_tools_are_told(signals, tools_image):
    assert set(signals["gold"]["tools"]) == {*tools.TOOLS, "image"}
    assert signals["gold"]["tools"]["image"] == tools_image


def test_the_files_are_gone_when_the_tools_have_read_them(reports, out):
    assert list(out.rglob(FILE)) == []


def test_regrading_makes_the_same_signals_of_the_evidence(reports, dataset, out):
    assert {one.state for one in regrade(dataset, out).predictions} == {State.UNCHANGED}


def test_the_image_is_found_by_its_label(tools_image):
    assert tools.find((tools.KIND,)) == tools_image


def test_the_command_says_which_image_and_which_versions(tools_image):
    done = tiny.goldseam("images", "tools", "--json")
    told = json.loads(done.stdout)
    assert told["image"] == tools_image
    assert set(tools.TOOLS) <= set(told["versions"])


def test_without_the_image_the_files_wait_for_it(dataset, sandbox, tools_image, tmp_path):
    first, noted = run(dataset, tmp_path / "run", sandbox, ["gold", "eval"], image=None)
    assert "goldseam images tools" in first["eval"]["signals"]["security"]["why_not"]
    assert first["eval"]["signals"]["compiles"]["ok"]
    assert [text for text in noted if "goldseam images tools" in text] == noted
    assert len(noted) == 1
    second, noted = run(dataset, tmp_path / "run", sandbox, ["gold", "eval"], image=tools_image)
    assert second["eval"]["signals"]["security"]["new_by_cwe"] == {"95": 1}
    assert noted == []


def test_a_verdict_of_another_run_brings_its_signals(dataset, sandbox, tools_image, tmp_path):
    kept = VerdictCache(path=tmp_path / "kept")
    run(dataset, tmp_path / "one", sandbox, ["eval"], image=None, cache=kept)
    second, _ = run(dataset, tmp_path / "two", sandbox, ["eval"], image=tools_image, cache=kept)
    assert second["eval"]["reused"]
    assert second["eval"]["signals"]["security"]["new_by_cwe"] == {"95": 1}
    third, _ = run(dataset, tmp_path / "three", sandbox, ["eval"], image=None, cache=kept)
    assert third["eval"]["signals"] == second["eval"]["signals"]


def test_an_image_that_is_gone_costs_no_verdict(dataset, sandbox, tmp_path):
    found, noted = run(dataset, tmp_path / "run", sandbox, ["gold"], image=tiny.NO_IMAGE)
    assert found["gold"]["outcome"] == "resolved"
    assert not found["gold"]["signals"]["lint"]["measured"]
    assert any("no image" in text for text in noted)


def test_an_image_without_the_tools_costs_no_verdict(dataset, sandbox, tiny_image, tmp_path):
    found, _ = run(dataset, tmp_path / "run", sandbox, ["gold"], image=tiny_image)
    assert found["gold"]["outcome"] == "resolved"
    assert not found["gold"]["signals"]["lint"]["measured"]


def test_broken_kept_files_cost_only_their_signals(dataset, sandbox, tools_image, tmp_path):
    run(dataset, tmp_path / "run", sandbox, ["gold"], image=None)
    (path,) = tmp_path.rglob(FILE)
    path.write_bytes(b"not what was written")
    found, _ = run(dataset, tmp_path / "run", sandbox, ["gold"], image=tools_image)
    assert found["gold"]["signals"]["lint"]["why_not"] == "the kept files can't be read"
    assert not path.exists()
