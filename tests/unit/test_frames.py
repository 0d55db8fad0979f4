"""The result channel: every frame is held against its number, signature and form."""

from __future__ import annotations

import json
import time

import pytest

from harness.judging.frames import Keys, has_shape, read, sign

KEYS = Keys(supervisor=b"s" * 32, tests=b"t" * 32)
EXIT = {"t": "exit", "signal": 9}


def frame(sender: str, number: int, **fields) -> bytes:
    head, body = f"{sender}{number}".encode(), json.dumps(fields).encode()
    key = KEYS.supervisor if sender == "s" else KEYS.tests
    return head + b" " + sign(key, head, body) + b" " + body + b"\n"


def test_signed_frames_in_order_are_taken():
    found = read(frame("s", 0, t="ready") + frame("t", 0, t="finish") + b"\n" + frame("s", 1, t="exit"), KEYS)
    assert found.violations == ()
    assert [one["t"] for one in (*found.supervisor, *found.tests)] == ["ready", "exit", "finish"]


def test_a_replay_is_a_violation():
    once = frame("t", 0, t="report")
    assert len(read(once + once, KEYS).violations) == 1


def test_a_gap_is_a_violation():
    assert "number 1 where 0 was due" in read(frame("t", 1, t="report"), KEYS).violations[0]


def test_another_key_is_a_violation():
    assert "signature" in read(frame("t", 0, t="x").replace(b"t0", b"s0"), KEYS).violations[0]


def test_printed_text_is_a_violation():
    assert read(b"PASSED\n", KEYS).violations == ("frame 1: not a frame",)


def test_a_blank_line_is_a_violation_unless_the_supervisor_follows():
    assert read(b"\n", KEYS).violations
    assert read(b"\n" + frame("t", 0, t="x"), KEYS).violations


def test_a_frame_after_the_last_one_is_a_violation():
    assert read(frame("t", 0, t="finish") + frame("t", 1, t="report"), KEYS).violations


def test_a_line_cut_short_at_the_end_is_none():
    assert read(frame("t", 0, t="x") + b"t1 abc", KEYS).violations == ()


def test_a_line_cut_short_by_a_kill_that_the_supervisor_saw_is_none():
    assert read(b"t0 abc\n" + frame("s", 0, **EXIT), KEYS).violations == ()


def test_the_supervisor_may_tell_more_after_a_kill():
    killed = b"t0 abc\n" + frame("s", 0, **EXIT) + frame("s", 1, t="after")
    assert read(killed, KEYS).violations == ()


def test_half_a_line_after_the_kill_is_a_violation():
    later = frame("s", 0, **EXIT) + b"t0 abc\n" + frame("s", 1, t="after")
    assert read(later, KEYS).violations


def test_half_a_line_after_the_finish_is_a_violation():
    assert read(frame("t", 0, t="finish") + b"t1 abc\n" + frame("s", 0, **EXIT), KEYS).violations


def test_half_a_line_of_a_process_that_ended_by_itself_is_a_violation():
    assert read(b"t0 abc\n" + frame("s", 0, t="exit", signal=None), KEYS).violations


def test_brackets_without_end_are_a_violation():
    body = b'{"t":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    line = b"t0 " + sign(KEYS.tests, b"t0", body) + b" " + body + b"\n"
    assert read(line, KEYS).violations == ("frame 1: nested too deep",)


def signed(body: bytes) -> bytes:
    return b"t0 " + sign(KEYS.tests, b"t0", body) + b" " + body + b"\n"


@pytest.mark.parametrize("number", ["1" * 400, "1" * 5000, "-9007199254740993", "1e999", "1e308", "NaN", "-Infinity"])
def test_a_number_out_of_bounds_is_a_violation(number):
    assert read(signed(b'{"t":"x","n":[%s]}' % number.encode()), KEYS).violations == (
        "frame 1: a number out of bounds",
    )


def test_nesting_is_allowed_down_to_its_limit():
    body = b'{"t":"x","n":' + b'[{"a":' * 127 + b"[]" + b"}]" * 127 + b"}"
    assert read(signed(body), KEYS).violations == ()
    assert read(signed(body.replace(b"[]", b"[[]]")), KEYS).violations == ("frame 1: nested too deep",)


def test_of_a_flood_of_lines_few_violations_are_kept_and_the_supervisors_last_word():
    found = read(frame("s", 0, t="ready") + b"\n" * 3_000_000 + frame("s", 1, t="exit"), KEYS)
    assert found.violations[0] == "more lines than any run has frames"
    assert len(found.violations) == 100
    assert [one["t"] for one in found.supervisor] == ["ready", "exit"]


def test_brackets_side_by_side_take_no_longer_than_other_text():
    body = b'{"t":"x","n":[' + b"[]," * 2_000_000 + b"[]]}"
    began = time.process_time()
    assert read(signed(body), KEYS).violations == ()
    assert time.process_time() - began < 3


def test_brackets_in_a_text_are_no_nesting():
    assert read(frame("t", 0, t="x", text='[{"\\' * 1000), KEYS).violations == ()


def test_half_a_character_becomes_an_escape_everywhere_but_in_a_value():
    sent = frame("t", 0, t="x", text="\ud800", list=[{"\udfff": "é"}]) + frame(
        "t", 1, t="value", id="\ud800", values=["\ud800"]
    )
    found = read(sent, KEYS)
    assert found.tests[0] == {"t": "x", "text": "\\ud800", "list": [{"\\udfff": "é"}]}
    assert found.tests[1] == {"t": "value", "id": "\\ud800", "values": ["\ud800"]}


def test_a_field_that_is_not_there_is_not_one_that_is_nothing():
    assert not has_shape({"t": "x"}, {"x": {"signal": (int, type(None))}})


def test_tripwires_are_signed_with_a_key_of_their_own_and_need_no_order():
    body = b'{"t": "watched"}'
    line = b"w7 " + sign(KEYS.tripwires, b"w7", body) + b" " + body + b"\n"
    found = read(line + line, KEYS)
    assert (found.violations, len(found.tripwires)) == ((), 2)


def test_a_tripwire_under_the_key_of_the_tests_is_a_violation():
    body = b'{"t": "watched"}'
    line = b"w0 " + sign(KEYS.tests, b"w0", body) + b" " + body + b"\n"
    assert "signature" in read(line, KEYS).violations[0]


def test_json_with_a_text_that_does_not_end_takes_no_longer_than_other_text():
    body = b"{" + b"[" * 300 + b'"' + b'\\"' * 200_000 + b"}"
    began = time.process_time()
    assert read(b"t0 " + sign(KEYS.tests, b"t0", body) + b" " + body + b"\n", KEYS).violations
    assert time.process_time() - began < 5
