"""Build the wheel, the source distribution and the bill of materials (CycloneDX) into dist/, and try the wheel.

    python scripts/package.py UV [PROJECT_URL]

Contents and metadata are checked. The wheel is installed into an empty environment with the newest dependencies that
its metadata allows, which may take no more than `LARGEST_MB`, and the installed command is started there. In another
one, with the oldest, every module is imported, without a warning. With the address of a repository, wheel and source
distribution name it and its pages as their project URLs. The last line is the summary; the exit code is 1 where a check
fails.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from email.parser import BytesParser
from pathlib import Path

from packaging.metadata import InvalidMetadata, Metadata

from harness.core import process
from harness.core.errors import GoldseamError

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
LARGEST_MB = 120
"""Megabytes (10^6 bytes) on disk of an environment with the wheel and its dependencies, without extras."""
_PACKAGES = ("goldseam", "harness", "miner")
_OF_THE_PROJECT = (".ci", ".github", "benchmarks", "tests")
_EXTRAS = "parquet,s3,strength"
"""What modules import; `ray` is imported where a cluster is used."""
_IMPORTS = """
import importlib, pkgutil, sys, warnings
warnings.simplefilter("error")
for package in map(importlib.import_module, sys.argv[1:]):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not {"inside", "tools"} & set(module.name.split(".")):  # these run in containers
            importlib.import_module(module.name)
"""


class BadPackageError(Exception):
    """A check of the package failed."""


def main() -> int:
    begun = time.monotonic()
    uv, url = (*sys.argv[1:], "")[:2]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    name = f"{project['name']}-{project['version']}"
    shutil.rmtree(DIST, ignore_errors=True)
    wheel, sdist, bill = DIST / f"{name}-py3-none-any.whl", DIST / f"{name}.tar.gz", DIST / f"{name}.cdx.json"
    try:
        urls = _urls(url, project["version"])
        _build(uv, name, urls)
        _check_wheel(wheel, name, urls)
        _check_sdist(sdist, name)
        process.run((uv, "export", "--quiet", "--locked", "--no-dev", "--format", "cyclonedx1.5", "-o", bill), cwd=ROOT)
        components = _check_bill(bill, project)
        with tempfile.TemporaryDirectory(prefix="goldseam-package-") as folder:
            size = _try(uv, wheel, project["version"], Path(folder))
            _try_oldest(uv, wheel, Path(folder))
    except (BadPackageError, GoldseamError) as error:
        sys.stderr.write(f"package: {error}\n")
        return 1
    sizes = ", ".join(f"{path.name} ({path.stat().st_size / 1e6:.1f} MB)" for path in (wheel, sdist))
    print(f"dist: {sizes}, {bill.name} ({components} components)")
    print(f"installed: {size:.0f} MB of at most {LARGEST_MB}; checked in {time.monotonic() - begun:.0f} s")
    return 0


def _urls(repository: str, version: str) -> dict[str, str]:
    """The project URLs of a repository, by name; none where there is no repository."""
    if not repository:
        return {}
    if not re.fullmatch(r"https://[^\s\"\\]+[^\s\"\\/]", repository):
        raise BadPackageError(f"PROJECT_URL has to be https://HOST/PATH, without a slash at its end, not {repository}")
    pages = {"Documentation": f"/tree/v{version}/docs", "Changelog": f"/blob/v{version}/CHANGELOG.md"}
    pages |= {"Homepage": "", "Issues": "/issues", "Source": ""}
    return {label: repository + page for label, page in pages.items()}


def _build(uv: str, name: str, urls: dict[str, str]) -> None:
    """Build both; with URLs from the source distribution, whose pyproject.toml gets them."""
    process.run((uv, "build", "--quiet", "-o", DIST), cwd=ROOT)
    if not urls:
        return
    with tempfile.TemporaryDirectory(prefix="goldseam-package-") as folder:
        with tarfile.open(DIST / f"{name}.tar.gz") as archive:
            archive.extractall(folder, filter="data")
        with (Path(folder) / name / "pyproject.toml").open("a", encoding="utf-8") as file:
            file.write("\n[project.urls]\n" + "".join(f'{label} = "{url}"\n' for label, url in urls.items()))
        process.run((uv, "build", "--quiet", "-o", DIST), cwd=Path(folder) / name)


def _check_wheel(path: Path, name: str, urls: dict[str, str]) -> None:
    """Every file of the packages, the demo's data and the licence are in the wheel, and nothing else; URLs as given."""
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        metadata = archive.read(f"{name}.dist-info/METADATA")
    tracked = process.run(("git", "ls-files", "-z", *_PACKAGES), cwd=ROOT).stdout.decode().split("\0")
    demo = process.run(("git", "ls-files", "-z"), cwd=ROOT / "datasets" / "demo").stdout.decode().split("\0")
    expected = {file for file in tracked if file} | {f"miner/_demo/{file}" for file in demo if file}
    expected |= {f"{name}.dist-info/licenses/LICENSE", *(f"{package}/py.typed" for package in _PACKAGES)}
    _none(f"{path.name} lacks", expected - names)
    _none(f"{path.name} has besides", {file for file in names - expected if not file.startswith(f"{name}.dist-info/")})
    try:
        found = Metadata.from_email(metadata).project_urls or {}
    except (InvalidMetadata, ExceptionGroup) as error:
        raise BadPackageError(f"{path.name}: bad metadata: {error}") from error
    if found != urls:
        raise BadPackageError(f"{path.name}: the metadata has the project URLs {found}, expected {urls}")
    if not BytesParser().parsebytes(metadata).get_payload():
        raise BadPackageError(f"{path.name}: the metadata has no description")


