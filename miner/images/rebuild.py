"""A task's image built again from what its folder says, and compared with the one that the task names."""

from __future__ import annotations

import contextlib
import shutil
import stat
import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from harness.core.errors import InfrastructureError, InputError
from harness.sandbox import engine, owners
from miner.images import buildkit, compare
from miner.images.cli_choices import Builder
from miner.images.task_image import open_workshop
from miner.languages.python.images.steps import DEPENDENCIES
from miner.layers import base, build, dockerfile
from miner.layers.layer import REPOSITORY, SOURCE_NAME, Folder, Input, Layer
from miner.layers.source import KIND as SOURCE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from harness.config.settings import ImageSettings
    from harness.core.instance import Instance
    from harness.dataset.folder import Dataset
    from miner.layers.dockerfile import ParsedDockerfile, Section
    from miner.layers.runner import Workshop

LABEL = "dev.goldseam.rebuild"
"""On what is built again, and goes when it is compared: whose it is, see `owners.mark`."""
_OWN = (DEPENDENCIES, SOURCE)
"""The layers of a task itself: what they stand on is shared by many."""
_TREE = f"""
cp -r /testbed/.git /tmp/git
echo '* -export-subst -export-ignore' >> /tmp/git/info/attributes
git --git-dir=/tmp/git -c tar.umask=0022 archive --format=tar --output=/run/goldseam/out/{SOURCE_NAME} HEAD
"""


@dataclass(frozen=True, kw_only=True)
class Rebuilt:
    """What came of building a task's image again."""

    instance_id: str
    builder: Builder
    layers: tuple[str, ...]
    """Kinds of the layers that were built again; what is below them was taken as it is."""
    differing: dict[str, str]
    """Paths that are not the same, and how they differ; the first image is the task's own."""

    @property
    def same(self) -> bool:
        return not self.differing


def rebuild(
    dataset: Dataset,
    instance_id: str,
    *,
    settings: ImageSettings,
    builder: Builder = Builder.AUTO,
    whole: bool = False,
    log: Path,
    note: Callable[[str], None],
) -> Rebuilt:
    """Build a task's image again from its Dockerfile and lock, and compare the two, file by file.

    Its own layers are built, on what the task's image stands on; with `whole`, or where the engine does not hold that
    apart (an image that was pulled), all layers from the base on. The source tree is the commit that the task's image
    holds.

    Raises:
        InputError: the task has no image, or no Dockerfile that goldseam wrote; or `builder` can't build it.
        InfrastructureError: the engine failed, the image is not there, or a step of the Dockerfile failed.

    """
    instance = dataset.instance(instance_id)
    folder = dataset.task_folder(instance_id)
    pinned = _pinned(instance)
    written = dockerfile.read(_text(folder / "Dockerfile"))
    below = None if whole else _below(pinned)
    sections = [section for section in written.sections if below is None or section.kind in _OWN]
    program = program_for(builder, sections, is_open=settings.egress == "open")
    with open_workshop(settings, instance.repo, log, note) as opened:
        workshop = replace(opened, variables={**opened.variables, **written.variables})
        files = {path.name: path for path in folder.glob("*.lock")}
        files[SOURCE_NAME] = _tree(workshop, pinned)
        start = below or base.resolve(settings.model_copy(update={"base": written.base}))
        images = (
            _plain(workshop, sections, files, start)
            if program is None
            else _with_buildkit(workshop, program, written, sections, files, start)
        )
    try:
        note(f"comparing {instance_id}")
        differences = compare.differing(pinned, images[-1])
    finally:
        for image in reversed(images):
            _remove(image)
    how = Builder.PLAIN if program is None else Builder.BUILDKIT
    return Rebuilt(
        instance_id=instance_id, builder=how, layers=tuple(section.kind for section in sections), differing=differences
    )


def _pinned(instance: Instance) -> str:
    if instance.image is None:
        raise InputError(f"{instance.instance_id} has no image", hint="`goldseam mine` builds it")
    image_id = engine.image_id(instance.image)
    if image_id is None:
        raise InfrastructureError(
            f"the engine has no image {instance.image} of {instance.instance_id}",
            hint="`goldseam images pull` fetches it",
        )
    return image_id


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} can't be read", hint="tasks that goldseam mined have a Dockerfile") from error


def _below(pinned: str) -> str | None:
    """What a task's own layers stand on; None where the engine does not know it as an image."""
    at: str | None = pinned
    for kind in reversed(_OWN):
        facts = engine.inspect_image(at) if at else None
        if facts is None:
            return None
        if facts.labels.get(engine.LABEL_KIND) == kind:
            at = facts.parent
        elif kind == SOURCE:
            return None  # and of no other kind has every image a layer
    return at if at and engine.image_id(at) else None


