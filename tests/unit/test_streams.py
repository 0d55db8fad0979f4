"""Streams of a container: taken apart however they arrive, floods cut in the middle."""

from __future__ import annotations

import struct

import pytest

from harness.sandbox.streams import STDERR, STDOUT, Clipped, Demultiplexer


def chunk(stream: int, data: bytes) -> bytes:
    return struct.pack(">BxxxI", stream, len(data)) + data


@pytest.mark.parametrize("size", [1, 3, 8, 9, 1000])
def test_streams_are_told_apart_however_the_bytes_arrive(size):
    data = chunk(STDOUT, b"out") + chunk(STDERR, b"error") + chunk(STDOUT, b"") + chunk(STDOUT, b"put")
    streams = Demultiplexer(stdout_limit=100, stderr_limit=100)
    for at in range(0, len(data), size):
        streams.feed(data[at : at + size])
    assert (bytes(streams.stdout), streams.stderr.value()) == (b"output", b"error")


def test_a_flooded_result_channel_is_known():
    streams = Demultiplexer(stdout_limit=4, stderr_limit=4)
    streams.feed(chunk(STDOUT, b"12345"))
    assert streams.stdout_overflow


@pytest.mark.parametrize("limit", [4, 11, 16, 100])
def test_the_closing_word_ends_both_streams_and_is_no_part_of_them(limit):
    data = [
        *(chunk(STDOUT, b"frames b"), chunk(STDERR, b"printed"), chunk(STDERR, b"by"), chunk(STDOUT, b"y")),
        *(chunk(STDOUT, b"e"), chunk(STDERR, b"e")),
    ]
    streams = Demultiplexer(stdout_limit=100, stderr_limit=limit, closing=b"bye")
    plain = Clipped(limit)
    plain.write(b"printed")
    for one in data:
        assert not streams.closed()
        streams.feed(one)
    assert streams.closed()
    assert (bytes(streams.stdout), streams.stderr.size) == (b"frames ", 7)
    assert streams.stderr.value() in (
        plain.value(),
        b"printed"[: limit // 2] + b"\n[\xe2\x80\xa6 5 bytes left out \xe2\x80\xa6]\n",
    )
    assert not Demultiplexer(stdout_limit=9, stderr_limit=9).closed()


def test_what_comes_after_a_closing_word_makes_it_none():
    streams = Demultiplexer(stdout_limit=100, stderr_limit=100, closing=b"bye")
    streams.feed(chunk(STDOUT, b"bye") + chunk(STDERR, b"bye") + chunk(STDERR, b"."))
    assert not streams.closed()
    assert (bytes(streams.stdout), streams.stderr.value()) == (b"bye", b"bye.")


@pytest.mark.parametrize("piece", [1, 7, 100_000])
def test_of_a_flood_the_first_and_the_last_bytes_are_kept(piece):
    clipped, data = Clipped(20), b"a" * 50 + b"b" * 200_000 + b"c" * 50
    for at in range(0, len(data), piece):
        clipped.write(data[at : at + piece])
    assert clipped.value() == b"a" * 10 + b"\n[\xe2\x80\xa6 200080 bytes left out \xe2\x80\xa6]\n" + b"c" * 10
    assert clipped.size == len(data)


def test_what_fits_is_kept_whole():
    clipped = Clipped(20)
    clipped.write(b"x" * 20)
    assert clipped.value() == b"x" * 20
