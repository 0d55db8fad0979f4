"""The command line as a newcomer meets it: help, examples, old spellings, completion, progress."""

from __future__ import annotations

import functools
import io
import json
import re
import shlex
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from harness.cli.shell import help as help_text
from harness.cli.shell import next_steps
from harness.cli.shell.command import RENAMED, translate
from harness.cli.views import browse
from harness.cli.views.progress import Pace, Ticker
from harness.core.errors import GoldseamError
from harness.runs.run_folder import RunFolder
from miner.cli.display import MineTicker
from tests import forked, report_runs
from tests import help_text as all_help
from tests.program import goldseam

FIRST_SCREEN = 12
HERE = str(Path(__file__).parent)


@functools.cache
def commands():
    """Every group and command by its path, with its context; loading them all takes a second."""
    return {ctx.command_path: (ctx, command) for ctx, command in all_help.commands()}


def leaves():
    """What is no group of them."""
    return {path: pair for path, pair in commands().items() if not hasattr(pair[1], "commands")}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return report_runs.make_dataset(tmp_path_factory.mktemp("surface") / "bench", 2)


def test_the_help_of_all_commands_is_the_golden_one():
    golden = all_help.GOLDEN.read_text(encoding="utf-8")
    assert all_help.everything() == golden, "look at it, then run `python -m tests.help_text`"


def test_the_first_screen_has_at_most_twelve_options_and_the_rest_is_advanced():
    for path, (ctx, command) in commands().items():
        assert len(help_text.sections(command, ctx)[help_text.FIRST]) <= FIRST_SCREEN, path
        panels = {param.rich_help_panel for param in command.params if param.param_type_name == "option"}
        assert all(panel in {None, help_text.EVERY} or panel.startswith(help_text.ADVANCED) for panel in panels), path


def test_a_command_has_three_examples():
    for path, (_, command) in commands().items():
        assert len(command.examples) == 3, path
        assert all(purpose for purpose in command.examples.values()), path


def test_an_example_is_parsed_by_the_command_it_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("goldseam.toml", "policy.toml"):
        (tmp_path / name).write_text("")
    for path, line in [(path, line) for path, (_, command) in commands().items() for line in command.examples]:
        words = shlex.split(line)[1:]
        ctx, command = commands()["goldseam"]
        while hasattr(command, "commands"):
            ctx, command = commands()[f"{ctx.command_path} {words.pop(0)}"]
        assert ctx.command_path.startswith(path), line
        try:
            command.make_context(command.name, words, parent=ctx.parent)
        except GoldseamError as error:
            pytest.fail(f"{line}: {error.message}")


def test_what_an_option_takes_is_a_noun():
    for path, (_, command) in leaves().items():
        names = [help_text.option_names(param) for param in command.params if param.param_type_name == "option"]
        assert not [name for name in names if "<" in name or name.endswith(("INTEGER", "FLOAT"))], path


def test_an_option_that_takes_a_value_shows_its_default_unless_it_is_required_or_repeatable():
    for path, (ctx, command) in leaves().items():
        silent = [
            param.name
            for param in command.params
            if param.param_type_name == "option"
            and not (param.hidden or param.is_flag or param.count or param.multiple)
            and not re.search(r"\[default: |required", help_text.description(param, ctx))
        ]
        assert silent == [], path


def test_an_old_spelling_is_a_new_one_and_is_not_in_help():
    for path, table in RENAMED.items():
        ctx, command = commands()[f"goldseam {path}"]
        options = {name for param in command.params for name in param.opts}
        shown = help_text.render(command, ctx).replace("\n", " ")
        assert {new for new in table.values() if new} <= options, path
        assert [old for old in table if f"{old} " in shown] == [], path


def test_an_old_spelling_works_and_names_the_new_one(dataset):
    done = goldseam("holdout", "quarantine", dataset.path, dataset.ids()[0], "--why=flaky")
    assert done.returncode == 0
    assert done.error_text.splitlines()[0] == "note: --why is now --reason; the old spelling goes away in 0.3"
    done = goldseam("holdout", "release", dataset.path, dataset.ids()[0], "--reason", "it holds", "-q")
    assert done.error_text == ""


