"""Runs inside a build: install the current folder as was usual in the years of setup.py, with the tools of its day.

`setup.py develop` in the environment where its dependencies are: what a setup.py imports (numpy, Cython) is there, and
what setuptools has given up since (2to3) is still known. The exit code is 1 where that fails, so that the ways of today
can be tried. What `setup_requires` asks for is of the day as well: setuptools itself would take the newest.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import editable  # type: ignore[import-not-found]  # stands beside it there

_RUN = """
import sys
import setuptools, setuptools.dist
asked, sys.argv = sys.argv[1], sys.argv[1:]
class Found(Exception):
    pass
def fetch(self, requires):
    import json, pkg_resources
    wanted = [str(one) for one in pkg_resources.parse_requirements(requires)]
    try:
        pkg_resources.working_set.resolve(pkg_resources.parse_requirements(requires))
    except Exception:
        with open(asked, "w") as file:
            json.dump(wanted, file)
        raise Found("setup_requires: " + ", ".join(wanted))
    return []
setuptools.dist.Distribution.fetch_build_eggs = fetch
sys.argv[0] = __file__ = "setup.py"
with open(__file__, "rb") as file:
    code = compile(file.read(), __file__, "exec")
exec(code)
"""
_ROUNDS = 2
"""How often `setup_requires` may ask for more."""


def requires() -> "list[str] | None":
    """What pyproject.toml asks for to build it; None where it is not for setuptools to do."""
    if not Path("setup.py").is_file():
        return None
    path = Path("pyproject.toml")
    if not path.is_file():
        return []
    try:
        import tomllib  # noqa: PLC0415 - a base older than Debian 12 has none

        system = tomllib.loads(path.read_text(encoding="utf-8")).get("build-system", {})
    except (ImportError, ValueError):
        return None
    backend = system.get("build-backend", "setuptools")
    return list(system.get("requires", [])) if backend.startswith("setuptools") else None


def install(uv: str, python: str, target: str, wanted: "list[str]", options: "tuple[str, ...]") -> bool:
    """Put build requirements of the day into a folder."""
    argv = [uv, "pip", "install", "--quiet", "--python", python, "--target", target, *options, *wanted]
    if subprocess.run(argv, check=False).returncode:
        return False
    editable.give_bytecode(python, target)
    return True


def develop(python: str, tools: str, asked: str) -> int:
    """Call setup.py; `asked` is where it is written what it wants first."""
    env = {**os.environ, "PYTHONPATH": tools, "PYTHONIOENCODING": "utf-8:backslashreplace", "PYTHONWARNINGS": "ignore"}
    env["PATH"] = f"{Path(python).parent}:{tools}/bin:{env['PATH']}"
    argv = [python, "-c", _RUN, asked, "-q", "develop", "--no-deps"]
    return subprocess.run(argv, env=env, check=False).returncode


def undo(site_packages: Path, before: "set[Path]") -> None:
    """Take away what a failed attempt left."""
    for path in set(site_packages.iterdir()) - before:
        if path.suffix in {".egg-link", ".pth"}:
            path.unlink()


def known(site_packages: Path) -> bool:
    """Whether the tree has got into the environment."""
    return any(site_packages.glob("*.egg-link"))


def shadowed(site_packages: Path, before: "set[Path]") -> "list[str]":
    """The projects that were just installed and are there from an index as well, as pytest or a plugin needs them.

    The copy would be imported in place of the tree, which comes later on the path.
    """
    there = {path.name.split("-")[0].lower() for path in before if path.suffix == ".dist-info"}
    new = [path.stem for path in set(site_packages.glob("*.egg-link")) - before]
    return [name for name in new if name.replace("-", "_").replace(".", "_").lower() in there]


def main(uv: str, venv: str, how: str, *options: str) -> int:
    """Install the current folder; `how` is a file that says so, `options` are for `uv pip install`."""
    wanted = requires()
    if wanted is None:
        return 1
    python = f"{venv}/bin/python"
    site_packages = next(Path(venv, "lib").glob("python*/site-packages"))
    before, had_build = set(site_packages.iterdir()), Path("build").exists()
    with tempfile.TemporaryDirectory() as scratch:
        tools, asked = f"{scratch}/tools", Path(scratch, "asked.json")
        code, wanted = 1, ["setuptools", "wheel", *wanted]
        for _ in range(_ROUNDS + 1):
            if not install(uv, python, tools, wanted, options):
                break
            asked.unlink(missing_ok=True)
            code = develop(python, tools, str(asked))
            if code == 0 or not asked.exists():
                break
            wanted += json.loads(asked.read_text())
        if code == 0 and (names := shadowed(site_packages, before)):
            subprocess.run([uv, "pip", "uninstall", "--quiet", "--python", python, *names], check=False)
            code = develop(python, tools, str(asked))
        version = next((path.name for path in Path(tools).glob("setuptools-*.dist-info")), "setuptools")
    if code or not known(site_packages):
        undo(site_packages, before)
        print("setup.py develop with the tools of the day does not do", flush=True)
        return 1
    links = [path.read_text() for path in site_packages.glob("*.egg-link")]
    if not had_build and not any("/build/" in link for link in links):
        shutil.rmtree("build", ignore_errors=True)
    Path(how).write_text(f"python setup.py develop --no-deps ({version[: -len('.dist-info')].replace('-', ' ')})")
    return 0


sys.exit(main(*sys.argv[1:]))