def _check_sdist(path: Path, name: str) -> None:
    """The source distribution has what the wheel is built from (uv built it from that), and no tests or CI."""
    with tarfile.open(path) as archive:
        names = {member.name.removeprefix(f"{name}/") for member in archive}
    _none(f"{path.name} lacks", {"LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml"} - names)
    _none(f"{path.name} has besides", {file for file in names if file.partition("/")[0] in _OF_THE_PROJECT})


def _none(label: str, files: set[str]) -> None:
    if files:
        raise BadPackageError(f"{label} {len(files)} files: {', '.join(sorted(files)[:5])}")


def _check_bill(path: Path, project: dict[str, object]) -> int:
    """The bill names this version and a release of each dependency. Returns how many components it has."""
    bill = json.loads(path.read_bytes())
    subject = bill["metadata"]["component"]
    if (subject["name"], subject["version"]) != (project["name"], project["version"]):
        raise BadPackageError(f"{path.name} is of {subject['name']} {subject['version']}")
    if unversioned := [part["name"] for part in bill["components"] if "version" not in part or "purl" not in part]:
        raise BadPackageError(f"{path.name} has no version of {', '.join(unversioned)}")
    return len(bill["components"])


def _try(uv: str, wheel: Path, version: str, folder: Path) -> float:
    """Install the wheel into an empty environment and start what it brings, away from the checkout. Returns its MB.

    Raises:
        BadPackageError: the installation is too large, or the command does something else than it should.
        InfrastructureError: the wheel can't be installed, or what it brings doesn't start.

    """
    environment = folder / "environment"
    process.run((uv, "venv", "--quiet", "--python", sys.executable, environment))
    process.run((uv, "pip", "install", "--quiet", "--python", environment, wheel))
    process.run((uv, "pip", "check", "--quiet", "--python", environment))
    size = sum(file.lstat().st_blocks for file in environment.rglob("*")) * 512 / 1e6
    if size > LARGEST_MB:
        raise BadPackageError(f"an installation takes {size:.0f} MB, more than {LARGEST_MB}")
    python, goldseam = environment / "bin" / "python", environment / "bin" / "goldseam"

    def output(*argv: object) -> str:
        words = tuple(str(word) for word in argv)
        return process.run(words, cwd=folder, env={"PYTHONPATH": ""}, timeout=60).stdout.decode().strip()

    if (printed := output(goldseam, "--version")) != f"goldseam {version}":
        raise BadPackageError(f"`goldseam --version` printed {printed!r}; pyproject.toml has {version}")
    output(goldseam, "--help")
    places = output(
        python, "-c", "import goldseam, miner.demo.history as demo; print(goldseam.__file__, demo.locate_data())"
    )
    if any(not Path(place).is_relative_to(environment) for place in places.split()):
        raise BadPackageError(f"the package or the demo's data is not of the installation: {places}")
    # 4 where this machine has no engine; the answer has to be whole either way
    doctor = process.run((goldseam, "doctor", "--json"), cwd=folder, env={"PYTHONPATH": ""}, timeout=60, check=False)
    if doctor.returncode not in {0, 4} or not json.loads(doctor.stdout)["checks"]:
        raise BadPackageError(f"`goldseam doctor --json` ended with {doctor.returncode}: {doctor.error_text}")
    return size


def _try_oldest(uv: str, wheel: Path, folder: Path) -> None:
    """Import every module with the oldest dependencies that the metadata allows.

    Raises:
        InfrastructureError: they can't be installed, or a module needs newer ones.

    """
    python = folder / "oldest" / "bin" / "python"
    process.run((uv, "venv", "--quiet", "--python", sys.executable, folder / "oldest"))
    oldest = ("--resolution", "lowest-direct", f"{wheel}[{_EXTRAS}]")
    process.run((uv, "pip", "install", "--quiet", "--python", python, *oldest))
    process.run((python, "-c", _IMPORTS, *_PACKAGES), cwd=folder, env={"PYTHONPATH": ""}, timeout=600)


if __name__ == "__main__":
    sys.exit(main())