def test_words_after_two_dashes_are_left_alone():
    words = ["--why", "x", "--", "--why"]
    own = frozenset({"--reason"})
    assert translate("holdout retire", words, own=own, tell=False) == ["--reason", "x", "--", "--why"]


def test_an_old_spelling_is_no_option_of_a_command_without_the_new_one():
    done = goldseam("holdout", "ls", "bench", "--out", "x")
    assert done.error_text.splitlines() == ["error: no such option: --out", "  hint: goldseam holdout ls --help"]


def complete(*words, current):
    line = ["goldseam", *(str(word) for word in words), current]
    variables = {"_GOLDSEAM_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(line), "COMP_CWORD": str(len(line) - 1)}
    done = forked.goldseam(env=variables)
    assert done.stderr == b""
    return done.stdout.decode().split()


def test_a_shell_completes_ids_of_tasks(dataset):
    assert complete("holdout", "show", dataset.path, current="") == sorted(dataset.ids())
    assert complete("evaluate", dataset.path, "-i", current=dataset.ids()[0][:4]) == sorted(dataset.ids())


def test_a_shell_completes_splits():
    assert complete("evaluate", "nowhere", "--split", current="ho") == ["holdout"]


def test_a_shell_completes_models_by_their_own_names(tmp_path):
    folder = tmp_path / "run" / "results" / "acme-x-1234" / "task" / "0"
    folder.mkdir(parents=True)
    (folder / "report.json").write_text(json.dumps({"model_name_or_path": "acme/x"}))
    assert complete("scores", tmp_path / "run", "--model", current="") == ["acme/x"]


def test_completion_of_what_cannot_be_read_is_empty():
    assert complete("holdout", "show", "nowhere", current="") == []
    assert complete("holdout", "show", "s3://bucket/bench", current="") == []


def test_quiet_and_no_color_hold_before_and_after_a_command(dataset):
    for words in (["-q", "holdout", "ls"], ["holdout", "ls", "-q"]):
        assert goldseam(*words[: words.index("ls") + 1], dataset.path, *words[words.index("ls") + 1 :]).error_text == ""
    assert "next: goldseam holdout show" in goldseam("holdout", "ls", dataset.path).error_text


def test_settings_of_a_named_file_are_read_and_their_lines_named(tmp_path):
    file = tmp_path / "other.toml"
    file.write_text("[images]\n\nplatfrom = 'linux/amd64'\n")
    done = goldseam("images", "base", "--config", file)
    assert done.returncode == 2
    assert done.error_text == f"error: {file}:3: images.platfrom: unknown key; did you mean platform?\n"


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (["mine", "nope"], ["error: no such folder: nope"]),
        (["evaluate", "nope"], ["error: no such folder: nope"]),
        (["doctor", "--config", HERE], [f"error: {HERE} is a folder, not a settings file"]),
        (["evaluate", __file__], [f"error: {__file__} is a file, not a folder"]),
        (["evalute"], ["error: no such command: evalute", "  hint: did you mean evaluate?"]),
        (["evaluate", "b", "--sampels"], ["error: no such option: --sampels", "  hint: goldseam evaluate --help"]),
        (["evaluate", "b", "--gould"], ["error: no such option: --gould", "  hint: did you mean --gold?"]),
        (
            ["report", "r", "--view", "score"],
            ["error: --view: expected report or scores, found 'score'", "  hint: did you mean scores?"],
        ),
    ],
)
def test_a_wrong_call_is_told_in_one_voice_with_what_was_meant(words, lines):
    assert goldseam(*words).error_text.splitlines()[: len(lines)] == lines


def test_tasks_are_listed_with_their_public_figures(dataset):
    done = goldseam("holdout", "ls", dataset.path, "--json")
    row = json.loads(done.stdout)["tasks"][0]
    assert row["instance_id"] == min(dataset.ids())
    assert {"title", "state", "split", "judged", "bits", "strength", "difficulty"} <= row.keys()
    assert json.loads(goldseam("holdout", "ls", dataset.path, "--state", "retired", "--json").stdout)["tasks"] == []


