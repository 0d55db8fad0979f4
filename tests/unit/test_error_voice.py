"""One voice for errors: what is wrong, who set it, what to do; and what standard output refuses is no bug of ours."""

from __future__ import annotations

import subprocess  # noqa: TID251 - its standard output is what is tried
import sys
from pathlib import Path

import pytest

from harness.config.settings import load_gate_rules, load_settings
from harness.core.errors import InputError
from harness.runs.predictions import read_predictions
from tests import report_runs
from tests.program import goldseam

PROGRAM = [sys.executable, "-m", "miner.cli.main"]


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["doctor", "--json"]])
def test_a_full_standard_output_is_told_as_such(words: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 4
    assert b"error: cannot write standard output: No space left on device\n" in done.stderr
    assert b"Exception ignored" not in done.stderr


def test_an_error_stands_beside_a_full_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*PROGRAM, "doctor", "--json"], stdout=full, stderr=subprocess.PIPE, check=False)
    errors = [line for line in done.stderr.splitlines() if line.startswith(b"error: ")]
    assert errors == [
        b"error: mining can't run on this machine yet",
        b"error: cannot write standard output: No space left on device",
    ]
    assert done.returncode == 4


@pytest.mark.parametrize("words", ["--help", "doctor"])
def test_a_reader_that_has_gone_is_no_error(words: str) -> None:
    command = f"{' '.join(PROGRAM)} {words} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], stderr=subprocess.PIPE, check=False)
    assert b"error" not in done.stderr
    assert done.returncode == 0


def test_a_closed_standard_output_takes_nothing_and_is_no_error() -> None:
    done = subprocess.run(["bash", "-c", f"{' '.join(PROGRAM)} --version >&-"], stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (["evaluate", "--nope"], "no such option: --nope", "goldseam evaluate --help"),
        (["nope"], "no such command: nope", "goldseam --help"),
        (["evaluate"], "missing argument DATASET", "goldseam evaluate --help"),
        (["holdout", "verify"], "no such command: verify", "goldseam holdout --help"),
        (["mine", ".", "-j", "0"], "-j / --jobs: expected 1 or more, found '0'", "goldseam mine --help"),
    ],
)
def test_a_command_line_that_is_wrong_is_told_as_any_other_error(words: list[str], message: str, hint: str) -> None:
    ran = goldseam(*words)
    first, second = ran.error_text.splitlines()
    assert ran.returncode == 2
    assert first.startswith(f"error: {message}")
    assert second == f"  hint: {hint}"


def test_a_variable_that_is_wrong_is_named() -> None:
    ran = goldseam("mine", ".", GOLDSEAM_JOBS="many")
    assert ran.error_text.startswith("error: GOLDSEAM_JOBS (-j / --jobs): expected a whole number, found 'many'")


def test_each_setting_that_is_wrong_is_told_with_who_set_it(tmp_path: Path) -> None:
    file = tmp_path / "goldseam.toml"
    file.write_text("[images]\nbasis = 'one'\n[github]\npage_size = 7\n")
    with pytest.raises(InputError) as raised:
        load_settings(file, env={"GOLDSEAM_GITHUB_PAGE_SIZE": "0"}, images={"platform": "x"})
    lines = raised.value.message.splitlines()
    assert lines[0].startswith("--platform: images.platform: expected os/architecture")
    assert lines[1:2] == [f"  {file}:2: images.basis: unknown key; did you mean base?"]
    assert lines[2].startswith("  GOLDSEAM_GITHUB_PAGE_SIZE: github.page_size: ")


