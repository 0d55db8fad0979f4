"""The image of a Java project's tests: by Maven or by Gradle, on the first JDK that will do."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from miner.languages.base import ImageRequest
from miner.languages.building import Building, reason_in, refusal
from miner.languages.java import gradle, gradle_image, maven, poms
from miner.languages.java.toolchain import called_like_tests, name_of_jdk
from miner.languages.toolchain import installed
from miner.layers import base

if TYPE_CHECKING:
    from miner.languages.built import BuiltImage


def build_image(request: ImageRequest) -> BuiltImage:
    """The image in which all tests are collected, else the one that loses the fewest files.

    Maven goes first where the tests are in projects of both.

    Raises:
        RefusedError: no image can be built; it tells of the last attempt.
        InfrastructureError: the engine, a repository or the disk failed.

    """
    tree, tests, own = request.tree, called_like_tests(request), _own(request)
    by_maven = bool(poms.reactors(tree, tests))
    if not by_maven and not gradle.roots(tree, tests):
        raise refusal("no_build_file", "no folder at or above the tests has a pom.xml or a build file of Gradle")
    release, tool = (poms.release(tree), maven) if by_maven else (gradle.release(tree), gradle_image)
    jdks = poms.jdks(tree, own, release)
    if not by_maven:  # on others nothing can be built, which would hide why it can't on these
        jdks = tuple(major for major in jdks if gradle_image.usable(request, major)) or jdks
    if not jdks:
        detail = f'a build file asks for Java {release}: name a JDK of it, "{release}" under [images.jdks]'
        raise refusal("no_jdk", f"{detail} in goldseam.toml")
    building = Building(request, partial(reason_in, tool.FAILURES))
    return building.over(jdks, name_of_jdk, partial(tool.image, building, base.ensure(request.workshop)))


def _own(request: ImageRequest) -> tuple[int, ...]:
    return tuple(map(int, installed("jdk", request.workshop.settings)))
