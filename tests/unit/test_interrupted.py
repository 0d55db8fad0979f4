"""Signals end the program in one way, wherever they find it."""

from __future__ import annotations

import threading

import pytest
import typer

from harness.cli.program import run_app


class Broken:
    """A lock that is interrupted where it has been let go, as a condition does while it waits."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        threading.Lock().release()


def program(error: BaseException) -> typer.Typer:
    app = typer.Typer()

    @app.command()
    def only() -> None:
        with Broken():
            raise error

    return app


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (ValueError("ours"), 70)])
def test_an_interrupt_within_a_lock_is_no_bug_and_a_bug_is(
    error: BaseException,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: object,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("GOLDSEAM_CACHE_DIR", str(tmp_path))
    assert run_app(program(error), []) == code
    assert ("a bug in goldseam" in capsys.readouterr().err) is (code == 70)