@pytest.mark.parametrize(
    ("env", "flags", "message"),
    [
        ({"GOLDSEAM_GATE_MAX_DROP": "much"}, {}, "GOLDSEAM_GATE_MAX_DROP: gate.max_drop: .*, found 'much'"),
        ({"GOLDSEAM_GATE_MAX_DROP": "0.1"}, {"max_drop": 2.0}, "--max-drop: gate.max_drop: .*, found 2.0"),
        ({"GOLDSEAM_GATE_MODE": "lax"}, {}, "GOLDSEAM_GATE_MODE: gate.mode: .*, found 'lax'"),
    ],
)
def test_a_rule_of_the_gate_is_told_with_who_set_it(
    env: dict[str, str], flags: dict[str, object], message: str, tmp_path: Path
) -> None:
    file = tmp_path / "goldseam.toml"
    file.write_text("[gate]\nmax_drop = 0.2\n")
    with pytest.raises(InputError, match=message):
        load_gate_rules(file, flags=flags, env=env)


def test_a_flag_goes_before_a_variable_and_that_before_the_file(tmp_path: Path) -> None:
    file = tmp_path / "goldseam.toml"
    file.write_text("[gate]\nmax_drop = 0.2\n")
    variable = {"GOLDSEAM_GATE_MAX_DROP": "0.1"}
    assert load_gate_rules(file, env={}).max_drop == 0.2
    assert load_gate_rules(file, env=variable).max_drop == 0.1
    assert load_gate_rules(file, env=variable, flags={"max_drop": 0.3}).max_drop == 0.3


def test_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    file = tmp_path / "goldseam.toml"
    file.write_bytes(b"\xef\xbb\xbf[gate]\nmax_drop = 0.2\n")
    assert load_gate_rules(file, env={}).max_drop == 0.2


@pytest.mark.parametrize(
    ("name", "form"),
    [("p.jsonl", "{}\n"), ("p.jsonl", "\n{}\n\n"), ("p.json", "{}"), ("p.json", "[{}]"), ("p.json", "{}\n\n")],
)
def test_predictions_behind_a_byte_order_mark_are_read(name: str, form: str, tmp_path: Path) -> None:
    one = '{"instance_id": "a", "model_patch": "", "model_name_or_path": "m"}'
    file = tmp_path / name
    file.write_bytes(b"\xef\xbb\xbf" + form.format(one).encode())
    assert [prediction.instance_id for prediction in read_predictions(file)] == ["a"]


@pytest.mark.parametrize(
    ("name", "text", "words", "message"),
    [
        (
            "dataset.yaml",
            "name: a\n  b: c\n",
            "holdout ls {folder}",
            "is not YAML: line 2: mapping values",
        ),
        ("dataset.yaml", "version: one\n", "holdout ls {folder}", "version: expected a whole number, found 'one'"),
        ("p.jsonl", '{"instance_id": "x"', "evaluate {bench} -p {file} -o {new}", "line 1 is not JSON: Expecting ','"),
        (
            "goldseam.toml",
            "[gate\n",
            "gate {run} --baseline {run} --config {file}",
            "not valid TOML: line 1: Expected",
        ),
        ("goldseam.toml", "[gate]\nmode = 'lax'\n", "gate {run} --baseline {run} --config {file}", "found 'lax'"),
        ("prices.yaml", "prices:\n- modl: x\n", "solve {bench} -m m -o {new} --prices {file}", "did you mean model?"),
        ("prices.yaml", "prices: [\n", "solve {bench} -m m -o {new} --prices {file}", "is not valid YAML: line 2: "),
        (
            "accepted.json",
            "{}\n{}\n",
            "gate {run} --baseline {file}",
            "accepted run: file: not one JSON",
        ),
    ],
)
def test_a_broken_file_is_told_with_its_line_and_without_the_words_of_a_library(
    name: str, text: str, words: str, message: str, tmp_path: Path
) -> None:
    file = tmp_path / name
    file.write_text(text)
    bench, run = report_runs.make_dataset(tmp_path / "bench", 1).path, tmp_path / "run"
    report_runs.make_run(run, 1, {"alpha": 0})

    done = goldseam(*words.format(folder=tmp_path, file=file, bench=bench, new=tmp_path / "new", run=run).split())

    assert done.returncode == 2
    assert str(file) in done.error_text.splitlines()[0]
    assert message in done.error_text.splitlines()[0]
    assert not any(word in done.error_text for word in ("<unicode string>", "Input should be", "pydantic", "Traceback"))