def program_for(builder: Builder, sections: list[Section], *, is_open: bool) -> str | None:
    """The client that builds with BuildKit; None for the plain way.

    By itself BuildKit is taken only where builds may reach whatever they like (`is_open`): nothing holds it back.

    Raises:
        InputError: BuildKit is asked for, and can't.

    """
    if builder is Builder.PLAIN or (builder is Builder.AUTO and not is_open):
        return None
    program = buildkit.client()
    lacks = ""
    if program is None:
        lacks = "no docker client here has it (buildx, or Docker 20.10)"
    elif any(section.contexts for section in sections):
        lacks = "an interpreter comes from a folder, which only the plain way mounts"
    elif not all(section.leaves_nothing for section in sections):
        lacks = "the Dockerfile is of an older goldseam"
    if lacks and builder is Builder.BUILDKIT:
        raise InputError(f"BuildKit can't build it: {lacks}", hint="leave out `--builder buildkit`")
    return None if lacks else program


def _tree(workshop: Workshop, pinned: str) -> Path:
    """The files of the one commit in a task's image, as its image was built from them."""
    with workshop.run(pinned, _TREE, kind="tree", foreign=True) as ran:
        if not ran.ok:
            raise InfrastructureError(f"the source tree of {pinned[:19]} can't be read: {ran.tail[-300:].strip()}")
        left, path = ran.out / SOURCE_NAME, workshop.folder / SOURCE_NAME
        if not stat.S_ISREG(left.lstat().st_mode):
            raise InfrastructureError(f"the source tree of {pinned[:19]} is not a regular file")
        left.rename(path)
    return path


def _plain(workshop: Workshop, sections: list[Section], files: dict[str, Path], start: str) -> list[str]:
    """One image for each section, built by running its commands and committing."""
    images: list[str] = []
    mark = owners.mark()
    for section in sections:
        inputs = tuple(Input(name=name, path=_file(files, name), sha256="") for name in section.inputs)
        folders = tuple(_folder(workshop, name, target) for name, target in section.contexts)
        own = section.kind in _OWN
        layer = Layer(
            kind="rebuilt",
            parent=images[-1] if images else start,
            commands=(f": {section.kind}", section.body),
            inputs=inputs,
            folders=folders,
            env=section.env,
            workdir=section.workdir,
            labels={LABEL: mark},
            needs_root=not own,
            foreign=own,
        )
        workshop.progress(f"building {section.kind} again")
        try:
            images.append(build.ensure(workshop, layer).image_id)
        except build.StepFailedError as error:
            for image in reversed(images):
                _remove(image)
            raise InfrastructureError(f"{section.kind} could not be built again: {error.detail[-600:]}") from error
    return images


def _with_buildkit(
    workshop: Workshop,
    program: str,
    written: ParsedDockerfile,
    sections: list[Section],
    files: dict[str, Path],
    start: str,
) -> list[str]:
    context = workshop.folder / "context"
    context.mkdir()
    for name in {name for section in sections for name in section.inputs}:
        shutil.copyfile(_file(files, name), context / name)
    tag = f"{REPOSITORY}/rebuilt:{uuid.uuid4().hex[:16]}"
    ground = f"{tag}-from"
    engine.tag_image(start, ground)  # BuildKit looks an image's id up in a registry
    text = "\n".join([dockerfile.head(ground, written.variables), *(section.text for section in sections)])
    (context / "Dockerfile").write_text(text, encoding="utf-8")
    workshop.progress(f"building {' and '.join(section.kind for section in sections)} again with BuildKit")
    try:
        image_id = buildkit.build(
            program,
            context,
            tag=tag,
            labels={engine.LABEL_KIND: "rebuilt", LABEL: owners.mark()},
            exported=workshop.secrets.exported(),
            ca_bundle=workshop.secrets.ca_bundle,
            seconds=workshop.settings.build_seconds,
            mask=workshop.secrets.mask,
        )
    finally:
        _remove(ground)
    workshop.write_log(image_id)
    return [tag]


def _file(files: dict[str, Path], name: str) -> Path:
    if name not in files:
        raise InputError(f"the Dockerfile reads {name}, which is not in the task's folder")
    return files[name]


def _folder(workshop: Workshop, name: str, target: str) -> Folder:
    program, _, version = name.partition("-")
    settings = workshop.settings
    folders = {"python": settings.pythons, "node": settings.nodes, "go": settings.gos, "jdk": settings.jdks}
    installed = folders[program]
    if version not in installed:
        raise InputError(
            f"the image has a {program.capitalize()} {version} that was copied from a folder, and none is named here",
            hint=f'name an installation: "{version}" under [images.{program}s] in goldseam.toml',
        )
    return Folder(path=installed[version], target=target, key=name, context=name)


def sweep() -> None:
    """Remove what processes of this host that were killed had built again.

    Raises:
        InfrastructureError: the engine failed.

    """
    owners.sweep()
    client: Any = engine.connect()
    try:
        left = client.images(filters={"label": [LABEL]})
    except engine.ConnectionLost as error:
        raise engine.engine_failed("looking for left-over images", error) from error
    for image in left:  # the newest come first
        if owners.is_left(image["Labels"][LABEL]):
            _remove(image["Id"])


def _remove(image: str) -> None:
    """Remove an image, or a name of it."""
    client: Any = engine.connect()
    with contextlib.suppress(*engine.ConnectionLost):
        client.remove_image(image)
