"""`re.search` that cannot take forever, from any thread.

A search cannot be interrupted, and what is searched in was written by whoever may want it to last. So a program beside
this one does it. It stays for further searches, and the kernel ends it when one takes too much of its time.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

from harness.core import process
from harness.core.errors import InfrastructureError
from harness.judging.values import Pattern

CPU_SECONDS = 1.0
"""Of one search."""
MAX_TEXT = 1024 * 1024
"""Characters, or bytes, of a text that is searched in."""
_PROGRAM = """\
import json, re, signal, sys, warnings
warnings.simplefilter("ignore")
def units(text):
    codes = memoryview(text.encode(f"utf-16-{sys.byteorder[0]}e", "surrogatepass")).cast("H")
    return "".join(map(chr, codes))
print(flush=True)
for line in sys.stdin:
    form, pattern, flags, text = json.loads(line)
    if form == "bytes":
        pattern, text = pattern.encode("latin-1"), text.encode("latin-1")
    elif form == "units":
        pattern, text = units(pattern), units(text)
    signal.setitimer(signal.ITIMER_PROF, float(sys.argv[1]))
    try:
        found = re.search(pattern, text, flags) is not None
    except Exception:
        found = None
    signal.setitimer(signal.ITIMER_PROF, 0)
    print(json.dumps(found), flush=True)
"""


class SearchError(ValueError):
    """There is no answer: it took too long, the text is too long, or the expression is none for such a text."""


def matches(pattern: Pattern, text: object) -> bool:
    """Whether the expression is found in a text, by Python's own rules.

    Raises:
        SearchError: it took longer than `CPU_SECONDS`, the text is over `MAX_TEXT`, or the expression is none for it.
        InfrastructureError: the program that searches can't be started.

    """
    binary = isinstance(pattern.pattern, bytes)
    if not isinstance(text, bytes | bytearray if binary else str) or len(text) > MAX_TEXT:
        raise SearchError("not a text that can be searched in")
    parts = [part if isinstance(part, str) else part.decode("latin-1") for part in (pattern.pattern, text)]
    form = "bytes" if binary else "units" if pattern.of_units else "text"
    question = json.dumps([form, parts[0], pattern.flags & ~re.DEBUG, parts[1]]).encode() + b"\n"
    answer = _SEARCHER.ask(question)
    if answer is None:
        raise SearchError("no answer in time, or not a regular expression")
    return answer


@dataclass(kw_only=True)
class _Searcher:
    """The program beside this one: started when it is first asked, and again after it was ended."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    running: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    program: process.Dialogue | None = None
    owner: int = 0
    """Who started it: a fork has to start its own."""

    def ask(self, question: bytes) -> bool | None:
        with self.lock:
            if self.program is None or self.owner != os.getpid():
                self._start()
            assert self.program is not None  # noqa: S101 - just started
            try:
                self.program.heard.write(question)
                self.program.heard.flush()
                answer = self.program.said.readline()
            except OSError:
                answer = b""
            if not answer:
                self.stop()
                return None
            parsed = json.loads(answer)
            return parsed if isinstance(parsed, bool) else None

    def _start(self) -> None:
        argv = [sys.executable, "-I", "-S", "-c", _PROGRAM, str(CPU_SECONDS)]
        self.running, self.owner = contextlib.ExitStack(), os.getpid()
        self.program = self.running.enter_context(process.dialogue(argv, env={}, cwd=Path("/")))
        if not self.program.said.readline():
            error_text = self.program.error_text
            self.stop()
            raise InfrastructureError(f"Python cannot be started to search with regular expressions: {error_text}")

    def stop(self) -> None:
        self.program = None
        if self.owner == os.getpid():
            self.running.close()


_SEARCHER = _Searcher()
atexit.register(_SEARCHER.stop)
