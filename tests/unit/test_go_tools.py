"""How Go comes into an image, and its driver, on real folders and a module proxy of this machine."""

from __future__ import annotations

import io
import json
import os
import sys
import zipfile
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

import miner.languages.go
from harness.config.settings import ImageSettings
from harness.core import process
from harness.languages.go.language import part
from miner.languages.go.build import layer_of_go
from tests.local_http import LocalServer

FETCH = Path(miner.languages.go.__file__).parent / "tools/toolchain.py"
VERSIONS = (
    "v0.0.1-go1.20.linux-amd64 v0.0.1-go1.20.9.linux-amd64 v0.0.1-go1.20.14.linux-amd64 v0.0.1-go1.20.99.linux-arm64"
)


class Proxy(BaseHTTPRequestHandler):
    def do_GET(self):
        prefix, _, name = self.path.rpartition("/@v/")
        data = "\n".join(VERSIONS.split()).encode() if name == "list" else self.archive(name.removesuffix(".zip"))
        self.send_response(200 if prefix == "/golang.org/toolchain" else 404)
        self.end_headers()
        self.wfile.write(data)

    def archive(self, version: str) -> bytes:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as entries:
            for name in ("bin/go", "src/fmt/fmt.go", "src/fmt/fmt_test.go", "test/a.go", "../../out.go"):
                entries.writestr(f"golang.org/toolchain@{version}/{name}", version)
        return buffer.getvalue()

    def log_message(self, *_: object) -> None:
        pass


def fetched(folder: Path, minor: str) -> process.Completed:
    with LocalServer(Proxy) as server:
        env = {**os.environ, "GOPROXY": f"http://127.0.0.1:{server.port},direct", "no_proxy": "*"}
        return process.run([sys.executable, FETCH, minor, "amd64", folder], check=False, env=env)


def test_the_newest_release_of_a_minor_version_comes_from_the_proxy_that_the_user_names(tmp_path):
    done = fetched(tmp_path / "go", "20")
    assert done.stdout.decode() == "v0.0.1-go1.20.14.linux-amd64\n", done.error_text
    files = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert files == ["go/bin/go", "go/src/fmt/fmt.go"]
    assert os.access(tmp_path / "go/bin/go", os.X_OK)


def test_a_version_that_no_proxy_has_is_an_error_that_says_so(tmp_path):
    done = fetched(tmp_path / "go", "21")
    assert (done.returncode, "the module proxy has no Go 1.21" in done.error_text) == (1, True)


def test_a_go_of_this_machine_is_copied_for_its_own_version_and_platform_alone(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/go").write_bytes(b"program")
    settings = ImageSettings(gos={"1.20": tmp_path})
    [folder] = layer_of_go("base", 20, settings).folders
    assert (folder.path, folder.context) == (tmp_path, "go-1.20")
    assert not layer_of_go("base", 21, settings).folders
    assert not layer_of_go("base", 20, settings.model_copy(update={"platform": "linux/s390x"})).folders


def test_a_folder_without_go_is_refused():
    with pytest.raises(ValueError, match="no bin/go in"):
        ImageSettings(gos={"1.20": Path("/nowhere")})


CAME = {"v1.0.0": "2016-03-01", "v1.1.0": "2017-05-01", "v1.1.1": "2018-02-01", "v2.0.0+incompatible": "2019-01-01"}


class Releases(BaseHTTPRequestHandler):
    def do_GET(self):
        name = self.path.removeprefix("/github.com/!acme/errors/@v/")
        day = CAME.get(name.removesuffix(".info"))
        self.send_response(200 if name == "list" or day else 404)
        self.end_headers()
        data = json.dumps({"Time": f"{day}T10:00:00Z"}) if day else "\n".join([*reversed(CAME), "v3.0.0-rc.1"])
        self.wfile.write(data.encode())

    def log_message(self, *_: object) -> None:
        pass


GO = """#!/bin/sh
case "$*" in
*-json) echo '{"Require": [{"Path": "github.com/Acme/errors"}, {"Path": "other", "Indirect": true}]}';;
*-require=*) echo "$3" >> go.mod;;
esac
"""


@pytest.mark.parametrize(
    ("day", "version"),
    [
        ("2017-05-01", "v1.1.0"),
        ("2018-12-31", "v1.1.1"),
        ("2026-01-01", "v2.0.0+incompatible"),
        ("2015-01-01", "v1.0.0"),
    ],
)
def test_what_a_tree_of_before_modules_requires_is_of_the_day_or_the_first(tmp_path, day, version):
    program = tmp_path / "bin/go"
    program.parent.mkdir()
    program.write_text(GO)
    program.chmod(0o755)
    (tmp_path / "go.mod").write_text("")
    with LocalServer(Releases) as server:
        env = {"PATH": f"{program.parent}:/usr/bin:/bin", "GOPROXY": f"http://127.0.0.1:{server.port}", "no_proxy": "*"}
        tool = FETCH.with_name("requirements.py")
        process.run([sys.executable, tool, tmp_path, day, tmp_path / "facts.json"], env=env)
    found = json.loads((tmp_path / "facts.json").read_text())
    assert found == {"go.mod": f"-require=github.com/Acme/errors@{version}\n", "go.sum": ""}


def missing(text: str) -> list[str]:
    """The names that the driver reads in what the compiler prints."""
    program = (
        part("driver.py").partition("def link_cache")[0]
        + "\ntext = sys.stdin.read()"
        + "\nprint([next(filter(None, found)) for form in (MISSING, UNFIT) for found in form.findall(text)])"
    )
    return eval(process.run([sys.executable, "-c", program], input=text.encode()).stdout)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("./a_test.go:3:2: undefined: NewThing", "NewThing"),
        ("./a_test.go:3:2: undefined: money.NewThing", "NewThing"),
        ("./a_test.go:3:4: x.Later undefined (type *T has no field or method Later)", "Later"),
        ("./a_test.go:3:4: unknown field Off in struct literal of type Price", "Off"),
        ("./a_test.go:3:4: not enough arguments in call to money.Price\n\thave (number)", "Price"),
        ("./a_test.go:3:4: too many arguments in call to r.Price\n\thave (number)", "Price"),
        ("./a_test.go:3:4: assignment mismatch: 2 variables but Price returns 1 value", "Price"),
        ("./a_test.go:3:4: cannot use 1 (untyped int constant) as string value in argument to money.Label", "Label"),
        ("./a_test.go:3:4: cannot use f (variable of func type F) as money.Rule value in assignment", "Rule"),
    ],
)
def test_the_name_that_a_test_misses_is_read_from_the_compilers_error(line, name):
    assert missing(line) == [name]


def test_a_name_that_is_missing_goes_before_one_that_no_longer_fits():
    lines = (
        "./a_test.go:3:4: cannot use s (variable of type *S) as io.Reader value in argument to money.MustNew",
        "./a_test.go:9:2: undefined: money.SafeReader",
    )
    assert missing("\n".join(lines)) == ["SafeReader", "MustNew"]
