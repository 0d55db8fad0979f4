"""Progress of countable work: how much is done, how fast, how long the rest takes, and what runs now.

On a terminal a live line; elsewhere a line for each step and, once a minute, one that sums up.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Self

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
from rich.table import Column
from rich.text import Text

from harness.cli.shell.output import CHOICE
from harness.core.printable import visible

if TYPE_CHECKING:
    from rich.console import Console

MINUTE = 60.0
_HOUR = 60 * MINUTE
_WIDE = 100
"""Columns from which a long bar leaves room for what runs now."""
_STEPS = 2
"""Steps from which a rate says something."""


class Pace:
    """How fast steps are done in this call, and how long the rest takes at that pace."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start = clock()
        self.total: int | None = None
        self.done = 0
        self._earlier = 0
        self._last = self._start

    def expect(self, total: int, *, done: int = 0) -> None:
        """How many steps there are in all, and how many of them an earlier call did."""
        self.total, self.done, self._earlier, self._start = total, done, done, self._clock()
        self._last = self._start

    def step(self) -> None:
        self.done += 1
        self._last = self._clock()

    @property
    def seconds(self) -> float:
        """Since the work began."""
        return self._clock() - self._start

    @property
    def rate(self) -> float | None:
        """Steps a second; None while there are too few to tell. It holds until the next step is late."""
        steps = self.done - self._earlier
        if steps < _STEPS or self.seconds <= 0:
            return None
        return steps / max(self._last - self._start, self.seconds - self._interval)

    @property
    def _interval(self) -> float:
        """Seconds from one step to the next, up to the last one."""
        return (self._last - self._start) / (self.done - self._earlier)

    @property
    def left(self) -> float | None:
        """Seconds that the rest takes at this rate; None where that can't be told."""
        rate = self.rate
        if rate is None or self.total is None:
            return None
        return max((self.total - self.done) / rate - min(self._clock() - self._last, self._interval), 0.0)

    def count(self) -> str:
        """Such as `12 of 40`, or `12 done` where nobody knows of how many."""
        return f"{self.done} done" if self.total is None else f"{self.done} of {self.total}"

    def sentence(self) -> str:
        """Rate and remaining time, such as `8.1/min, 41 min left`; the time so far while there is no rate."""
        rate, left = self.rate, self.left
        if rate is None:
            return duration(self.seconds)
        pace = f"{rate * MINUTE:.1f}/min" if rate < 1 else f"{rate:.1f}/s"
        return pace if left is None else f"{pace}, {duration(left)} left"


_NOTE = 200
"""Characters of what runs now: some candidates at a time."""
_MOST_LINES = 8
"""Lines of a terminal that tell what runs now, one for each thing."""


def duration(seconds: float) -> str:
    """`40 s`, `12 min`, `3.5 h`."""
    if seconds < MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / MINUTE:.0f} min" if seconds < 2 * _HOUR else f"{seconds / _HOUR:.1f} h"


class Ticker:
    """The display of one piece of work: nothing where `quiet` (or with `--quiet`)."""

    def __init__(
        self,
        console: Console,
        title: str,
        *,
        quiet: bool = False,
        every: float = MINUTE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._console = console
        self._title = title
        self._quiet = quiet or CHOICE.quiet
        self._live = console.is_terminal and not self._quiet
        self._every = every
        self._pace = Pace(clock)
        self._note = ""
        self._spent = ""
        self._running: dict[str, str] = {}
        self._stopped = threading.Event()
        self._beats: threading.Thread | None = None
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20 if console.width >= _WIDE else 8),
            _PaceColumn(self._pace),
            TextColumn(
                "{task.fields[note]}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1)
            ),
            console=console,
            transient=True,
            expand=True,
            disable=not self._live,
        )
        self._task = self._progress.add_task(title, total=None, note="")

    def __enter__(self) -> Self:
        self._progress.start()
        if not self._live and not self._quiet:
            self._beats = threading.Thread(target=self._beat, name="goldseam-progress", daemon=True)
            self._beats.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        if self._beats is not None:
            self._beats.join()
        self._progress.stop()

    def expect(self, total: int, *, done: int = 0) -> None:
        """How many steps there are in all, and how many of them an earlier call did."""
        self._pace.expect(total, done=done)
        self._progress.update(self._task, total=total, completed=done)

    def note(self, text: str) -> None:
        """What runs now: on a terminal beside the bar, elsewhere in the line a minute; a line each with `--verbose`."""
        self._show_notes((text,))
        self._tell(self._note)

    def _show_notes(self, texts: Sequence[str]) -> None:
        self._note = visible("; ".join(texts), limit=_NOTE)
        lines = [visible(text, limit=_NOTE) for text in texts[:_MOST_LINES]]
        more = [f"and {len(texts) - _MOST_LINES} more"] if len(texts) > _MOST_LINES else []
        self._progress.update(self._task, note="\n".join([*lines, *more]))

    def _tell(self, text: str) -> None:
        if CHOICE.verbose and text:
            self.say(Text(f"{self._title}: {text}", style="bright_black"))

    def running(self, key: str, name: str) -> None:
        """One thing is under way from now on, until `ended` has its key; told from any thread, once a step of it."""
        self._running[key] = name
        self._show_running()
        self._tell(name)

    def ended(self, key: str) -> None:
        """What `running` told is over."""
        self._running.pop(key, None)
        self._show_running()

    def spent(self, text: str) -> None:
        """What the work has cost so far; shown beside what runs now."""
        self._spent = text

    def _show_running(self) -> None:
        self._show_notes(tuple(filter(None, (*self._running.values(), self._spent))))

    def step(self, line: Text) -> None:
        """One more step is done; `line` tells what came of it."""
        self._pace.step()
        self._progress.update(self._task, advance=1)
        if self._live:
            self._progress.console.print(line, soft_wrap=False)
        elif not self._quiet:
            counter = f"[{self._pace.done}/{self._pace.total}] " if self._pace.total else ""
            self._console.print(Text(counter) + line)

    def say(self, line: Text) -> None:
        """A line that is no step."""
        if not self._quiet:
            self._progress.console.print(line, soft_wrap=not self._live)

    def summary(self) -> Text:
        """The line of a minute: done of total, rate, remaining time, and what runs now."""
        now = f"; now: {self._note}" if self._note else ""
        return Text(f"{self._title}: {self._pace.count()}, {self._pace.sentence()}{now}")

    def _beat(self) -> None:
        while not self._stopped.wait(self._every):
            self._console.print(self.summary())


class _PaceColumn(TextColumn):
    """How much is done, rate and remaining time."""

    def __init__(self, pace: Pace) -> None:
        super().__init__("", markup=False, table_column=Column(no_wrap=True))
        self._pace = pace

    def render(self, _task: object) -> Text:
        return Text.assemble((self._pace.count(), "progress.download"), " ", (self._pace.sentence(), "bright_black"))
