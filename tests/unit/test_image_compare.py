"""What counts as a difference between two images."""

from __future__ import annotations

import io

import pytest

from miner.images import rebuild


def digest(name: str, data: bytes) -> str:
    return rebuild.digest(name, io.BytesIO(data))


def pyc(flags: int, source: bytes, code: bytes) -> bytes:
    return b"\xa7\r\r\n" + flags.to_bytes(4, "little") + source + code


def test_byte_code_is_the_same_where_its_source_is():
    name = "opt/x/__pycache__/a.cpython-311.pyc"
    assert digest(name, pyc(3, b"12345678", b"one")) == digest(name, pyc(3, b"12345678", b"two"))
    assert digest(name, pyc(3, b"12345678", b"one")) != digest(name, pyc(3, b"87654321", b"one"))


def test_byte_code_that_knows_a_time_is_compared_by_its_python():
    assert digest("a.pyc", pyc(0, b"11111111", b"one")) == digest("a.pyc", pyc(0, b"22222222", b"two"))


@pytest.mark.parametrize(
    "name",
    [
        "testbed/.git/index",
        "opt/x-1.dist-info/uv_cache.json",
        "opt/goldseam/rust/target/debug/deps/libx-2e84.rlib",
    ],
)
def test_what_holds_times_by_nature_is_the_same(name):
    assert digest(name, b"one") == digest(name, b"two")


def test_a_record_is_the_same_in_any_order_and_without_what_holds_times():
    one, other = b"a,1\nx-1.dist-info/uv_cache.json,sha256=1,5\nb,2\n", b"b,2\na,1\n"
    assert digest("x-1.dist-info/RECORD", one) == digest("x-1.dist-info/RECORD", other)
    assert digest("x-1.dist-info/RECORD", one) != digest("x-1.dist-info/RECORD", b"a,1\n")


def test_contents_modes_and_lacking_files_are_told_apart():
    ours = {"a": "file:644:0:0 1", "b": "file:644:0:0 1", "c": "file:644:0:0 1", "d": "link:777:0:0 x"}
    theirs = {"a": "file:644:0:0 2", "b": "file:755:0:0 1", "d": "link:777:0:0 x", "e": "folder:755:0:0 "}
    assert rebuild.differences(ours, theirs) == {
        "a": "content",
        "b": "file:644:0:0 and file:755:0:0",
        "c": "only in the first",
        "e": "only in the second",
    }
