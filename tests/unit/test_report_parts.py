"""Short names, Markdown as a tree, transcripts and the head of a report."""

from __future__ import annotations

import json

import pytest

from harness.core import wording
from harness.core.instance import Prediction
from harness.judging.places import Place
from harness.report import data, figures, page, payload
from harness.report.gather import gather
from harness.report.text import short_models, short_tasks
from harness.runs.run_folder import RunFolder
from tests.report_runs import REALISTIC_MODELS, add, add_transcript, make_dataset, make_run, make_task, record

ONE, TWO = "acme__widgets-100", "acme__widgets-101"


def _prediction(name: object, *, model: str = "alpha", sample: int = 0) -> Prediction:
    extra = {"transcript": name}
    return Prediction(instance_id=ONE, model_name_or_path=model, model_patch=None, sample=sample, extra=extra)


def test_a_models_short_name_has_no_vendor_and_no_date():
    assert list(short_models(list(REALISTIC_MODELS)).values()) == [
        "claude-opus-4-5",
        "gpt-5.1-codex-max",
        "gemini-3-pro-preview",
        "claude-sonnet-4-5",
        "Kimi-K2-Thinking",
        "Qwen3-Coder-480B-A35B-Instruct",
        "DeepSeek-V3.2-Exp",
        "devstral-medium-2507",
    ]


def test_what_tells_two_models_apart_stays():
    pairs = ["a/m-20250101", "a/m-20250202"], ["a/m", "b/m"]
    assert [list(short_models(pair).values()) for pair in pairs] == [["m-20250101", "m-20250202"], ["a/m", "b/m"]]


def test_a_long_common_beginning_is_left_out():
    assert list(short_models(["acme-finetune-step-100", "acme-finetune-step-2000"]).values()) == ["…100", "…2000"]


@pytest.mark.parametrize("name", ["/", "", "a/", "-20250101", "…"])
def test_a_short_name_is_never_empty(name):
    assert short_models([name])[name] == name


def test_tasks_are_told_by_number_and_by_repository_where_there_are_several():
    assert short_tasks(["a__b-1", "a__b-22"]) == {"a__b-1": "#1", "a__b-22": "#22"}
    assert short_tasks(["a__b-1", "a__c-1", "odd"]) == {"a__b-1": "b#1", "a__c-1": "c#1", "odd": "odd"}
    assert short_tasks(["a__b-1", "c__b-1"]) == {"a__b-1": "a/b#1", "c__b-1": "c/b#1"}
    assert short_tasks(["a__b-0123abcd"]) == {"a__b-0123abcd": "@0123abcd"}


def test_tasks_are_in_the_order_of_their_numbers(tmp_path):
    ids = ["a__b-100", "a__b-9", "a__b-20"]
    dataset = make_dataset(tmp_path / "ds", [make_task(n, instance_id=name) for n, name in enumerate(ids)])
    run = tmp_path / "run"
    RunFolder(path=run).write_predictions([add(run, name, "alpha") for name in ids])
    assert [task.name for task in gather([run], dataset=dataset.path).tasks] == ["#9", "#20", "#100"]


def _tags(nodes):
    return {tag for node in nodes if not isinstance(node, str) for tag in ({node[0]} | _tags(node[2:]))}


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "a <b onclick=x>b</b>",
        "<!-- comment -->",
        "<iframe src=//evil></iframe>\n\ntext",
        "&lt;script&gt;",
    ],
)
def test_html_in_markdown_stays_text(text):
    assert _tags(payload.tree(text)) <= {"p"}


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "file:///etc/passwd", "vbscript:x", "//evil"],
)
def test_a_link_that_is_not_http_leads_nowhere(address):
    tree = payload.tree(f"[click]({address}) <{address}>")
    assert "a" not in _tags(tree)
    assert "click" in str(tree)


def test_an_image_is_a_link_and_never_loaded():
    assert payload.tree("![x](https://e.org/p.png)") == [
        ["p", None, ["a", {"href": "https://e.org/p.png"}, "[image: x]"]]
    ]


@pytest.mark.parametrize(
    "text", [">" * 5000 + " deep", "[" * 5000, "* " * 2000 + "x", "`" * 4999, "|" * 3000 + "\n" + "|-" * 1500]
)
def test_hostile_markdown_is_read_all_the_same(text):
    assert json.dumps(payload.tree(text))


def test_a_transcript_is_found_beside_the_run(tmp_path):
    name = add_transcript(tmp_path / "run", ONE, "alpha")
    transcript = data.transcript_of(tmp_path / "run", _prediction(name), 10_000)
    assert [turn.role for turn in transcript.first] == ["system", "user", "assistant", "tool", "assistant"]
    assert transcript.first[2].calls[0][0] == "bash"


