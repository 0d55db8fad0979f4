"""Build the wheel, the source distribution and the bill of materials (CycloneDX) into dist/, and try the wheel.

Contents and metadata are checked. The wheel is installed into an empty environment with the newest dependencies that
its metadata allows, and the installed command is started there. The last line is the summary; the exit code is 1 where
a check fails.
"""

from __future__ import annotations

import json
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
_PACKAGES = ("goldseam", "harness", "miner")
_OF_THE_PROJECT = (".ci", ".github", "benchmarks", "tests")


class BadPackageError(Exception):
    """A check of the package failed."""


def main() -> int:
    begun = time.monotonic()
    uv = sys.argv[1] if len(sys.argv) > 1 else "uv"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    name = f"{project['name']}-{project['version']}"
    shutil.rmtree(DIST, ignore_errors=True)
    wheel, sdist, bill = DIST / f"{name}-py3-none-any.whl", DIST / f"{name}.tar.gz", DIST / f"{name}.cdx.json"
    try:
        process.run((uv, "build", "--quiet", "-o", DIST), cwd=ROOT)
        _check_wheel(wheel, name)
        _check_sdist(sdist, name)
        process.run((uv, "export", "--quiet", "--locked", "--no-dev", "--format", "cyclonedx1.5", "-o", bill), cwd=ROOT)
        components = _check_bill(bill, project)
        with tempfile.TemporaryDirectory(prefix="goldseam-package-") as folder:
            _try(uv, wheel, project["version"], Path(folder))
    except (BadPackageError, GoldseamError) as error:
        sys.stderr.write(f"package: {error}\n")
        return 1
    sizes = ", ".join(f"{path.name} ({path.stat().st_size / 1e6:.1f} MB)" for path in (wheel, sdist))
    print(f"dist: {sizes}, {bill.name} ({components} components); checked in {time.monotonic() - begun:.0f} s")
    return 0


def _check_wheel(path: Path, name: str) -> None:
    """Every file of the packages, the demo's data and the licence are in the wheel, and nothing else."""
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
        Metadata.from_email(metadata)
    except (InvalidMetadata, ExceptionGroup) as error:
        raise BadPackageError(f"{path.name}: bad metadata: {error}") from error
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


def _try(uv: str, wheel: Path, version: str, folder: Path) -> None:
    """Install the wheel into an empty environment and start what it brings, away from the checkout.

    Raises:
        BadPackageError: the installed command does something else than it should.
        InfrastructureError: the wheel can't be installed, or what it brings doesn't start.

    """
    environment = folder / "environment"
    process.run((uv, "venv", "--quiet", "--python", sys.executable, environment))
    process.run((uv, "pip", "install", "--quiet", "--python", environment, wheel))
    process.run((uv, "pip", "check", "--quiet", "--python", environment))
    python, goldseam = environment / "bin" / "python", environment / "bin" / "goldseam"

    def output(*argv: object) -> str:
        words = tuple(str(word) for word in argv)
        return process.run(words, cwd=folder, env={"PYTHONPATH": ""}, timeout=60).stdout.decode().strip()

    if (printed := output(goldseam, "--version")) != f"goldseam {version}":
        raise BadPackageError(f"`goldseam --version` printed {printed!r}; pyproject.toml has {version}")
    output(goldseam, "--help")
    places = output(
        python, "-c", "import goldseam, miner.demo.locate as demo; print(goldseam.__file__, demo.locate_data())"
    )
    if any(not Path(place).is_relative_to(environment) for place in places.split()):
        raise BadPackageError(f"the package or the demo's data is not of the installation: {places}")
    # 4 where this machine has no engine; the answer has to be whole either way
    doctor = process.run((goldseam, "doctor", "--json"), cwd=folder, env={"PYTHONPATH": ""}, timeout=60, check=False)
    if doctor.returncode not in {0, 4} or not json.loads(doctor.stdout)["checks"]:
        raise BadPackageError(f"`goldseam doctor --json` ended with {doctor.returncode}: {doctor.error_text}")


if __name__ == "__main__":
    sys.exit(main())
