"""Recorded calls as values: what counts as the same answer, what lies near an input, what calls.json holds."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import pathlib
from dataclasses import replace
from types import SimpleNamespace

import pytest

from harness.core.errors import InputError
from harness.dataset.folder import open_dataset, read_hidden
from harness.dataset.hidden_files import hidden_digest, hidden_files
from harness.differential.answers import equal
from harness.differential.corpus import Call, Corpus
from harness.patches import patch
from miner.calls.nearby import pool_of, variants
from miner.calls.recording import changed_lines
from tests import inside, tiny

ONE, TWO = ["i", "1"], ["i", "2"]


@pytest.fixture(scope="module")
def runner() -> dict:
    """The names that harness/languages/python/inside/calls.py brings, over those of the supervisor."""
    names: dict = {}
    for part in ("supervisor", "recorder", "calls"):
        exec(compile(inside.part(part), part, "exec"), names)
    return names


def value(encoded) -> dict:
    return {"value": encoded}


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (value(ONE), value(ONE)),
        (value(ONE), value(True)),
        (value(["f", (0.1 + 0.2).hex()]), value(["f", (0.3).hex()])),
        (value(["f", "nan"]), value(["f", "nan"])),
        (value(["d", [[ONE, TWO], [TWO, ONE]]]), value(["d", [[TWO, ONE], [ONE, TWO]]])),
        (value(["o", ["l", [ONE]], "[1]"]), value(["l", [ONE]])),
        (value(["o", ["a", [["x", ONE]]], "X"]), value(["o", ["a", [["x", ONE], ["more", TWO]]], "X"])),
        ({"raised": ["ValueError", "Exception"]}, {"raised": ["ValueError", "Exception"]}),
    ],
)
def test_answers_are_the_same_by_what_they_do(left, right):
    assert equal(left, right)
    assert equal(right, left)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (value(ONE), value(TWO)),
        (value(ONE), value(["s", "1"])),
        (value(["l", [ONE]]), value(["t", [ONE]])),
        (value(["l", [ONE]]), value(["l", [ONE, ONE]])),
        (value(["d", [[ONE, TWO]]]), value(["d", [[ONE, ONE]]])),
        (value(["o", ["l", [ONE]], "A"]), value(["o", ["l", [ONE]], "B"])),
        ({"raised": ["ValueError"]}, {"raised": ["KeyError"]}),
        ({"raised": ["ValueError"]}, value(None)),
        ({"opaque": True}, {"opaque": True}),
        (value(None), None),
    ],
)
def test_answers_differ_where_they_do_something_else(left, right):
    assert not equal(left, right)
    assert not equal(right, left)


@pytest.mark.parametrize(
    "broken",
    [["f", "0x"], ["i", {}], ["d", 1], ["d", [[]]], ["l"], ["o"], ["o", []], [[]], {}, ["S", None], [None, None]],
)
def test_an_answer_of_no_known_form_is_never_the_same_as_another_and_breaks_nothing(broken):
    assert not equal(value(ONE), value(broken))
    assert not equal(value(["d", [[ONE, TWO]]]), value(broken))
    assert not equal(value(["o", ["l", []], "x"]), value(broken))


@pytest.mark.parametrize(
    "plain",
    [
        None,
        True,
        -31,
        0.1,
        1 + 2j,
        "a\ud800b",
        b"\x00a",
        bytearray(b"b"),
        [1, (2, {3}), frozenset({4})],
        {"a": {1: None}},
        ...,
        range(1, 9, 2),
        dt.datetime(2020, 1, 2, 3, 4, 5, 6, tzinfo=dt.UTC),
        dt.timedelta(days=-1, seconds=2),
        decimal.Decimal("1.50"),
        pathlib.Path("/a/b"),
    ],
)
def test_a_plain_value_comes_back_from_its_data(runner, plain):
    def opaque(_value, _depth):
        raise AssertionError

    data = json.loads(json.dumps(runner["as_data"](plain, opaque)))

    assert runner["from_data"](data, []) == plain
    assert type(runner["from_data"](data, [])) is type(plain)


def test_a_call_is_made_on_what_earlier_steps_made(runner):
    steps = [["f", "collections:deque", [["l", [ONE]]], []], ["m", "append", [["v", 0], TWO], []]]

    assert runner["answer_of"](steps) == {"value": ["t", [None, ["l", [ONE, TWO]]]]}


def test_a_call_that_raises_is_answered_by_the_standard_classes_of_what_it_raises(runner):
    assert runner["answer_of"]([["f", "json:loads", [["s", "{"]], []]]) == {
        "raised": ["ValueError", "Exception", "BaseException"]
    }


def test_a_call_that_ends_its_process_loses_its_own_answer_alone(runner):
    calls = [[["f", "os:_exit", [ONE], []]], [["f", "builtins:abs", [["i", "-2"]], []]]]
    found = {}

    class Frames:
        def send(self, _kind, *, call, answer, **_fields):
            found[call] = answer

    runner["replay"]({"calls": calls, "order": 1}, Frames(), "here")

    assert found == {0: {"lost": True}, 1: {"value": TWO}}


def test_a_function_that_several_names_share_is_found_by_what_it_closes_over(runner):
    def made(word):
        def inner():
            return word

        return inner

    frame = SimpleNamespace(f_code=made("a").__code__, f_locals={"word": "b"})

    assert not runner["is_this"](made("a"), frame)
    assert runner["is_this"](made("b"), frame)


def test_nearby_inputs_differ_from_the_call_and_each_other_and_keep_its_types():
    call = [["f", "m:f", [ONE, ["s", "ab"], ["l", [TWO]], True], [["key", ["d", [[ONE, TWO]]]]]]]

    found = variants(call, {}, most=1000, seed="x")

    assert call not in found
    assert len({json.dumps(one) for one in found}) == len(found) >= 40
    assert {one[-1][2][0][0] for one in found} == {"i"}
    assert all(isinstance(one[-1][2][3], bool) for one in found)


def test_nearby_inputs_are_the_same_for_the_same_seed():
    call = [["f", "m:f", [["s", "word"]], []]]

    assert variants(call, {}, most=5, seed="a") == variants(call, {}, most=5, seed="a")
    assert len(variants(call, {}, most=5, seed="a")) == 5


def test_a_value_of_another_call_may_stand_in_the_place_of_one_of_its_type():
    calls = [[["f", "m:f", [["s", "one"]], []]], [["f", "m:f", [["s", "two"]], []]], [["f", "m:g", [["s", "x"]], []]]]

    found = variants(calls[0], pool_of(calls), most=1000, seed="x")

    assert calls[1] in found
    assert [["f", "m:f", [["s", "x"]], []]] not in found


def test_inputs_with_two_changes_are_made_where_they_are_asked_for():
    call = [["f", "m:f", [["i", "8"], ["i", "3"]], []]]

    def differing(found):
        return {sum(a != b for a, b in zip(one[0][2], call[0][2], strict=True)) for one in found}

    assert differing(variants(call, {}, most=1000, seed="x")) == {1}
    assert differing(variants(call, {}, most=0, pairs=50, seed="x")) >= {2}


def test_objects_that_a_call_works_on_are_no_values_to_change():
    assert variants([["m", "close", [["v", 0]], []]], {}, most=10, seed="x") == ()


def test_changed_lines_are_those_after_the_fix():
    text = "--- a/m.py\n+++ b/m.py\n@@ -1,4 +1,4 @@\n a\n-b\n+B\n+C\n c\n-d\n"

    assert changed_lines(patch.parse(text.encode(), trusted=True)) == {"m.py": [2, 3, 5]}


CALLS = Corpus(calls=(Call(steps=[["f", "calc:add", [ONE, ONE], []]], answer=value(TWO), telling=True),)).written()


def test_calls_survive_a_dataset_with_its_canary(tmp_path):
    task = tiny.task()
    made = tiny.dataset(tmp_path / "d", replace(task, hidden=replace(task.hidden, calls=CALLS)))
    folder = made.task_folder(task.instance_id)

    assert made.canary in (folder / "calls.json").read_text()
    assert Corpus.read(open_dataset(made.path).task(task.instance_id).hidden.calls) == Corpus.read(CALLS)


def test_text_that_is_no_unicode_survives_calls():
    corpus = Corpus(calls=(Call(steps=[["f", "m:f", [["s", "\udc80"]], []]], answer=value(["s", "\ud800"])),))

    assert Corpus.read(corpus.written()) == corpus


def test_warnings_are_no_part_of_an_answer(runner, tmp_path, monkeypatch):
    (tmp_path / "warns.py").write_text(
        "import sys, warnings\ndef f():\n    seen = []\n    warnings.showwarning = "
        "lambda *args: seen.append(1)\n    warnings.warn('x')\n    return seen\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    found = list(runner["answers_apart"]([[["f", "warns:f", [], []]]]))

    assert found == [value(["l", []])]


def test_calls_change_no_digest_of_a_task():
    task = tiny.task()
    more = replace(task, hidden=replace(task.hidden, calls=CALLS))

    assert task.digest() == more.digest()
    assert hidden_digest(hidden_files(task.hidden)) == hidden_digest(hidden_files(more.hidden))


def test_a_broken_calls_file_is_named(tmp_path):
    made = tiny.dataset(tmp_path / "d", tiny.task())
    folder = made.task_folder("tiny__calc-1")
    (folder / "calls.json").write_text("[")

    with pytest.raises(InputError, match=r"calls\.json is broken"):
        read_hidden(folder)


@pytest.mark.parametrize(
    "data", [b"{}", b'{"schema_version": 1, "calls": [{}]}', b'{"schema_version": 2, "calls": []}']
)
def test_calls_of_another_form_are_refused(data):
    with pytest.raises(ValueError, match=r"calls\.json"):
        Corpus.read(data)
