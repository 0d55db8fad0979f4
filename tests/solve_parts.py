"""What tests of the layers around a model share: a clock that is held still, a scripted model, short questions."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

from harness.solve.base import Message, Reply, Request, Sampling, Usage

START = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


class HeldClock:
    """Goes on only where somebody waits, and by as much as he waits."""

    def __init__(self) -> None:
        self.passed = 0.0
        self.waits: list[float] = []

    def monotonic(self) -> float:
        return self.passed

    def now(self) -> datetime:
        return START + timedelta(seconds=self.passed)

    def wait(self, condition: threading.Condition, seconds: float | None) -> None:
        if seconds is None:
            assert condition.wait(10), "waited for something that never came"
            return
        self.waits.append(seconds)
        self.passed += seconds
        condition.notify_all()


class ScriptedModel:
    """Gives its answers in order, raising those that are errors; the last one again and again."""

    name = "m"

    def __init__(self, *answers, then=None) -> None:
        self.answers = answers
        self.asked: list[Request] = []
        self._then = then
        self._lock = threading.Lock()

    def ask(self, request: Request) -> Reply:
        with self._lock:
            answer = self.answers[min(len(self.asked), len(self.answers) - 1)]
            self.asked.append(request)
        if self._then is not None:
            self._then(request)
        if isinstance(answer, Exception):
            raise answer
        return answer


def reply(text: str = "fine, thank you", *, read: int | None = 100, written: int | None = 10, **more) -> Reply:
    return Reply(
        message=Message(role="assistant", content=text),
        finish_reason=more.pop("finish", "stop"),
        usage=Usage(input_tokens=read, output_tokens=written, cached_input_tokens=more.pop("cached_tokens", None)),
        model=more.pop("model", "m-2026-01-01"),
        **more,
    )


def question(text: str = "how are you? " * 30, *, sample: int = 0, most: int | None = None, **sampling) -> Request:
    """By default 390 characters, and so some 100 tokens."""
    return Request(
        messages=(Message(role="user", content=text),),
        sampling=Sampling(max_output_tokens=most, **sampling),
        sample=sample,
    )