def test_a_task_is_shown_with_its_patches_and_history(dataset):
    task = dataset.ids()[0]
    card = json.loads(goldseam("holdout", "show", dataset.path, task, "--json").stdout)
    assert card["hidden"]["gold_patch"].startswith("diff --git")
    assert card["problem_statement"] == dataset.instance(task).problem_statement
    assert json.loads(goldseam("holdout", "show", dataset.path, task, "--public", "--json").stdout)["hidden"] is None


@pytest.mark.parametrize(
    "words",
    [
        "holdout show {bench} {task}",
        "holdout retire {bench} {task} --reason x",
        "holdout log {bench} -i {task}",
        "holdout strength {bench} -i {task}",
        "holdout calls {bench} -i {task}",
        "holdout strip {bench} -i {task}",
        "holdout reveal {bench} --tests 1 -i {task}",
        "holdout quality {bench} --source . -i {task}",
        "holdout export {bench} --format jsonl -o - -i {task}",
        "holdout split {bench} --by list --dev {task}",
        "images rebuild {bench} -i {task}",
        "evaluate {bench} --gold -o {folder} -i {task}",
        "evaluate {bench} -p {predictions} -o {folder}",
        "solve {bench} -m m -o {folder} --base-url http://127.0.0.1:9/v1 -i {task}",
    ],
)
def test_a_mistyped_task_is_told_with_the_one_that_was_meant(words, dataset, tmp_path):
    task = dataset.ids()[0]
    one = {"instance_id": f"{task}x", "model_name_or_path": "m", "model_patch": ""}
    (tmp_path / "p.jsonl").write_text(json.dumps(one))
    places = {"bench": dataset.path, "folder": tmp_path / "new", "predictions": tmp_path / "p.jsonl"}

    done = goldseam(*words.format(task=f"{task}x", **places).split())

    assert (done.returncode, done.error_text.splitlines()[-1]) == (2, f"  hint: did you mean {task}?")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ("solve B -m m -o F --api chta", ("--api: expected auto, chat or responses, found 'chta'", "chat")),
        ("judge R --dataset B -m m -o F --api chta", ("--api: expected auto, chat or responses, found 'chta'", "chat")),
        (
            "solve B -m m -o F --agent command --agent-command x --where hots",
            ("--where: expected container or host, found 'hots'", "host"),
        ),
        ("solve B -m m -o F --split dve", ("--split: expected dev, holdout, retired or all, found 'dve'", "dev")),
        ("evaluate B --gold -o F --split dve", ("--split: expected dev, holdout, retired or all, found 'dve'", "dev")),
        ("holdout ls B --split dve", ("--split: expected dev, holdout, retired or all, found 'dve'", "dev")),
        ("holdout ls B --difficulty esy", ("--difficulty: expected easy, medium, hard or brutal, found 'esy'", "easy")),
        ("holdout ls B --repo acme/widget", ("--repo: expected acme/widgets, found 'acme/widget'", "acme/widgets")),
        (
            "holdout export B --format jsnol -o F",
            ("--format: expected swebench, harbor, inspect, jsonl or parquet, found 'jsnol'", "jsonl"),
        ),
        ("mine . -o F --p2p al", ("--p2p: expected touched or all, found 'al'", "all")),
        (
            "mine . -o F --visibility publc",
            ("--visibility: expected public, private or internal, found 'publc'", "public"),
        ),
        ("scores R --model alhpa", ("there is no model 'alhpa'", "alpha")),
        ("compare R R --model alhpa", ("no candidate run has a model 'alhpa'", "alpha")),
        ("compare R R --baseline-model alhpa", ("R has no model 'alhpa'", "alpha")),
        ("gate R --baseline R --model alhpa", ("R has no model 'alhpa'", "alpha")),
        ("history H --model alhpa", ("no run in H has the model 'alhpa'", "alpha")),
        (
            "judge R --dataset B -m m -o F --only alhpa --base-url http://127.0.0.1:9/v1",
            ("no run has patches of alhpa", "alpha"),
        ),
    ],
)
def test_a_mistyped_value_is_told_with_the_one_that_was_meant(words, lines, dataset, tmp_path):
    report_runs.make_run(tmp_path / "runs" / "one", 2, {"alpha": 0})
    RunFolder(path=tmp_path / "runs" / "one").write_run(report_runs.record(["alpha"]))
    places = {"B": dataset.path, "F": tmp_path / "new", "R": tmp_path / "runs" / "one", "H": tmp_path / "runs"}
    message = " ".join(str(places.get(word, word)) for word in lines[0].split())

    done = goldseam(*(places.get(word, word) for word in words.split()), OPENAI_BASE_URL="http://127.0.0.1:9/v1")

    assert done.returncode == 2
    assert done.error_text.splitlines() == [f"error: {message}", f"  hint: did you mean {lines[1]}?"]