def test_a_long_transcript_is_cut_in_the_middle(tmp_path):
    name = add_transcript(tmp_path / "run", ONE, "alpha", text="x" * 9000)
    transcript = data.transcript_of(tmp_path / "run", _prediction(name), 300)
    assert (len(transcript.first), transcript.left_out, len(transcript.last)) == (2, 1, 2)


@pytest.mark.parametrize("change", [{"model": "beta"}, {"sample": 1}])
def test_another_predictions_transcript_is_not_shown(tmp_path, change):
    name = add_transcript(tmp_path / "run", ONE, "alpha")
    assert data.transcript_of(tmp_path / "run", _prediction(name, **change), 10_000) is None


@pytest.mark.parametrize(
    "form", ["../{name}", "{absolute}", "x/../../{name}", "link/{file}", 7, "", "\x00", "{folder}"]
)
def test_a_transcript_outside_of_the_runs_folder_is_not_read(tmp_path, form):
    name = add_transcript(tmp_path / "run", ONE, "alpha")
    inner = tmp_path / "inner" / "run"
    inner.mkdir(parents=True)
    target = tmp_path / name
    (inner / "link").symlink_to(target.parent)
    words = {"name": name, "absolute": target, "file": target.name, "folder": "link"}
    text = form.format(**words) if isinstance(form, str) else form
    assert data.transcript_of(inner, _prediction(text), 10_000) is None


def test_the_transcript_of_the_gold_patch_is_hidden_with_it(tmp_path):
    dataset = make_dataset(tmp_path / "ds", [make_task(0)])
    gold = make_task(0).hidden.gold_patch.decode()
    run = tmp_path / "run"
    extra = {"transcript": add_transcript(run, ONE, "alpha")}
    RunFolder(path=run).write_predictions([add(run, ONE, "alpha", patch=gold, extra=extra)])
    assert gather([run], dataset=dataset.path).predictions[0].transcript is None
    assert gather([run], dataset=dataset.path, with_hidden=True).predictions[0].transcript is not None


def test_the_head_tells_date_versions_machine_and_where_tasks_are_judged(tmp_path):
    made = [add(tmp_path, ONE, "alpha", place=Place.INSIDE), add(tmp_path, TWO, "alpha")]
    RunFolder(path=tmp_path).write_predictions(made)
    RunFolder(path=tmp_path).write_run(record(["alpha"]))
    facts = dict(page.facts(gather([tmp_path])))
    assert facts["date"] == "2026-11-21 02:00 UTC"
    assert facts["goldseam"].startswith("0.1.0, grading ")
    assert facts["judged"] == "host 50%, inside 50%"
    assert facts["machine"] == "Linux-6.1.0-amd64, x86_64, 16 CPUs"


def test_several_runs_have_their_first_and_last_day(tmp_path):
    for name, day in (("a", "20"), ("b", "23")):
        RunFolder(path=make_run(tmp_path / name, 1, {"alpha": 1})).write_run(
            record(["alpha"], started_at=f"2026-11-{day}T02:00:00Z")
        )
    assert dict(page.facts(gather([tmp_path / "a", tmp_path / "b"])))["date"] == "2026-11-20 to 2026-11-23"


def test_controls_have_no_part_in_failure_classes(tmp_path):
    report_data = gather([make_run(tmp_path / "run", 4, {"alpha": 0, "null": 0, "gold": 1})])
    columns = {column for counts in figures.failure_classes(report_data).values() for column in counts}
    assert columns == {model.column for model in report_data.competitors()}


def test_tiers_are_in_their_own_order(tmp_path):
    tiers = ("brutal", "easy", "hard", "hard", "medium", "trivial")
    dataset = make_dataset(tmp_path / "ds", [make_task(n, difficulty=tier) for n, tier in enumerate(tiers)])
    run = make_run(tmp_path / "run", 6, {"alpha": 1})
    breakdowns = figures.breakdowns(gather([run], dataset=dataset.path).competitors())
    groups = next(each.groups for each in breakdowns if each.name == "difficulty")
    assert [group.name for group in groups] == ["trivial", "easy", "medium", "hard", "brutal"]


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.57, 0.98, "57–98%"),
        (0.0, 0.3, "0–30%"),
        (0.001, 0.2, "<1% to 20%"),
        (0.8, 0.999, "80% to >99%"),
        (1.0, 1.0, "100%"),
    ],
)
def test_an_interval_has_one_form(low, high, text):
    assert wording.span(low, high) == text


def test_a_task_that_another_run_has_not_scored_yet_is_judged_where_its_verdict_says(tmp_path):
    RunFolder(path=tmp_path / "a").write_predictions([add(tmp_path / "a", ONE, "alpha")])
    waiting = add(tmp_path / "b", ONE, "beta")
    RunFolder(path=tmp_path / "b").write_predictions([waiting])
    (RunFolder(path=tmp_path / "b").sample_folder(waiting) / "report.json").unlink()
    assert page.trust(gather([tmp_path / "a", tmp_path / "b"])) == "host 100%"
