"""What a driver takes of the frames that a program of tests writes."""

from __future__ import annotations

import json
import re
import sys

import pytest

from harness.core import process
from harness.languages.parts import part
from miner.languages.recording import MAX_EVENTS

WRITES = """
import os
with open("/proc/self/fd/3", "w") as out:
    for n in range({count}):
        out.write('w {{"t":"value","name":"TestA","slot":1}}\\n')
    out.write('w {{"t":"value","name":"TestA","slot":2}}\\nw {{"t":"value","name":"TestB","slot":1}}\\n')
    out.write('w {{"t":"report","name":"TestA"}}\\nw {{"t":"done"}}\\n')
"""
ASKS = """
ran = Run([sys.executable, "-c", sys.argv[1]], ".", "w", "", None)
kinds = [(frame["t"], frame["name"], frame.get("slot")) for frame in ran.frames]
os.write(1, json.dumps([ran.done, ran.forged, [[*kind, kinds.count(kind)] for kind in dict.fromkeys(kinds)]]).encode())
"""


LEAVES = """
import socket
near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
near.send(b"asked")
far.close()
os.write(1, repr([piece(near.fileno()), piece(near.fileno())]).encode())
"""


def run(program: str, *words: str) -> bytes:
    """What a program prints that child.py stands before."""
    source = f"import sys\n{part('child.py')}\n{program}"
    return process.run(["bash", "-c", 'exec 3>/dev/null; exec "$@"', "-", sys.executable, "-c", source, *words]).stdout


def test_a_program_that_goes_with_a_request_unread_has_said_all():
    assert run(LEAVES) == b"[b'', b'']"


def test_of_an_assertion_one_value_more_is_taken_than_is_judged():
    assert json.loads(run(ASKS, WRITES.format(count=MAX_EVENTS + 1000))) == [
        True,
        False,
        [
            ["value", "TestA", 1, MAX_EVENTS + 1],
            ["value", "TestA", 2, 1],
            ["value", "TestB", 1, 1],
            ["report", "TestA", None, 1],
        ],
    ]


@pytest.mark.parametrize(
    ("name", "language"), [("child.py", ""), ("handout.py", "python"), ("handout.js", "javascript")]
)
def test_every_place_that_takes_or_sends_values_has_the_number_that_is_judged(name, language):
    assert re.findall(r"MOST_VALUES = (\d+)", part(name, language)) == [str(MAX_EVENTS)]
