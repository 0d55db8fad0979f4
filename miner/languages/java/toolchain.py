"""What all images of Java's tests begin with: the JDK, and how a build finds it and the network."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.languages.java.language import HOME, JDK
from miner.evidence.tree import TESTBED
from miner.languages.building import own_folder
from miner.languages.java import gradle, poms
from miner.languages.toolchain import Toolchain
from miner.layers import layer
from miner.layers.layer import APT_CERTIFICATES, APT_CLEANED, FACTS_PATH, Layer, quote, readable, write_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from harness.config.settings import ImageSettings
    from miner.evidence.tree import Tree
    from miner.languages.base import ImageRequest

SETTINGS, STORE = "/tmp/settings.xml", "/tmp/trust.jks"  # noqa: S108 - inside the container
_FIXED = "fixed.tar"
WITH_FIX = f"tar -C {TESTBED} --no-same-owner -xf {layer.INPUT_DIR}/{_FIXED}"
"""The command that puts what the fix changes of the files that name libraries in their place."""
_SOURCES = "/etc/apt/sources.list.d"
_OPENED = {
    "java.base": "java.io java.lang java.lang.annotation java.lang.invoke java.lang.ref java.lang.reflect java.math"
    " java.net java.nio java.nio.charset java.nio.file java.security java.text java.time java.time.chrono java.util"
    " java.util.concurrent java.util.concurrent.atomic java.util.concurrent.locks java.util.function java.util.regex"
    " java.util.stream sun.net.www.protocol.http sun.net.www.protocol.https sun.nio.ch sun.nio.fs"
    " sun.reflect.annotation sun.reflect.generics.reflectiveObjects sun.security.x509 sun.util.calendar",
    "java.desktop": "java.awt java.awt.font java.beans",
    "java.sql": "java.sql",
    "java.xml": "javax.xml.parsers com.sun.org.apache.xerces.internal.jaxp",
    "jdk.compiler": "com.sun.tools.javac.api com.sun.tools.javac.code com.sun.tools.javac.comp com.sun.tools.javac.file"
    " com.sun.tools.javac.jvm com.sun.tools.javac.main com.sun.tools.javac.model com.sun.tools.javac.parser"
    " com.sun.tools.javac.processing com.sun.tools.javac.tree com.sun.tools.javac.util",
}
"""What of a JDK projects are known to look into, those that process annotations as well."""
_ACCESS = "/tmp/access.py"  # noqa: S108
_ARCHIVE = f"{HOME}/javac.jsa"
"""What the compiler starts from (tools/project.py); of JDK 13 and newer."""


def name_of_jdk(major: int) -> str:
    """As the record of a build has it."""
    return f"jdk {major}"


def called_like_tests(request: ImageRequest) -> list[str]:
    """The files of the change by which its projects are found."""
    return [path for path in request.touched if path.endswith((".java", ".kt", ".groovy"))]


def layer_of_jdk(parent: str, major: int, settings: ImageSettings) -> Layer:
    """The JDK, of this machine where the settings name one for it, else Debian's, or a later Debian's."""
    own = own_folder("jdk", str(major), settings, "release")
    laid: tuple[str, ...] = (
        *of_debian(f"openjdk-{major}-jdk-headless", poms.LATER.get(major, "")),
        f"rm -rf /usr/lib/jvm/java-{major}-openjdk-*/jmods",  # what jlink alone takes
        f"mkdir -p {HOME} && ln -s /usr/lib/jvm/java-{major}-openjdk-* {JDK}",
    )
    if own:
        laid = copied(own.target, JDK, "src.zip", "lib/src.zip", "jmods", "demo", "man")
    return Layer(
        kind="jdk",
        parent=parent,
        folders=(own,) if own else (),
        needs_root=not own,
        commands=(
            *laid,
            *_archived(),
            f'version="$({JDK}/bin/java -version 2>&1 | sed -n \'s/.* version "\\(.*\\)".*/\\1/p\')"',
            f'printf \'{{"jdk": "%s"}}\' "$version" > {FACTS_PATH}',
        ),
    )


def _archived() -> tuple[str, ...]:
    """Commands that have the compiler write the classes that it loads, once made ready, to an archive."""
    folder = "/tmp/sample"  # noqa: S108 - inside the container
    words = f"-J-XX:ArchiveClassesAtExit={_ARCHIVE} -J-XX:+UseSerialGC -J-XX:TieredStopAtLevel=1 -d {folder}"
    return (
        f"mkdir {folder}",
        write_tool(f"{folder}/Sample.java", tool("Sample.java")),
        f"{JDK}/bin/javac {words} {folder}/Sample.java || true",
        f"rm -r {folder}",
    )


def of_debian(package: str, suite: str = "") -> tuple[str, ...]:
    """Commands that install a package of Debian's, or of a later suite in its repositories, and what it needs."""
    later = f'sed "s/$(. /etc/os-release; echo $VERSION_CODENAME)/{suite}/g" "$file" > "{_SOURCES}/later-${{file##*/}}"'
    added = (f'for file in {_SOURCES[:-2]} {_SOURCES}/*; do if [ -f "$file" ]; then {later}; fi; done',)
    chosen = f"DEBIAN_FRONTEND=noninteractive apt-get $options -t {suite}" if suite else "apt-get $options"
    return (
        f'options="$({APT_CERTIFICATES}) -o DPkg::options::=--path-exclude=/usr/share/doc/*"',
        "mkdir -p /usr/share/man/man1",  # which packages of Java want, and slim images lack
        *(added if suite else ()),
        "apt-get $options -qq update",
        f"{chosen} -qq install -y --no-install-recommends {package}",
        *((f"rm {_SOURCES}/later-*",) if suite else ()),
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


def manifests_given(request: ImageRequest, name: str, is_manifest: Callable[[str], bool]) -> tuple[layer.Input, ...]:
    """The files of the tree that name libraries, as an archive of that name, and those that the fix changes, if any."""
    files = ((path, request.tree.read(path) or b"") for path in request.tree.files() if is_manifest(path))
    base = request.workshop.packed(name, files)
    fixed = [(path, data) for path, data in request.fixed.items() if is_manifest(path)]
    return (base, request.workshop.packed(_FIXED, fixed, is_of_fix=True)) if fixed else (base,)


def environment(variables: Mapping[str, str], cache: str = "") -> tuple[str, ...]:
    """Commands that let a build find the JDK, a home, the network of builds, and a folder with libraries of others."""
    return (
        *(f"export {name}={quote(value)}" for name, value in {**variables, "HOME": "/tmp"}.items()),  # noqa: S108
        write_tool(_ACCESS, tool("access.py")),
        f"python3 {_ACCESS} {SETTINGS} {STORE} {cache}".rstrip(),
    )


OPENED = "the JDK's packages are open to reflection, as before JDK 16"
"""What is noted of an image with that variable."""


def opened(tree: Tree, release: int, major: int) -> dict[str, str]:
    """The variable by which a JDK lets reflection into its packages, for projects of when all did; else none."""
    if major < poms.CLOSED or not poms.is_before_closing(tree, release):
        return {}
    places = (f"{module}/{package}" for module, packages in _OPENED.items() for package in packages.split())
    return {"JDK_JAVA_OPTIONS": " ".join(f"--add-opens={place}=ALL-UNNAMED" for place in places)}


RESTORED = "git diff -z --name-only --diff-filter=M -- '*.java' '*.kt' '*.groovy' | xargs -0r git checkout -q --"
"""The command that takes back what a build, as by a formatter, has written into sources, to which patches are."""


tool = partial(layer.tool, "miner.languages.java")
"""A program of the folder `tools`."""


TOOLCHAINS = (
    Toolchain(
        name="jdk",
        origin="the base's Debian or a later one",
        versions=lambda: tuple(map(str, sorted((poms.DEBIAN, *poms.LATER)))),
        usual=str(poms.DEBIAN),
        layer=lambda parent, version, settings: layer_of_jdk(parent, int(version), settings),
    ),
    Toolchain(name="gradle", origin="the base's Debian, or that of a wrapper", versions=lambda: (gradle.OF_DEBIAN,)),
)
