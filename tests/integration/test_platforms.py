"""Images for machines of another architecture are told as such, before they fail in words of their own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from harness.config.settings import ImageSettings
from harness.core.errors import InfrastructureError
from harness.sandbox import engine
from miner.images.task_image import open_workshop
from miner.layers import base
from tests import foreign, tiny, waiting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.engine
NAME = "goldseam-tests/foreign:arm64"


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    if engine.platform().endswith("/arm64"):
        pytest.skip("this machine is of that architecture")
    yield foreign.load(NAME)
    client: Any = engine.connect()
    client.remove_image(NAME)


def test_a_task_for_another_architecture_is_an_infrastructure_error_in_so_many_words(
    image: str, tmp_path: Path
) -> None:
    made = tiny.dataset(tmp_path / "dataset", tiny.task(image))
    done = tiny.goldseam("evaluate", made.path, "--gold", "-o", tmp_path / "run", "--engine-wait", "0")
    (report,) = (tmp_path / "run").rglob("tiny__calc-1/*/report.json")
    told = json.loads(report.read_text())
    assert told["outcome"] == "infra_error", done
    assert "is for linux/arm64, which this engine" in report.read_text()
    client: Any = engine.connect()
    assert waiting.left(lambda: client.containers(all=True, filters={"ancestor": image})) == []


def test_a_base_for_the_platform_that_is_asked_for_is_taken(image: str) -> None:
    assert base.resolve(ImageSettings(base=NAME, platform="linux/aarch64")) == image


def test_a_base_for_another_platform_than_asked_for_is_not_taken(image: str) -> None:
    with pytest.raises(InfrastructureError, match="for linux/s390x"):
        base.resolve(ImageSettings(base=NAME, platform="linux/s390x"))


def test_nothing_is_built_on_a_base_that_can_not_run_here(image: str, tmp_path: Path) -> None:
    settings = ImageSettings(base=NAME, platform=foreign.PLATFORM, cache_dir=tmp_path / "cache")
    log = tmp_path / "log"
    with (
        open_workshop(settings, "a/b", log, lambda _: None) as workshop,
        pytest.raises(InfrastructureError, match="can't run") as caught,
    ):
        base.ensure(workshop)
    assert "emulator" in (caught.value.hint or "")
    assert not log.exists()
