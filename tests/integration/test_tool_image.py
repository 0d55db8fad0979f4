"""The image of goldseam itself, built by `make image` and run through the engine as docs/howto/install.md says."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import certifi
import pytest

from harness.config.settings import load_settings
from harness.core import process
from harness.core.process import Completed
from miner.layers import base, secrets
from tests import tiny

pytestmark = pytest.mark.engine

ROOT = Path(__file__).resolve().parents[2]
NAME = "goldseam-test/program"
SOCKET = Path("/var/run/docker.sock")
CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)


def own_certificates(bundle: Path | None) -> str:
    """This machine's own authorities: all that it trusts is more than a build argument holds."""
    public = set(CERTIFICATE.findall(Path(certifi.where()).read_text(encoding="utf-8")))
    trusted = CERTIFICATE.findall(bundle.read_text(encoding="utf-8")) if bundle else []
    return "\n".join(certificate for certificate in trusted if certificate not in public)


@pytest.fixture(scope="module")
def image(tiny_image) -> Iterator[str]:
    """The name of the image, built on the base that tasks are built on; an index or proxy of this machine's is used."""
    found = secrets.collect()
    given = found.variables | {
        "BASE": base.describe(load_settings().images),
        "CA_CERTIFICATES": own_certificates(found.ca_bundle),
    }
    named = {"BASE", "CA_CERTIFICATES", "UV_DEFAULT_INDEX"}
    arguments = [name for name in given if name in named or name.lower().endswith("_proxy")]
    options = " ".join(("--network host", *(f"--build-arg {name}" for name in arguments)))
    process.run(["make", "image", f"IMAGE={NAME}", f"IMAGE_OPTIONS={options}"], cwd=ROOT, env=given)
    yield NAME
    process.run(["docker", "image", "rm", NAME])
    process.run(["docker", "image", "prune", "--force", "--filter", "label=dev.goldseam.kind=program"])  # its stages


@pytest.fixture(params=[0, 4321], ids=["root", "another user"])
def goldseam(request, image, tmp_path) -> Callable[..., Completed]:
    """Runs a command of the image as a user, in the folder `work`."""
    work, cache = tmp_path / "work", tmp_path / "cache"
    for folder in (work, cache):
        folder.mkdir()
        os.chown(folder, request.param, -1)
    argv = ["docker", "run", "--rm", f"--user={request.param}:{SOCKET.stat().st_gid}", f"--volume={SOCKET}:{SOCKET}"]
    argv += [f"--volume={cache}:{cache}", f"--env=XDG_CACHE_HOME={cache}", f"--env=TMPDIR={cache}"]
    argv += [f"--volume={work}:/work", image]
    return lambda *words: process.run([*argv, *words], check=False)


def test_the_image_works_through_the_engine_of_its_host(goldseam, tiny_image, tmp_path):
    doctor = goldseam("doctor", "--json")
    assert doctor.returncode == 0, doctor.error_text
    checks = {check["name"]: check for check in json.loads(doctor.stdout)["checks"]}
    assert {checks[name]["status"] for name in ("python", "git", "engine", "base image")} == {"ok"}

    tiny.dataset(tmp_path / "work" / "tiny", tiny.task(tiny_image))
    scored = goldseam("evaluate", "tiny", "--gold", "-o", "run")
    assert scored.returncode == 0, scored.error_text
    report = json.loads((tmp_path / "work" / "run" / "report.json").read_text(encoding="utf-8"))
    assert report["resolved_ids"] == ["tiny__calc-1"], report
