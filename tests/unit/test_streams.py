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
