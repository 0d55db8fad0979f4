"""funnel.jsonl: whole lines only, resumable, and its counts sum."""

from __future__ import annotations

import json

import pytest

from harness.core.errors import InfrastructureError, InputError
from miner.candidates.funnel import SCHEMA_VERSION, Funnel, FunnelLine, summarise
from miner.sources.change import Change, MergeStyle, Rejection, Stage


def change(number: int, title: str = "Fix add") -> Change:
    return Change(
        repo="acme/app",
        base_commit="a" * 40,
        head_commit="b" * 40,
        merge_commit=f"{number:040x}",
        style=MergeStyle.SQUASH,
        created_at="2024-01-01T00:00:00Z",
        title=title,
        body="",
        messages=(),
        number=number,
    )


def no(reason: str, stage: Stage = Stage.RECOGNITION) -> Rejection:
    return Rejection(stage=stage, reason=reason, detail="seen")


def test_what_was_appended_is_read_back(tmp_path):
    funnel = Funnel(tmp_path / "new" / "funnel.jsonl")
    lines = [
        FunnelLine.of(change(1), None, signals=("fix",), score=2.5, seconds=1.23456),
        FunnelLine.of(change(2), no("no_tests")),
    ]
    for line in lines:
        funnel.append(line)
    assert funnel.read() == tuple(lines)
    assert (lines[0].reason, lines[0].accepted, lines[0].seconds) == ("accepted", True, 1.235)
    assert (lines[1].reason, lines[1].stage, lines[1].instance_id) == ("no_tests", Stage.RECOGNITION, "acme__app-2")


def test_a_missing_funnel_is_an_empty_one(tmp_path):
    assert Funnel(tmp_path / "funnel.jsonl").read() == ()


def test_a_half_written_last_line_is_dropped_and_written_over(tmp_path):
    funnel = Funnel(tmp_path / "funnel.jsonl")
    first = FunnelLine.of(change(1), None)
    funnel.append(first)
    with funnel.path.open("ab") as file:
        file.write(b'{"schema_version": 1, "repo": "ac')
    assert funnel.read() == (first,)
    second = FunnelLine.of(change(2), no("no_tests"))
    funnel.append(second)
    assert funnel.read() == (first, second)


def test_decided_changes_are_known_by_their_merge_commit(tmp_path):
    funnel = Funnel(tmp_path / "funnel.jsonl")
    funnel.append(FunnelLine.of(change(1), no("no_tests")))
    funnel.append(FunnelLine.of(change(1), None))
    assert [line.accepted for line in funnel.decided().values()] == [True]


def test_a_newer_schema_is_refused(tmp_path):
    funnel = Funnel(tmp_path / "funnel.jsonl")
    line = {**json.loads(FunnelLine.of(change(1), None).model_dump_json()), "schema_version": SCHEMA_VERSION + 1}
    funnel.path.write_text(json.dumps(line) + "\n")
    with pytest.raises(InputError, match="schema_version 2"):
        funnel.read()


def test_a_broken_line_is_named(tmp_path):
    funnel = Funnel(tmp_path / "funnel.jsonl")
    funnel.append(FunnelLine.of(change(1), None))
    with funnel.path.open("a") as file:
        file.write("not json\n")
    with pytest.raises(InputError, match="line 2"):
        funnel.read()


def test_unknown_fields_survive_a_round_trip(tmp_path):
    funnel = Funnel(tmp_path / "funnel.jsonl")
    line = {**json.loads(FunnelLine.of(change(1), None).model_dump_json()), "colour": "red"}
    funnel.append(FunnelLine.model_validate(line))
    assert json.loads(funnel.path.read_text())["colour"] == "red"


def test_titles_and_details_that_are_not_text_can_be_written(tmp_path):
    funnel = Funnel(tmp_path / "funnel.jsonl")
    rejection = Rejection(stage=Stage.HISTORY, reason="lfs", detail="src/latin-\udce9.bin")
    funnel.append(FunnelLine.of(change(1, title="caf\udce9"), rejection))
    assert funnel.read()[0].detail == "src/latin-\\udce9.bin"


def test_an_unwritable_funnel_is_an_infrastructure_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InfrastructureError, match="cannot write"):
        Funnel(tmp_path / "file" / "funnel.jsonl").append(FunnelLine.of(change(1), None))


def test_the_counts_sum_to_the_changes_looked_at():
    reasons = [None, no("no_tests"), no("no_tests"), no("docs_only"), no("lfs", Stage.HISTORY), None]
    lines = [FunnelLine.of(change(number), reason) for number, reason in enumerate(reasons)]
    summary = summarise([*lines, lines[1]])
    assert summary.looked_at == 6
    assert summary.accepted + sum(summary.rejected.values()) == summary.looked_at
    assert next(iter(summary.rejected.items())) == ((Stage.RECOGNITION, "no_tests"), 2)
    assert summary.by_stage == {Stage.HISTORY: 1, Stage.RECOGNITION: 3}