def test_the_pace_counts_what_this_call_did():
    now = 0.0
    pace = Pace(lambda: now)
    pace.expect(340, done=100)
    assert pace.sentence() == "0 s"
    for _ in range(20):
        pace.step()
    now = 120.0
    assert pace.sentence() == "10.0/min, 22 min left"


def test_between_two_steps_the_rest_counts_down_and_the_rate_falls_only_when_a_step_is_late():
    now = 0.0
    pace = Pace(lambda: now)
    pace.expect(12)
    now = 10.0
    pace.step()
    now = 20.0
    pace.step()
    assert pace.sentence() == "6.0/min, 2 min left"
    now = 29.0
    assert (pace.rate, pace.left) == (0.1, 91.0)
    now = 60.0
    assert pace.sentence() == "2.4/min, 4 min left"


def test_off_a_terminal_a_line_sums_up_what_runs():
    now = 0.0
    ticker = Ticker(Console(file=io.StringIO()), "evaluate", clock=lambda: now)
    ticker.expect(12)
    for number in range(3):
        ticker.step(Text(str(number)))
    now = 90.0
    ticker.note("acme__app-12")
    assert ticker.summary().plain == "evaluate: 3 of 12, 2.0/min, 4 min left; now: acme__app-12"


@pytest.mark.parametrize(
    ("width", "headings"),
    [
        (40, "task state"),
        (60, "task state judged"),
        (80, "task state split judged difficulty"),
        (100, "task state split judged bits strength difficulty"),
        (120, "task state split judged bits strength difficulty title"),
    ],
)
def test_a_list_of_tasks_has_whole_ids_and_words_however_narrow_it_is(width, headings):
    row = browse.TaskRow(
        instance_id="organisation__some-repository-12345",
        repo="organisation/some-repository",
        title="A title of some length that a list need not have whole",
        statement="",
        state="quarantined",
        split="holdout",
        judged="inside",
        bits=9.0,
        strength=0.5,
        difficulty="medium",
        created_at="",
    )
    console = Console(width=width, file=io.StringIO())
    console.print(browse.rows_table([row], width))
    lines = console.file.getvalue().splitlines()
    assert lines[0].split() == headings.split()
    assert row.instance_id in "".join(line.split()[0] for line in lines[1:] if line.strip())


def test_what_runs_now_is_told_until_it_is_over():
    ticker = Ticker(Console(file=io.StringIO()), "solve", clock=lambda: 0.0)
    ticker.running("1", "acme__app-1")
    ticker.running("2", "acme__app-2")
    assert ticker.summary().plain == "solve: 0 done, 0 s; now: acme__app-1; acme__app-2"
    ticker.spent("900 tokens")
    ticker.ended("1")
    assert ticker.summary().plain == "solve: 0 done, 0 s; now: acme__app-2; 900 tokens"


def test_a_warning_of_a_mine_is_no_step():
    ticker = Ticker(Console(file=io.StringIO()), "mine", clock=lambda: 0.0)
    MineTicker(ticker).warn("the clone is shallow")
    assert ticker.summary().plain == "mine: 0 done, 0 s"


@pytest.mark.parametrize("width", [80, 120])
def test_the_live_line_fits_a_terminal_and_has_all_its_parts(width):
    now = 0.0
    console = Console(file=io.StringIO(), force_terminal=True, width=width, no_color=True)
    with Ticker(console, "evaluate", clock=lambda: now) as ticker:
        ticker.expect(300, done=120)
        for number in range(20):
            ticker.running(str(number), f"acme__some-repository-{number}")
            ticker.step(Text("resolved  a title that goes on " + "and on " * 20))
        now = 40.0
        ticker.running("now", "acme__app-12")
    lines = [Text.from_ansi(line).plain for line in re.split(r"[\r\n]+|\x1b\[1A", console.file.getvalue())]
    assert max(map(len, lines)) <= width
    assert any("140 of 300 30.0/min, 5 min left acme__" in line for line in lines)


