"""Hostile text is cut, made visible, and stays text."""

from __future__ import annotations

import json

import pytest

from harness.report.text import clean, ends, head, head_of_file, script_json, visible


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b[2J\x1b[1;1Htop", "top"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("\x9b31mred", "red"),
    ],
)
def test_terminal_escape_codes_are_taken_out(raw, plain):
    assert clean(raw) == plain


@pytest.mark.parametrize(
    ("raw", "name"),
    [("\u202e", "U+202E"), ("\x00", "U+0000"), ("\u200b", "U+200B"), ("\udcff", "0xFF"), ("\U000e0041", "U+E0041")],
)
def test_characters_without_a_look_of_their_own_are_named(raw, name):
    assert visible(f"a{raw}b") == f'a<span class="ctl">{name}</span>b'


def test_markup_in_a_text_is_escaped():
    assert "<" not in visible("<script>&").replace("&lt;", "").replace("&gt;", "")


def test_ordinary_text_of_any_script_is_left_alone():
    assert visible("naïve Größe 漢字 😀\tx\n") == "naïve Größe 漢字 😀\tx\n"


def test_json_for_a_script_block_holds_nothing_that_a_parser_reacts_to():
    value = {"a": "</script><!-- & \u2028\u2029 \udcff 😀"}
    text = script_json(value)
    assert not set(text) & set("<>&\u2028\u2029")
    assert text.isascii()
    assert json.loads(text) == value


def test_the_head_of_a_text_is_cut_at_a_line_and_says_its_size():
    found = head(b"one\ntwo\nthree\n", 9)
    assert (found.text, found.size, found.shown) == ("one\ntwo\n", 14, 8)


def test_a_short_text_is_not_cut():
    found = head(b"one\n", 9)
    assert (found.text, found.shown) == ("one\n", found.size)


def test_bytes_that_are_not_utf8_survive_until_they_are_shown():
    assert visible(head(b"\xff", 9).text) == '<span class="ctl">0xFF</span>'


def test_of_a_huge_log_only_both_ends_are_read_and_its_size_is_told(tmp_path):
    log = tmp_path / "log"
    with log.open("wb") as file:
        file.write(b"first line\n")
        file.truncate(50 * 1024 * 1024)
        file.seek(0, 2)
        file.write(b"\nlast line\n")
    found = ends(log, 100)
    assert found is not None
    assert (found.text, found.end) == ("first line\n", "last line\n")
    assert (found.size, found.shown) == (50 * 1024 * 1024 + 11, 21)


def test_a_short_log_is_shown_whole(tmp_path):
    log = tmp_path / "log"
    log.write_bytes(b"one\ntwo\n")
    found = ends(log, 8)
    assert found is not None
    assert (found.text, found.end, found.shown) == ("one\ntwo\n", "", found.size)


def test_of_a_huge_patch_only_the_beginning_is_read(tmp_path):
    path = tmp_path / "patch"
    path.write_bytes(b"line\n" * 100_000)
    found = head_of_file(path, 12)
    assert found is not None
    assert (found.text, found.size, found.shown) == ("line\nline\n", 500_000, 10)


def test_a_missing_file_is_no_text(tmp_path):
    assert ends(tmp_path / "none", 9) is None
    assert head_of_file(tmp_path / "none", 9) is None
