"""Answers kept across calls: by all that matters, through crashes, for their owner alone."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date

import pytest

from harness.solve.base import Fault, Message, Request, Sampling, Tool, ToolCall, Usage
from harness.solve.models.response_cache import CACHE_FILE, Asker, ResponseCache
from tests.solve_parts import question, reply

ASKER = Asker(endpoint="https://api.example.com/v1", api="chat", model="m", day=date(2026, 11, 22))
KEY = ASKER.key(question())


@pytest.fixture
def cache(tmp_path):
    made = ResponseCache(tmp_path / "kept")
    yield made
    made.close()


def test_an_answer_comes_back_as_it_was_and_says_that_it_was_kept(cache):
    given = replace(
        reply(cached_tokens=7, cost=0.25, request_id="req_1", seconds=3.5, first_token_seconds=0.5),
        message=Message(
            role="assistant",
            content="naïve 😀 ✓",
            tool_calls=(ToolCall(call_id="1", name="read", arguments="{"),),
        ),
    )
    cache.store(KEY, given)
    assert cache.get(KEY) == replace(given, cached=True)


def test_what_was_waited_for_an_answer_is_not_kept_with_it(cache):
    cache.store(KEY, reply(retries=(Fault.SERVER,), waited_seconds=9.0))
    assert (cache.get(KEY).retries, cache.get(KEY).waited_seconds) == ((), 0.0)


def test_an_unknown_question_has_no_answer(cache):
    assert cache.get(KEY) is None


OTHER = {
    "endpoint": replace(ASKER, endpoint="https://other.example.com/v1").key(question()),
    "api": replace(ASKER, api="responses").key(question()),
    "model": replace(ASKER, model="n").key(question()),
    "day of a floating name": replace(ASKER, day=date(2026, 11, 23)).key(question()),
    "snapshot": replace(ASKER, day=None).key(question()),
    "text": ASKER.key(question("something else")),
    "sample": ASKER.key(question(sample=1)),
    "temperature": ASKER.key(question(temperature=0.7)),
    "top_p": ASKER.key(question(top_p=0.9)),
    "seed": ASKER.key(question(seed=1)),
    "length": ASKER.key(question(most=9)),
    "role": ASKER.key(replace(question(), messages=(replace(question().messages[0], role="system"),))),
    "tools": ASKER.key(replace(question(), tools=(Tool(name="read", description="", parameters={}),))),
    "parameters": ASKER.key(replace(question(), tools=(Tool(name="read", description="", parameters={"a": 1}),))),
    "further settings": ASKER.key(replace(question(), extra={"stop": ["x"]})),
}


@pytest.mark.parametrize("what", OTHER)
def test_what_an_answer_depends_on_is_in_its_key(what):
    assert OTHER[what] != KEY
    assert len(set(OTHER.values())) == len(OTHER)


def test_a_slash_at_the_end_of_a_url_is_no_other_endpoint():
    assert replace(ASKER, endpoint="https://api.example.com/v1/").key(question()) == KEY


def test_the_key_depends_on_every_field_of_a_question():
    """A field that is added to these has to be added to the key, or one model's answer could be another's."""
    assert set(Request.__dataclass_fields__) == {"messages", "tools", "sampling", "sample", "extra"}
    assert set(Tool.__dataclass_fields__) == {"name", "description", "parameters"}
    assert set(Sampling.__dataclass_fields__) == {"temperature", "top_p", "seed", "max_output_tokens"}


def test_what_broke_off_is_not_kept(cache):
    cache.store(KEY, reply(finish="cut"))
    assert cache.get(KEY) is None


def test_only_its_owner_can_read_it(cache):
    cache.store(KEY, reply())
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in cache.path.parent.iterdir()}
    assert set(modes.values()) == {0o600}
    assert CACHE_FILE in modes
    assert stat.S_IMODE(cache.path.parent.stat().st_mode) == 0o700


def test_no_question_is_written_into_it(cache):
    cache.store(ASKER.key(question("the customer's own code")), reply())
    assert b"customer" not in b"".join(path.read_bytes() for path in cache.path.parent.iterdir())


@pytest.mark.parametrize("damage", [b"this is no database at all" * 100, None])
def test_a_broken_file_is_told_moved_aside_and_begun_anew(tmp_path, damage):
    told: list[str] = []
    first = ResponseCache(tmp_path)
    for number in range(200):
        first.store(ASKER.key(question(sample=number)), reply("long " * 200))
    first.close()
    data = first.path.read_bytes()
    first.path.write_bytes(damage or data[:4096] + random.Random(1).randbytes(len(data) - 4096))
    cache = ResponseCache(tmp_path, note=told.append)
    for number in range(200):
        assert cache.get(ASKER.key(question(sample=number))) in (None, replace(reply("long " * 200), cached=True))
    cache.store(KEY, reply())
    cache.store(KEY, reply())
    assert cache.get(KEY) is not None
    assert len(told) == 1
    assert "broken" in told[0]
    assert len(list(tmp_path.glob("*.broken-*"))) == 1
    cache.close()


def test_an_answer_whose_bytes_changed_is_no_answer(cache):
    cache.store(KEY, reply("say yes"))
    cache.close()
    with sqlite3.connect(cache.path) as connection:
        connection.execute("UPDATE replies SET body = CAST(replace(body, 'say yes', 'say no!') AS BLOB)")
    connection.close()
    assert cache.get(KEY) is None


def test_a_folder_that_cannot_be_written_is_done_without_and_told_once(tmp_path, monkeypatch):
    told: list[str] = []
    cache = ResponseCache(tmp_path, note=told.append)

    def full(*_args, **_kwargs):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(sqlite3, "connect", full)
    cache.store(KEY, reply())
    assert cache.get(KEY) is None
    assert len(told) == 1
    assert "disk is full" in told[0]


def test_it_stays_under_its_size_and_drops_the_oldest(tmp_path):
    cache = ResponseCache(tmp_path, max_mb=1)
    keys = [ASKER.key(question(sample=number)) for number in range(300)]
    for key in keys:
        cache.store(key, reply("x" * 10_000))
    assert cache.get(keys[0]) is None
    assert cache.get(keys[-1]) is not None
    cache.close()
    assert cache.path.stat().st_size < 1.2 * 1024 * 1024


def test_threads_share_it(cache):
    def work(number: int) -> bool:
        key = ASKER.key(question(sample=number % 20))
        cache.store(key, reply(str(number % 20)))
        return cache.get(key).message.content == str(number % 20)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(200)))


def _fill(folder, first: int, ready, forever: bool) -> None:
    cache = ResponseCache(folder)
    number = first
    while forever or number < first + 50:
        cache.store(ASKER.key(question(sample=number)), reply(str(number)))
        ready.set()
        number += 1
    cache.close()


def test_processes_share_it(tmp_path):
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    other = context.Process(target=_fill, args=(tmp_path, 0, ready, False))
    other.start()
    assert ready.wait(60)
    _fill(tmp_path, 50, ready, False)
    other.join(60)
    assert other.exitcode == 0
    cache = ResponseCache(tmp_path)
    assert all(cache.get(ASKER.key(question(sample=number))) for number in range(100))
    cache.close()


def test_a_process_killed_while_it_writes_leaves_it_whole(tmp_path):
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    worker = context.Process(target=_fill, args=(tmp_path, 0, ready, True))
    worker.start()
    assert ready.wait(60)
    os.kill(worker.pid, signal.SIGKILL)
    worker.join(60)
    told: list[str] = []
    cache = ResponseCache(tmp_path, note=told.append)
    assert cache.get(ASKER.key(question(sample=0))).message.content == "0"
    cache.store(KEY, reply())
    assert told == []
    cache.close()


def test_usage_that_is_unknown_stays_unknown(cache):
    cache.store(KEY, replace(reply(), usage=Usage()))
    assert cache.get(KEY).usage == Usage()