def test_every_command_says_what_comes_next_or_that_nothing_does():
    assert {f"goldseam {path}" for path in next_steps.STEPS} == set(leaves())
    none = {path for path, step in next_steps.STEPS.items() if step is None}
    answers = {
        "history",
        "judge",
        "images ls",
        *(f"holdout {name}" for name in ("show", "stats", "export", "log", "scan")),
    }
    assert none == {"view", *answers}


def test_the_next_step_is_a_command_that_there_is():
    known = leaves()
    for path in [path for path, step in next_steps.STEPS.items() if step and step != next_steps.ITSELF]:
        _, command = known[f"goldseam {path}"]
        params = {param.name: param.name.upper() for param in command.params} | {"json_": False, "dry_run": False}
        params |= {"accept_to": None, "runs": ["RUN"], "candidates": ["RUN"]}
        words = next_steps.after(path, params, ["WORD"]).split()
        _, following = known[" ".join(words[: 3 if words[1] in ("holdout", "images") else 2])]
        options = {name for param in following.params for name in param.opts}
        assert {word for word in words if word.startswith("-")} <= options, path


@pytest.mark.parametrize(
    ("words", "following"),
    [
        (("split", "{ds}"), "holdout ls {ds} --split dev"),
        (
            ("split", "{ds}", "--by", "date", "--dev-before", "2026-01-01", "--dry-run"),
            "holdout split {ds} --by date --dev-before 2026-01-01",
        ),
        (("quarantine", "{ds}", "{task}", "--reason", "flaky"), "holdout ls {ds} --state quarantined"),
        (("canary", "{ds}"), "holdout scan {ds} PATH"),
    ],
)
def test_a_command_that_ends_well_names_the_next_step_on_standard_error(tmp_path, words, following):
    dataset = report_runs.make_dataset(tmp_path / "bench", 2)
    names = {"ds": dataset.path, "task": dataset.ids()[0]}
    words = [word.format(**names) for word in words]
    done = goldseam("holdout", *words)
    assert (done.returncode, done.error_text) == (0, f"next: goldseam {following.format(**names)}\n")
    assert "next:" not in done.stdout


@pytest.mark.parametrize("quiet", ["-q", "--json"])
def test_no_next_step_is_named_where_only_the_result_is_wanted(dataset, quiet):
    assert goldseam("holdout", "split", dataset.path, quiet).error_text == ""


def test_a_command_that_ends_badly_names_none(dataset):
    done = goldseam("holdout", "check", dataset.path)
    assert (done.returncode, "next:" in done.error_text) == (1, False)


FOLDERS = {
    "evaluate": "evaluate bench --gold",
    "mine": "mine repo",
    "demo": "demo",
    "holdout merge": "holdout merge a b",
    "holdout open": "holdout open bench",
    "holdout import": "holdout import rows.jsonl --source a/b=c",
}
"""Commands whose output is a folder, and a call of each."""


@pytest.mark.parametrize("call", FOLDERS.values(), ids=FOLDERS)
def test_a_folder_to_write_is_never_standard_output(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = goldseam(*call.split(), "-o", "-")
    assert (done.returncode, "-o: this command writes a folder" in done.error_text) == (2, True), done.error_text
    assert list(tmp_path.iterdir()) == []


def test_every_output_is_called_o_and_is_a_folder_or_a_file():
    outputs = {
        path.partition(" ")[2]: param.metavar
        for path, (_, command) in leaves().items()
        for param in command.params
        if "-o" in param.opts
    }
    files = {"solve": "FILE", "judge": "FILE", "report": "FILE", "holdout export": "PATH"}
    assert {path for path, kind in outputs.items() if kind in {"FOLDER", "DATASET", "RUN"}} == set(FOLDERS)
    assert {path: kind for path, kind in outputs.items() if path not in FOLDERS} == files
