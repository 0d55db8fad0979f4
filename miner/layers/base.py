"""The base of every image: Debian with git, build tools, Python and uv; pulled, or built on this machine."""

from __future__ import annotations

from harness.config.settings import ImageSettings
from harness.core.clock import FOLDER as CLOCK
from harness.core.clock import PRELOADED
from harness.core.errors import InfrastructureError
from harness.sandbox import engine
from harness.sandbox.engine import ImageFacts
from harness.sandbox.images import platforms
from miner.layers import build, debian
from miner.layers.build import BuiltLayer
from miner.layers.layer import APT_CERTIFICATES, FACTS_PATH, Layer, tool, write_tool
from miner.layers.runner import Workshop

DEFAULT_BASE = "debian:bookworm-slim@sha256:96e378d7e6531ac9a15ad505478fcc2e69f371b10f5cdf87857c4b8188404716"
"""Debian 12 as the registry's index of all platforms, by digest."""
UV_VERSION = "0.11.33"
"""The newest line that still reads source distributions in `.tar.bz2`: what Twisted was until 2021, for example.

Source: https://github.com/astral-sh/uv/issues/16911
"""
PACKAGES = (
    "build-essential", "ca-certificates", "git", "less", "libbz2-1.0", "libfaketime", "libffi8", "liblzma5",
    "libreadline8", "libsqlite3-0", "libssl3", "netbase", "pkg-config", "python3", "python3-dev", "python3-venv",
    "tzdata", "zlib1g",
)  # fmt: skip
"""pip is not among them: it holds copies of a score of libraries, in which fixes of theirs would be found."""
_PIP = "/tmp/pip"  # noqa: S108 - a tmpfs of the build container
_INSTALLED = "dpkg-query -W -f='${db:Status-Status}\\n'"
_HINT = "name a base under [images] in goldseam.toml, or run `goldseam images base --from-debian`"


def _pull(ref: str, platform: str | None) -> None:
    name, at, digest = ref.partition("@")
    repository, colon, tag = name.rpartition(":")
    if not colon or "/" in tag:
        repository, tag = name, "latest"
    engine.connect().pull(repository, tag=digest if at else tag, platform=platform)


def resolve(settings: ImageSettings) -> str:
    """The image id to start from: the configured base, else Debian's own by digest, else the one built here.

    Raises:
        InfrastructureError: the configured base can't be had, or none can; or not for the platform of the settings.

    """
    ready = _base_image(settings)
    if ready is not None:
        return ready[1].id
    ref = settings.base or DEFAULT_BASE
    try:
        _pull(ref, settings.platform)
    except engine.ConnectionLost as error:
        suffix = f" for {settings.platform}" if settings.platform else ""
        raise InfrastructureError(
            f"the base image {ref} can't be pulled{suffix}: {engine.cause(error)}", hint=_HINT
        ) from error
    facts = engine.inspect_image(ref)
    if facts is None:
        raise InfrastructureError(f"the base image {ref} was pulled, but the engine does not hold it", hint=_HINT)
    if not _is_for_platform(facts, settings):
        raise InfrastructureError(
            f"the base image {ref} is for {facts.platform}, and {settings.platform} was asked for",
            hint="name one that is for it, or for several platforms: [images] base in goldseam.toml",
        )
    return facts.id


def _base_image(settings: ImageSettings) -> tuple[str, ImageFacts] | None:
    """The base that the engine has already, for the platform of the settings."""
    for ref in (settings.base,) if settings.base else (DEFAULT_BASE, debian.name(platform=settings.platform)):
        facts = engine.inspect_image(ref)
        if facts is not None and _is_for_platform(facts, settings):
            return ref, facts
    return None


def _is_for_platform(facts: ImageFacts, settings: ImageSettings) -> bool:
    return settings.platform is None or platforms.equal(facts.platform, settings.platform)


def describe(settings: ImageSettings) -> str:
    """What to write after FROM: a digest of a registry where the base has one, else its name here."""
    ref, facts = _base_image(settings) or (settings.base or debian.name(platform=settings.platform), None)
    return ref if "@" in ref or facts is None or not facts.digests else facts.digests[0]


def layer(parent: str) -> Layer:
    """Git, build tools, Python and uv on top of an image; what already exists is left alone."""
    packages = " ".join(PACKAGES)
    facts = "import json, platform; print(json.dumps({'python': '.'.join(platform.python_version_tuple()[:2])}))"
    return Layer(
        kind="base",
        parent=parent,
        needs_root=True,
        labels={engine.LABEL_CLOCK: "libfaketime"},
        commands=(
            f"packages='{packages}'",
            f'options="$({APT_CERTIFICATES})"',
            f'there="$({_INSTALLED} $packages 2>/dev/null | grep -cx installed || true)"',
            f"if [ $there = {len(PACKAGES)} ]; then missing=; else missing=yes; fi",
            'if [ "$missing" ]; then apt-get $options -qq update; fi',
            'if [ "$missing" ]; then apt-get $options -qq install -y --no-install-recommends $packages; fi',
            "rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin",
            f"python3 -m venv {_PIP}",
            f"{_PIP}/bin/pip install --quiet --no-compile --target /opt/goldseam/uv uv=={UV_VERSION}",
            "git config --system --add safe.directory /testbed",
            "git config --system protocol.file.allow always",  # as before git 2.38: tests add submodules of folders
            *_clock(),
            f'python3 -c "{facts}" > {FACTS_PATH}',
        ),
    )


def _clock() -> tuple[str, ...]:
    """The commands that put libfaketime where tests find it, and try it."""
    source = tool("miner.layers", "sleep.c")
    faked = f"LD_PRELOAD='{' '.join(PRELOADED)}' FAKETIME=-1000000000 date +%s"
    return (
        f"mkdir -p {CLOCK}",
        f'ln -sf "$(find /usr/lib -name libfaketimeMT.so.1 | head -n 1)" {CLOCK}/faketime.so',
        write_tool(f"{CLOCK}/sleep.c", source),
        f"cc -O2 -Wall -Werror -shared -fPIC -o {CLOCK}/sleep.so {CLOCK}/sleep.c",
        f"test $(( $(date +%s) - $({faked}) )) -ge 999999990",
    )


def ensure(workshop: Workshop) -> BuiltLayer:
    """The base layer, built if need be.

    Raises:
        InfrastructureError: no base image can be had, it is for another machine, or it can't be prepared.

    """
    parent = resolve(workshop.settings)
    platforms.ensure_runs(parent)
    try:
        return build.ensure(workshop, layer(parent))
    except build.StepFailedError as error:
        raise InfrastructureError(
            f"the base image can't be prepared: {error.detail[-500:]}",
            hint=f"the log is {workshop.log}; a base must be Debian or derive from it",
        ) from error


def from_debian(
    *, suite: str = debian.SUITE, mirror: str | None = None, platform: str | None = None, force: bool = False
) -> str:
    """Build Debian on this machine, with all packages of the base layer; see `debian.make`."""
    return debian.make(PACKAGES, suite=suite, mirror=mirror, platform=platform, force=force)
