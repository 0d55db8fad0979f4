"""A task's image built again from what its folder says, and compared with the one that the task names."""

from __future__ import annotations

import contextlib
import functools
import gzip
import hashlib
import io
import os
import re
import shlex
import shutil
import stat
import tarfile
import uuid
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from harness.config.settings import ImageSettings
from harness.core import process
from harness.core.errors import InfrastructureError, InputError
from harness.core.instance import Instance
from harness.dataset.folder import Dataset, public_files
from harness.dataset.hidden_files import OF_FIX
from harness.sandbox import engine, owners
from harness.sandbox.images.layers import Pipe
from miner.images.cli_choices import Builder
from miner.images.task_image import open_workshop
from miner.languages.python.images.steps import DEPENDENCIES
from miner.layers import base, build, dockerfile
from miner.layers.dockerfile import ParsedDockerfile, Section
from miner.layers.layer import COMPRESSED, REPOSITORY, SOURCE_NAME, Folder, Input, Layer
from miner.layers.runner import Workshop
from miner.layers.source import KIND as SOURCE

LABEL = "dev.goldseam.rebuild"
"""On what is built again, and goes when it is compared: whose it is, see `owners.mark`."""
_OWN = (DEPENDENCIES, SOURCE)
"""The layers of a task itself: what they stand on is shared by many."""
_TREE = f"""
cp -r /testbed/.git /tmp/git
echo '* -export-subst -export-ignore' >> /tmp/git/info/attributes
git --git-dir=/tmp/git -c tar.umask=0022 archive --format=tar --output=/run/goldseam/out/{SOURCE_NAME} HEAD
"""
_ON = {"DOCKER_BUILDKIT": "1"}
_ASKED_SECONDS = 30.0
_NOT_KEPT = ("run/", "tmp/", "dev/", "proc/", "sys/")
"""What the engine mounts, or a build: empty in an image."""
_INDEXED = re.compile(r"opt/goldseam/(?:gocache/.*-[ad]|rust/target/debug/incremental(?:/.*)?)")
"""What compilers keep under names made of times, or by chance."""
_COMPILED = re.compile(r"opt/goldseam/rust/(?:target/.*|cargo/\.global-cache)")
"""Files of Rust with times in them, or in the order in which threads ended."""
_STUBS = ("", ".dockerenv", "usr/sbin/docker-init", "sbin/docker-init")
"""Places of single files that the engine mounts."""
_ONLY_THERE = ("testbed/.git/index",)
_WHEN = "uv_cache.json"
_PYC_HEADER = 16
"""Magic number, flags and the source's hash (PEP 552)."""
_HASHED = 0b01


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
        workshop = replace(opened.reaching(written.hosts), variables={**opened.variables, **written.variables})
        names = {name for section in sections for name in section.inputs} - {SOURCE_NAME}
        public = public_files(dataset, instance_id) if names else {}
        files = {name: workshop.input(name, _input(dataset, instance_id, name, public)).path for name in names}
        files[SOURCE_NAME] = _tree(workshop, pinned)
        start = below or base.resolve(settings.model_copy(update={"base": written.base}))
        images = (
            _plain(workshop, sections, files, start)
            if program is None
            else _with_buildkit(workshop, program, written, sections, files, start)
        )
    try:
        note(f"comparing {instance_id}")
        differences = differing(pinned, images[-1])
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
    program = buildkit_client()
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
        inputs = tuple(Input(name=name, path=files[name], sha256="") for name in section.inputs)
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
        shutil.copyfile(files[name], context / name)
    tag = f"{REPOSITORY}/rebuilt:{uuid.uuid4().hex[:16]}"
    ground = f"{tag}-from"
    engine.tag_image(start, ground)  # BuildKit looks an image's id up in a registry
    text = "\n".join([dockerfile.head(ground, written.variables), *(section.text for section in sections)])
    (context / "Dockerfile").write_text(text, encoding="utf-8")
    workshop.progress(f"building {' and '.join(section.kind for section in sections)} again with BuildKit")
    try:
        image_id = build_with_buildkit(
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


def _input(dataset: Dataset, instance_id: str, name: str, files: Mapping[str, str]) -> bytes:
    """What the Dockerfile of a task reads by a name: a lock, or what is kept compressed, hidden where it is the fix's.

    `files` are the task's public ones by name.

    Raises:
        InputError: it is not there, or hidden and can't be read.

    """
    if name in files:
        return files[name].encode("utf-8", "surrogateescape")
    stored = f"{name}{COMPRESSED}"
    if stored in files:
        compressed = files[stored].encode("utf-8", "surrogateescape")
    else:
        compressed = dataset.task(instance_id).hidden.inputs.get(f"{OF_FIX}{stored}", b"")
    if not compressed:
        raise InputError(
            f"the Dockerfile reads {name}, which is not in the folder of {instance_id}",
            hint="an older goldseam did not keep it: mine the task again",
        )
    try:
        return gzip.decompress(compressed)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{dataset.task_folder(instance_id) / stored} is broken: {error}") from error


def _folder(workshop: Workshop, name: str, target: str) -> Folder:
    program, _, version = name.partition("-")
    installed: Mapping[str, Path] = getattr(workshop.settings, f"{program}s")
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
    with engine.calling("looking for left-over images") as client:
        left = client.images(filters={"label": [LABEL]})
    for image in left:  # the newest come first
        if owners.is_left(image["Labels"][LABEL]):
            _remove(image["Id"])


def _remove(image: str) -> None:
    """Remove an image, or a name of it."""
    with contextlib.suppress(*engine.ConnectionLost):
        engine.connect().remove_image(image)


@functools.cache
def buildkit_client() -> str | None:
    """The docker client that can build with BuildKit here; None where there is none, or the engine is Podman.

    Docker 18.09 to 20.10 bring it themselves; later clients need the plug-in buildx. The first on PATH that has it.
    """
    if engine.is_podman():
        return None
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = Path(folder, "docker")
        if not (path.is_file() and os.access(path, os.X_OK)):
            continue
        try:
            completed = process.run([path, "build", "--help"], env=_ON, check=False, timeout=_ASKED_SECONDS)
        except InfrastructureError:
            continue
        if completed.returncode == 0 and b"--secret" in completed.stdout:
            return str(path)
    return None


def build_with_buildkit(
    program: str,
    context: Path,
    *,
    tag: str,
    labels: Mapping[str, str],
    exported: Mapping[str, str],
    ca_bundle: Path | None,
    seconds: float,
    mask: Callable[[str], str],
) -> str:
    """Build the folder `context`, which has a Dockerfile, with nothing taken from an earlier build; what was said.

    `exported` and `ca_bundle` are the secrets `build-env` and `ca`. `context` is theirs as well while it builds, so
    that they are gone with it.

    Raises:
        InfrastructureError: it could not be built, or took longer than `seconds`.

    """
    (context / ".dockerignore").write_text("*.secret\n", encoding="utf-8")
    secret = context / "build-env.secret"
    secret.touch(mode=0o600)
    secret.write_text("".join(f"export {name}={shlex.quote(value)}\n" for name, value in exported.items()))
    argv = [program, "build", "--progress=plain", "--no-cache", "--tag", tag, "--secret", f"id=build-env,src={secret}"]
    argv += ["--secret", f"id=ca,src={ca_bundle}"] if ca_bundle else []
    argv += [word for name, value in labels.items() for word in ("--label", f"{name}={value}")]
    completed = process.run([*argv, str(context)], env=_ON, check=False, timeout=seconds)
    output = mask((completed.stdout + completed.stderr).decode("utf-8", "replace"))
    if completed.returncode != 0:
        raise InfrastructureError(f"BuildKit could not build it: {' '.join(output[-600:].split())}")
    return output


def differing(left: str, other: str) -> dict[str, str]:
    """Paths in which two images differ, and how; in the configuration, `(configuration) NAME`.

    Times are left out. So is what two builds of the same never share: git's index has inodes and times, uv notes when
    it read a project, compilers of Go and Rust when they compiled. Byte code is compared by the source that it says it
    is of.

    Raises:
        InfrastructureError: the engine failed, or an image is not there.

    """
    return differences(entries(left), entries(other))


def differences(ours: Mapping[str, str], theirs: Mapping[str, str]) -> dict[str, str]:
    """How two sets of entries differ. Pure."""
    paths = dict.fromkeys(ours.keys() - theirs.keys(), "only in the first")
    paths |= dict.fromkeys(theirs.keys() - ours.keys(), "only in the second")
    for path in ours.keys() & theirs.keys():
        if ours[path] != theirs[path]:
            mine, yours = ours[path].split(" ", 1), theirs[path].split(" ", 1)
            paths[path] = "content" if mine[0] == yours[0] else f"{mine[0]} and {yours[0]}"
    return dict(sorted(paths.items()))


def entries(image: str) -> dict[str, str]:
    """Every path of an image with kind, mode, owner and a digest of what it holds.

    Raises:
        InfrastructureError: the engine failed, or the image is not there.

    """
    with engine.calling(f"reading image {image[:19]}") as client:
        config = client.inspect_image(image)["Config"]
        with owners.passing_container(image, "compare", command=["true"]) as container:
            pipe = io.BufferedReader(Pipe(client.export(container)), 1 << 20)
            with tarfile.open(fileobj=pipe, mode="r|") as archive:
                entries_read = _read(archive)
    for setting in (*(config.get("Env") or ()), f"WorkingDir={config.get('WorkingDir') or '/'}"):
        name, _, value = setting.partition("=")
        entries_read[f"(configuration) {name}"] = f"set {value}"
    return entries_read


def _read(archive: tarfile.TarFile) -> dict[str, str]:
    entries_read: dict[str, str] = {}
    for member in archive:
        name = member.name.removeprefix("./").rstrip("/")
        if f"{name}/".startswith(_NOT_KEPT) or name in _STUBS or _INDEXED.fullmatch(name):
            continue
        if member.islnk():  # another name of a file, of which the first has the content
            entries_read[name] = entries_read.get(member.linkname.removeprefix("./"), f"link to {member.linkname}")
            continue
        kinds = {tarfile.DIRTYPE: "folder", tarfile.SYMTYPE: "link"}
        kind = "file" if member.isreg() else kinds.get(member.type, "special")
        data = archive.extractfile(member) if member.isreg() else None
        holds = digest(name, data) if data else member.linkname
        entries_read[name] = f"{kind}:{member.mode:o}:{member.uid}:{member.gid} {holds}"
    return entries_read


def digest(name: str, data: IO[bytes]) -> str:
    """What a file holds, as far as it is compared. Pure."""
    if name in _ONLY_THERE or name.endswith(f".dist-info/{_WHEN}") or _COMPILED.fullmatch(name):
        return "-"
    if name.endswith(".pyc"):
        head = data.read(_PYC_HEADER)
        return (head if head[4:5] and head[4] & _HASHED else head[:4]).hex()
    if name.endswith(".dist-info/RECORD"):
        lines = [line for line in data.read().splitlines() if f"/{_WHEN},".encode() not in line]
        return hashlib.sha256(b"\n".join(sorted(lines))).hexdigest()
    hasher = hashlib.sha256()
    while chunk := data.read(1 << 20):
        hasher.update(chunk)
    return hasher.hexdigest()
