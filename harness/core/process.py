"""The one place that starts a program: argv lists only, never a shell string."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess  # noqa: TID251 - this is the place
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from harness.core.errors import InfrastructureError

GIT_IDENTITY = {
    f"GIT_{role}_{field}": value
    for role in ("AUTHOR", "COMMITTER")
    for field, value in (("NAME", "goldseam"), ("EMAIL", "goldseam@localhost"), ("DATE", "2000-01-01T00:00:00Z"))
}
"""Variables by which the commits that goldseam makes itself are the same each time."""
_STDERR_SHOWN = 2000
_POLL_SECONDS = 0.25
_APPLY_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class Completed:
    """A program that has ended: exit code, and its two streams as raw bytes."""

    argv: tuple[str, ...]
    returncode: int
    stdout: bytes
    stderr: bytes

    @property
    def error_text(self) -> str:
        """The end of standard error, decoded for a person."""
        return self.stderr.decode("utf-8", "replace").strip()[-_STDERR_SHOWN:]


class ProgramError(InfrastructureError):
    """A program that had to succeed did not."""

    def __init__(self, completed: Completed) -> None:
        self.completed = completed
        program = " ".join(completed.argv[:4])
        super().__init__(f"{program} … ended with exit code {completed.returncode}: {completed.error_text}")


def which(program: str) -> str | None:
    """The path of a program, or None."""
    return shutil.which(program)


@contextlib.contextmanager
def _starting(words: Sequence[str]) -> Iterator[None]:
    """Tell what could not be started, and why."""
    try:
        yield
    except FileNotFoundError as error:
        if error.filename not in (None, words[0]):
            raise InfrastructureError(f"{words[0]} cannot be started in {error.filename}: no such folder") from error
        raise InfrastructureError(f"{words[0]} is not installed", hint=f"install {words[0]}") from error
    except OSError as error:
        raise InfrastructureError(f"{words[0]} cannot be started: {error.strerror}") from error


def _words(argv: Sequence[str | os.PathLike[str]]) -> tuple[str, ...]:
    return tuple(os.fspath(word) for word in argv)


def _environment(env: Mapping[str, str] | None) -> dict[str, str]:
    return {**os.environ, **(env or {})}


def run(
    argv: Sequence[str | os.PathLike[str]],
    *,
    input: bytes | None = None,  # noqa: A002 - subprocess's own word
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float | None = None,
    check: bool = True,
) -> Completed:
    """Run a program to its end.

    `env` is added to the current environment; `timeout` is in seconds.

    Raises:
        InfrastructureError: the program can't be started, or took too long.
        ProgramError: `check` is on and the exit code is not 0.

    """
    words = _words(argv)
    try:
        with _starting(words):
            ended = subprocess.run(
                words,
                input=input,
                stdin=subprocess.DEVNULL if input is None else None,
                capture_output=True,
                env=_environment(env),
                cwd=cwd,
                timeout=timeout,
                check=False,
            )
    except subprocess.TimeoutExpired as error:
        raise InfrastructureError(f"{' '.join(words[:4])} … took more than {timeout:g} s") from error
    completed = Completed(argv=words, returncode=ended.returncode, stdout=ended.stdout, stderr=ended.stderr)
    if check and completed.returncode != 0:
        raise ProgramError(completed)
    return completed


def apply_patch(patch: bytes, folder: Path) -> None:
    """Apply a patch to the files in a folder, whatever repository that may lie in.

    Raises:
        ProgramError: it does not apply.

    """
    argv = ["git", "apply", "--whitespace=nowarn", "-"]
    run(argv, input=patch, cwd=folder, env={"GIT_CEILING_DIRECTORIES": str(folder.parent)}, timeout=_APPLY_SECONDS)


@contextlib.contextmanager
def _piped(
    words: Sequence[str], *, stdin: int, errors: IO[bytes], env: Mapping[str, str] | None, cwd: Path | None
) -> Iterator[subprocess.Popen[bytes]]:
    """A program that is started in a session of its own, with its standard output in a pipe."""
    with _starting(words):
        child = subprocess.Popen(
            words, stdin=stdin, stdout=subprocess.PIPE, stderr=errors, env=env, cwd=cwd, start_new_session=True
        )
    with child:
        yield child


@contextlib.contextmanager
def stream(
    argv: Sequence[str | os.PathLike[str]],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Iterator[IO[bytes]]:
    """Start a program and yield its standard output; the program is gone when the block ends.

    Leaving the block early ends the program quietly; leaving it at end of file checks the exit code.

    Raises:
        InfrastructureError: the program can't be started.
        ProgramError: the output was read to its end and the exit code is not 0.

    """
    words = _words(argv)
    with tempfile.TemporaryFile() as errors:  # a file, not a pipe: nobody drains it while the caller reads
        with _piped(words, stdin=subprocess.DEVNULL, errors=errors, env=_environment(env), cwd=cwd) as child:
            assert child.stdout is not None  # noqa: S101 - narrows the type; PIPE was asked for
            try:
                yield child.stdout
                ended = child.stdout.read(1) == b""
            except BaseException:
                _kill(child)
                raise
            if not ended:
                _kill(child)
                return
            code = child.wait()
        errors.seek(0)
        stderr = errors.read()
    if code != 0:
        raise ProgramError(Completed(argv=words, returncode=code, stdout=b"", stderr=stderr))


@contextlib.contextmanager
def dialogue(argv: Sequence[str | os.PathLike[str]], *, env: Mapping[str, str], cwd: Path) -> Iterator[Dialogue]:
    """Start a program to talk with, line by line; it and all that it started are gone when the block ends.

    `env` is all of its environment: none of this process's own variables, and so no keys.

    Raises:
        InfrastructureError: the program can't be started.

    """
    words = _words(argv)
    with (
        tempfile.TemporaryFile() as errors,
        _piped(words, stdin=subprocess.PIPE, errors=errors, env=dict(env), cwd=cwd) as child,
    ):
        assert child.stdin is not None  # noqa: S101 - narrows the type; PIPE was asked for
        assert child.stdout is not None  # noqa: S101
        try:
            yield Dialogue(said=child.stdout, heard=child.stdin, errors=errors)
        finally:
            _kill(child)


@dataclass(frozen=True, kw_only=True)
class Dialogue:
    """Both ends of a program that is talked with."""

    said: IO[bytes]
    """What it writes."""
    heard: IO[bytes]
    """What it reads."""
    errors: IO[bytes]

    @property
    def error_text(self) -> str:
        """The end of its standard error, decoded for a person."""
        self.errors.seek(0)
        return self.errors.read().decode("utf-8", "replace").strip()[-_STDERR_SHOWN:]


@dataclass(frozen=True, kw_only=True)
class Bounded:
    """How a program that was watched over ended."""

    returncode: int
    output: bytes
    """The end of both streams."""
    timed_out: bool


def run_bounded(
    argv: Sequence[str | os.PathLike[str]],
    *,
    env: Mapping[str, str],
    cwd: Path,
    seconds: float,
    max_output: int,
    stop: Callable[[], bool] = lambda: False,
) -> Bounded:
    """Run a program to its end, the end of its time, or until `stop` says so; then all that it started is ended, too.

    `env` is all of its environment. Output goes to a temporary file, and its last `max_output` bytes are returned.

    Raises:
        InfrastructureError: the program can't be started.

    """
    words = _words(argv)
    deadline = time.monotonic() + seconds
    with tempfile.TemporaryFile() as out:
        with _starting(words):
            child = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=dict(env), cwd=cwd, start_new_session=True
            )
        with child:
            timed_out = False
            try:
                while not (timed_out or stop()):
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        child.wait(min(_POLL_SECONDS, max(0.0, deadline - time.monotonic())))
                        break
                    timed_out = time.monotonic() >= deadline
            finally:
                _kill(child)  # and what it left in the background
        size = out.seek(0, os.SEEK_END)
        out.seek(max(0, size - max_output))
        return Bounded(returncode=child.returncode, output=out.read(), timed_out=timed_out)


def pipe(
    first: Sequence[str | os.PathLike[str]],
    second: Sequence[str | os.PathLike[str]],
    *,
    input: bytes,  # noqa: A002 - subprocess's own word
    env: Mapping[str, str] | None = None,
) -> Completed:
    """Run two programs, the first one's output being the second one's input; none of it passes through our memory.

    Returns the second's streams; where the first failed, its exit code and its errors.

    Raises:
        InfrastructureError: one of them can't be started.

    """
    argv = _words(first)
    with tempfile.TemporaryFile() as questions, tempfile.TemporaryFile() as errors:
        questions.write(input)
        questions.seek(0)
        words = _words(second)
        with _starting(argv):
            source = subprocess.Popen(
                argv, stdin=questions, stdout=subprocess.PIPE, stderr=errors, env=_environment(env)
            )
        with source, _starting(words):
            completed = subprocess.run(
                words, stdin=source.stdout, capture_output=True, env=_environment(env), check=False
            )
            if source.stdout is not None:
                source.stdout.close()
            code = source.wait()
        errors.seek(0)
        stderr = errors.read()
    if code != 0:
        return Completed(argv=argv, returncode=code, stdout=b"", stderr=stderr)
    return Completed(argv=words, returncode=completed.returncode, stdout=completed.stdout, stderr=completed.stderr)


def _kill(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
