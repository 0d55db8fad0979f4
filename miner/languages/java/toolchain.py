"""What all images of Java's tests begin with: the JDK, and how a build finds it and the network."""

from __future__ import annotations

import hashlib
from importlib import resources
from typing import TYPE_CHECKING

from harness.languages.java.language import HOME, JDK
from harness.sandbox.images import platforms
from miner.layers.layer import APT_CLEANED, FACTS_PATH, Folder, Layer, quote, readable, write_tool
from miner.layers.secrets import RUN_DIR

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.config.settings import ImageSettings
    from miner.languages.base import ImageRequest

SETTINGS, STORE = "/tmp/settings.xml", "/tmp/trust.jks"  # noqa: S108 - inside the container
_CERTIFICATES = 'if [ -n "${SSL_CERT_FILE:-}" ]; then echo "-o Acquire::https::CAInfo=$SSL_CERT_FILE"; fi'
"""The command that tells apt's option for the certificates of builds."""
_MOUNTED = f"{RUN_DIR}/jdk"
_ACCESS = "/tmp/access.py"  # noqa: S108


def name_of_jdk(major: int) -> str:
    """As the record of a build has it."""
    return f"jdk {major}"


def called_like_tests(request: ImageRequest) -> list[str]:
    """The files of the change by which its projects are found."""
    return [path for path in request.touched if path.endswith((".java", ".kt"))]


def layer_of_jdk(parent: str, major: int, settings: ImageSettings) -> Layer:
    """The JDK, of this machine where the settings name one for it, else Debian's."""
    own = settings.jdks.get(str(major)) if platforms.is_of_here(settings.platform) else None
    folders: tuple[Folder, ...] = ()
    laid: tuple[str, ...] = (
        *of_debian(f"openjdk-{major}-jdk-headless"),
        f"rm -rf /usr/lib/jvm/java-{major}-openjdk-*/jmods",  # what jlink alone takes
        f"mkdir -p {HOME} && ln -s /usr/lib/jvm/java-{major}-openjdk-* {JDK}",
    )
    if own:
        digest = hashlib.sha256((own / "release").read_bytes()).hexdigest()
        folders = (Folder(path=own, target=_MOUNTED, key=digest, context=f"jdk-{major}"),)
        laid = copied(_MOUNTED, JDK, "src.zip", "lib/src.zip", "jmods", "demo", "man")
    return Layer(
        kind="jdk",
        parent=parent,
        folders=folders,
        needs_root=not own,
        commands=(
            *laid,
            f'version="$({JDK}/bin/java -version 2>&1 | sed -n \'s/.* version "\\(.*\\)".*/\\1/p\')"',
            f'printf \'{{"jdk": "%s"}}\' "$version" > {FACTS_PATH}',
        ),
    )


def of_debian(package: str) -> tuple[str, ...]:
    """Commands that install a package of Debian's, and what it needs."""
    return (
        f'options="$({_CERTIFICATES}) -o DPkg::options::=--path-exclude=/usr/share/doc/*"',
        "mkdir -p /usr/share/man/man1",  # which packages of Java want, and slim images lack
        "apt-get $options -qq update",
        f"apt-get $options -qq install -y --no-install-recommends {package}",
        APT_CLEANED,
    )


def copied(mounted: str, place: str, *excluded: str) -> tuple[str, ...]:
    """Commands that copy an installation of this machine."""
    options = " ".join(f"--exclude=./{name}" for name in excluded)
    return (
        f"mkdir -p {place}",
        f"tar -C {mounted} {options} -cf /tmp/installation.tar .",
        f"tar -C {place} --no-same-owner -xf /tmp/installation.tar",
        f"rm /tmp/installation.tar; {readable(place)}",
    )


def environment(variables: Mapping[str, str], cache: str = "") -> tuple[str, ...]:
    """Commands that let a build find the JDK, a home, the network of builds, and a folder with libraries of others."""
    return (
        *(f"export {name}={quote(value)}" for name, value in {**variables, "HOME": "/tmp"}.items()),  # noqa: S108
        write_tool(_ACCESS, tool("access.py")),
        f"python3 {_ACCESS} {SETTINGS} {STORE} {cache}".rstrip(),
    )


def tool(name: str) -> str:
    """A program of the folder `tools`."""
    return resources.files("miner.languages.java").joinpath("tools", name).read_text(encoding="utf-8")
