"""Files that a user names: what is no regular file is written in place, links are followed, `-` is standard output."""

from __future__ import annotations

import os
import pty
import threading
from pathlib import Path

import pytest

from harness.cli.options import one_result_on_stdout
from harness.core import files
from harness.core.errors import InfrastructureError, InputError


def test_a_pipe_stays_a_pipe_and_its_reader_gets_the_data(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    files.write_result(pipe, b"told")
    reader.join(timeout=120)
    assert got == [b"told"]
    assert pipe.is_fifo()


def test_a_device_stays_a_device() -> None:
    controller, terminal = pty.openpty()
    place = Path(os.ttyname(terminal))
    before = place.stat()
    files.write_result(place, b"told\n")
    assert os.read(controller, 4) == b"told"
    assert place.stat().st_rdev == before.st_rdev
    os.close(controller)
    os.close(terminal)


def test_a_link_is_followed_and_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "real" / "page.html", tmp_path / "link.html"
    target.parent.mkdir()
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    files.write_result(link, b"new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o600


def test_a_dangling_link_makes_the_file_that_it_names(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "later")
    files.write_result(link, b"new")
    assert (tmp_path / "later").read_bytes() == b"new"
    assert link.is_symlink()


def test_a_dash_is_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    files.write_result(files.STANDARD_OUTPUT, b"told")
    assert capfdbinary.readouterr().out == b"told"


def test_a_full_device_is_told_as_a_full_disk() -> None:
    with pytest.raises(InfrastructureError, match="no space left"):
        files.write_result(Path("/dev/full"), b"x" * 100_000)
    assert Path("/dev/full").is_char_device()


@pytest.mark.parametrize("name", ["/proc/none/file", "/dev/null/file", "/tmp/" + "x" * 300])
def test_a_bad_place_has_one_exit_code(name: str) -> None:
    with pytest.raises(InputError, match="cannot write"):
        files.write_result(Path(name), b"x")


def test_two_results_are_not_mixed_on_standard_output(tmp_path: Path) -> None:
    dash = files.STANDARD_OUTPUT
    assert not one_result_on_stdout(tmp_path, None, other=True)
    assert one_result_on_stdout(dash, tmp_path)
    for named, other in (((dash, dash), False), ((dash,), True)):
        with pytest.raises(InputError, match="standard output"):
            one_result_on_stdout(*named, other=other)


@pytest.mark.parametrize("place", ["-", "/dev/null", "."])
def test_a_file_that_grows_by_lines_is_no_device_pipe_or_folder(place: str) -> None:
    with pytest.raises(InputError, match="not a file that lines can be added to"):
        files.refuse_special(Path(place))


def test_a_file_that_grows_by_lines_may_be_new_or_there(tmp_path: Path) -> None:
    files.refuse_special(tmp_path / "new")
    (tmp_path / "there").write_text("{}\n")
    files.refuse_special(tmp_path / "there")
