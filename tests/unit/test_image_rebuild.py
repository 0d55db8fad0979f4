"""How an image is built again: by BuildKit only where that is wanted and possible."""

from __future__ import annotations

import pytest

from harness.core.errors import InputError
from miner.images import rebuild
from miner.images.cli_choices import Builder
from miner.layers.dockerfile import Section

LEAVES_NOTHING = "# deps\nRUN --mount=type=tmpfs,target=/tmp true\n"


def section(*, text: str = LEAVES_NOTHING, contexts: tuple[tuple[str, str], ...] = ()) -> Section:
    return Section(kind="deps", text=text, body="true", inputs=(), contexts=contexts, env={}, workdir="/")


@pytest.fixture
def client(monkeypatch):
    monkeypatch.setattr(rebuild, "buildkit_client", lambda: "/usr/bin/docker")


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize(
    ("builder", "is_open", "found"),
    [
        (Builder.AUTO, True, "/usr/bin/docker"),
        (Builder.AUTO, False, None),
        (Builder.BUILDKIT, False, "/usr/bin/docker"),
        (Builder.PLAIN, True, None),
    ],
)
def test_buildkit_is_taken_where_builds_may_reach_everything_or_it_is_asked_for(builder, is_open, found):
    assert rebuild.program_for(builder, [section()], is_open=is_open) == found


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("one", [section(text="# deps\nRUN true\n"), section(contexts=(("python-3.9", "/x"),))])
def test_what_buildkit_can_not_build_is_built_step_by_step_and_told_where_it_is_asked_for(one):
    assert rebuild.program_for(Builder.AUTO, [one], is_open=True) is None
    with pytest.raises(InputError, match="BuildKit can't build it"):
        rebuild.program_for(Builder.BUILDKIT, [one], is_open=True)


def test_where_no_client_has_buildkit_that_is_said(monkeypatch):
    monkeypatch.setattr(rebuild, "buildkit_client", lambda: None)
    with pytest.raises(InputError, match="no docker client"):
        rebuild.program_for(Builder.BUILDKIT, [section()], is_open=True)


def test_a_client_without_the_plug_in_is_passed_over(monkeypatch, tmp_path):
    for name, says in (("a", "echo no buildx >&2; exit 1"), ("b", "echo '      --secret stringArray'")):
        (tmp_path / name).mkdir()
        program = tmp_path / name / "docker"
        program.write_text(f"#!/bin/sh\n{says}\n")
        program.chmod(0o755)
    monkeypatch.setattr(rebuild.engine, "is_podman", lambda: False)
    monkeypatch.setenv("PATH", f"{tmp_path}/a:{tmp_path}/b:/usr/bin:/bin")
    rebuild.buildkit_client.cache_clear()
    try:
        assert rebuild.buildkit_client() == f"{tmp_path}/b/docker"
    finally:
        rebuild.buildkit_client.cache_clear()
