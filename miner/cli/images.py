"""`goldseam images`: the images that tasks run in."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from harness.cli.options import DatasetArgument, IdsOption, JsonFlag, print_json
from harness.cli.shell.command import App, Group, argument, option
from harness.cli.views import scores, terminal
from harness.config.settings import load_settings
from harness.core.errors import AnswerIsNoError, InfrastructureError
from harness.core.grouping import grouped
from harness.core.wording import counted
from harness.dataset.folder import open_dataset
from harness.sandbox import engine
from miner.images import downloads as cached
from miner.images import rebuild as builds
from miner.images import signal_tools, store, toolchains
from miner.images.cli_choices import Builder, Extra
from miner.images.rebuild import Rebuilt
from miner.images.store import StoredImage, Transfers
from miner.layers import base as bases
from miner.layers import debian

_SHOWN = 20

EXAMPLES = {
    "goldseam images base": "Prepare the base image",
    "goldseam images ls": "List the images that goldseam made",
    "goldseam images gc bench --dry-run": "Show which images no task needs",
}


class _Images(Group):
    examples = EXAMPLES


app = App(
    cls=_Images, no_args_is_help=True, help="Manage task images: build a base, list, push, pull, rebuild, clean up."
)


@app.add(
    examples={
        "goldseam images base": "Prepare the base image",
        "goldseam images base --from-debian": "Build it on this machine, without a registry",
        "goldseam images base --with go --with jdk=21": "Prepare what tests of Go and Java run on, too",
    }
)
def base(
    *,
    from_debian: Annotated[
        bool,
        option("--from-debian", "Build Debian on this machine with mmdebstrap or debootstrap, without a registry."),
    ] = False,
    mirror: Annotated[
        str | None, option("--mirror URL", "Debian mirror for the packages.", shown="Debian's own")
    ] = None,
    suite: Annotated[str, option("--suite NAME", "Debian release.")] = "bookworm",
    platform: Annotated[
        str | None,
        option("--platform OS/ARCH", "Platform of the image, such as linux/arm64.", shown="the engine's own"),
    ] = None,
    force: Annotated[bool, option("--force", "Build again what exists already.")] = False,
    with_: Annotated[
        list[str] | None,
        option("--with NAME[=VERSION]", "Prepare this toolchain on it: go, jdk or rust (repeatable).", shown="none"),
    ] = None,
    json_: JsonFlag = False,
) -> None:
    """Provide the image that task images start from: pull it, or build it on this machine."""
    settings = load_settings(images={"platform": platform}).images
    if from_debian:
        image = bases.from_debian(suite=suite, mirror=mirror, platform=settings.platform, force=force)
        name = debian.name(suite, settings.platform)
    else:
        image = bases.resolve(settings)
        name = bases.describe(settings)
    with terminal.Ticker(terminal.messages(), "base", quiet=json_) as ticker:
        built = toolchains.ensure(with_, settings, ticker.note) if with_ else []
    if json_:
        layers = [
            {
                "name": called,
                "version": layer.facts.get(layer.kind),
                "image": layer.image_id,
                "tag": layer.tag,
                "bytes": layer.size,
            }
            for called, layer in built
        ]
        print_json({"image": image, "name": name, "toolchains": layers})
        return
    print_ = terminal.results().print
    print_(f"{name}  {image}", soft_wrap=True)
    for called, layer in built:
        version = layer.facts.get(layer.kind)
        print_(f"{layer.tag}  {layer.image_id}  {called} ({version}), {layer.size / 1e6:.1f} MB", soft_wrap=True)


@app.add(
    examples={
        "goldseam images tools": "Prepare the tools image",
        "goldseam images tools --with semgrep": "Add semgrep",
        "goldseam images tools --with eslint --with semgrep": "Add both optional tools",
    }
)
def tools(
    *,
    extras: Annotated[list[Extra] | None, option("--with", "Optional tool to add (repeatable).")] = None,
    json_: JsonFlag = False,
) -> None:
    """Provide the image with ruff, bandit and lizard, which examine patched files beside the verdict."""
    with terminal.Ticker(terminal.messages(), "tools", quiet=json_) as ticker:
        built = signal_tools.ensure(load_settings().images, ticker.note, extras=extras or ())
    versions = {name: str(version) for name, version in built.facts.items()}
    if json_:
        print_json({"image": built.image_id, "name": built.tag, "versions": versions})
    else:
        text = ", ".join(f"{name} {version}" for name, version in versions.items())
        terminal.results().print(f"{built.tag}  {built.image_id}  {text}", soft_wrap=True)


@app.add(
    "ls",
    examples={
        "goldseam images ls": "List the images that goldseam made",
        "goldseam images ls --json": "Print them as JSON",
        "goldseam images ls --no-color": "List them without colors",
    },
)
def list_images(*, json_: JsonFlag = False) -> None:
    """List the images that goldseam made and the engine holds."""
    images = store.images()
    if json_:
        print_json({"images": [_as_json(image) for image in images]})
        return
    table = scores.table("kind", "image", "version or repository", "base commit", "MB", left=4)
    for image in images:
        name = next(iter(image.tags), image.id[:19])
        known_as = image.version or image.repo
        table.add_row(image.kind, name, known_as, image.base_commit[:12], f"{image.layer_bytes / 1e6:.1f}")
    terminal.results().print(table)


@app.add(
    examples={
        "goldseam images du": "Show disk use by kind",
        "goldseam images du --json": "Print it as JSON",
        "goldseam images du --no-color": "Show it without colors",
    }
)
def du(*, json_: JsonFlag = False) -> None:
    """Show how much disk images take, each layer counted once."""
    kinds = grouped((image.kind, image.layer_bytes) for image in store.images())
    total = sum(sum(sizes) for sizes in kinds.values())
    if json_:
        by_kind = {kind: {"images": len(sizes), "bytes": sum(sizes)} for kind, sizes in kinds.items()}
        print_json({"kinds": by_kind, "bytes": total})
        return
    table = scores.table("kind", "images", "MB")
    for kind, sizes in kinds.items():
        table.add_row(kind, str(len(sizes)), f"{sum(sizes) / 1e6:.1f}")
    table.add_row("all", str(sum(map(len, kinds.values()))), f"{total / 1e6:.1f}")
    terminal.results().print(table)


@app.add(
    examples={
        "goldseam images gc bench --dry-run": "Show what would be removed",
        "goldseam images gc bench": "Remove what no task of a dataset needs",
        "goldseam images gc bench lib-bench --downloads 30": "Keep the images of two datasets; remove downloads unused for 30 days",
    }
)
def gc(
    datasets: Annotated[list[Path], argument("DATASET...", "Datasets whose tasks keep their images.")],
    *,
    downloads: Annotated[
        int | None,
        option(
            "--downloads DAYS",
            "Also remove packages, clones and indexes of layers in the cache that nothing has used for so many days.",
            min=1,
        ),
    ] = None,
    dry_run: Annotated[bool, option("--dry-run", "Show what would be removed, and remove nothing.")] = False,
    json_: JsonFlag = False,
) -> None:
    """Remove the images that no task of these datasets needs; base images are kept."""
    tasks = [instance for path in datasets for instance in open_dataset(path).instances() if instance.image]
    names = {name for task in tasks for name in (task.image, *(beside.image for beside in task.test.services)) if name}
    needed = {image_id for name in names if (image_id := engine.image_id(name))}
    going = store.unneeded(store.images(), needed)
    images = going if dry_run else tuple(image for image in going if store.remove(image))
    freed = sum(image.layer_bytes for image in images)
    unused = cached.unused(load_settings().images.cache_dir, days=downloads) if downloads else ()
    sizes = {str(place): cached.size(place) for place in unused}
    for place in () if dry_run else unused:
        cached.remove(place)
    if json_:
        removed = {"removed": [_as_json(image) for image in images], "bytes": freed}
        print_json({**removed, "downloads": sizes, "dry_run": dry_run})
    else:
        verb = "would remove" if dry_run else "removed"
        terminal.results().print(f"{verb} {counted(len(images), 'image')}, {freed / 1e6:.1f} MB")
        if downloads:
            text = counted(len(sizes), "unused entry", "unused entries")
            terminal.results().print(f"{verb} {text} of the cache, {sum(sizes.values()) / 1e6:.1f} MB")
    if len(images) < len(going):
        raise InfrastructureError(
            f"{counted(len(going) - len(images), 'image is', 'images are')} still used by containers",
            hint="run it again when these have ended",
        )


@app.add(
    examples={
        "goldseam images push bench": "Push all images of a dataset",
        "goldseam images push bench --config goldseam.toml": "Push to the registry that a settings file names",
        "goldseam images push bench --json": "Print what was pushed as JSON",
    }
)
def push(dataset: DatasetArgument, *, json_: JsonFlag = False) -> None:
    """Push a dataset's images to the registry in [images] registry, and let its tasks name them by digest."""
    with terminal.Ticker(terminal.messages(), "push", quiet=json_) as ticker:
        moved = store.push(open_dataset(dataset), load_settings().images.registry, ticker.note)
    _tell_moved(moved, "pushed", json_=json_, hint="push where the dataset was mined, or mine these tasks again")


@app.add(
    examples={
        "goldseam images pull bench": "Pull the images that are missing here",
        "goldseam images pull bench --quiet": "Pull them without progress",
        "goldseam images pull bench --json": "Print what was pulled as JSON",
    }
)
def pull(dataset: DatasetArgument, *, json_: JsonFlag = False) -> None:
    """Pull the images of a dataset that the engine lacks, by digest."""
    with terminal.Ticker(terminal.messages(), "pull", quiet=json_) as ticker:
        moved = store.pull(open_dataset(dataset), ticker.note)
    _tell_moved(moved, "pulled", json_=json_, hint="check that the registry answers and lets you in (`docker login`)")


@app.add(
    examples={
        "goldseam images rebuild bench": "Rebuild every image, and compare",
        "goldseam images rebuild bench -i acme__app-12": "Rebuild one",
        "goldseam images rebuild bench --whole": "Rebuild from the base image on",
    }
)
def rebuild(
    dataset: DatasetArgument,
    *,
    instances: IdsOption = None,
    builder: Annotated[
        Builder, option("--builder", "BuildKit, or step by step as `mine` builds; auto: BuildKit if egress is open.")
    ] = Builder.AUTO,
    whole: Annotated[
        bool, option("--whole", "Rebuild from the base image on, not only the task's own layers.")
    ] = False,
    json_: JsonFlag = False,
) -> None:
    """Rebuild tasks' images from their Dockerfiles and locks, and compare file by file. Exit code 1 if one differs."""
    opened, settings = open_dataset(dataset), load_settings().images
    task_ids = instances or [instance.instance_id for instance in opened.instances() if instance.image]
    log = settings.cache_dir / "logs" / "rebuild.log"
    builds.sweep()
    with terminal.Ticker(terminal.messages(), "rebuild", quiet=json_) as ticker:
        rebuilds = [
            builds.rebuild(opened, task_id, settings=settings, builder=builder, whole=whole, log=log, note=ticker.note)
            for task_id in task_ids
        ]
    if json_:
        rows = [{**asdict(rebuilt), "same": rebuilt.same, "differing": dict(rebuilt.differing)} for rebuilt in rebuilds]
        print_json({"rebuilt": rows})
    else:
        for rebuilt in rebuilds:
            _tell_rebuilt(rebuilt)
    if different := [rebuilt.instance_id for rebuilt in rebuilds if not rebuilt.same]:
        raise AnswerIsNoError(
            f"{len(different)} of {len(rebuilds)} images are not the same: {', '.join(different[:10])}"
        )


def _tell_rebuilt(rebuilt: Rebuilt) -> None:
    count = len(rebuilt.differing)
    difference = "the same" if rebuilt.same else f"{count} path{'s differ' if count > 1 else ' differs'}"
    print_ = terminal.results().print
    print_(f"{rebuilt.instance_id}  {difference}  ({', '.join(rebuilt.layers)} by {rebuilt.builder})", soft_wrap=True)
    for path, how in list(rebuilt.differing.items())[:_SHOWN]:
        print_(f"    {path}: {how}", soft_wrap=True)
    if count > _SHOWN:
        print_(f"    and {count - _SHOWN} more (--json has all)")


def _tell_moved(moved: Transfers, verb: str, *, json_: bool, hint: str) -> None:
    if json_:
        print_json({verb: moved.done, "already": list(moved.already), "failed": moved.failed})
    else:
        images, tasks = counted(len(set(moved.done.values())), "image"), counted(len(moved.done), "task")
        terminal.results().print(f"{verb} {images} of {tasks}; {len(moved.already)} were there")
    if moved.failed:
        text = "; ".join(f"{name}: {why}" for name, why in list(moved.failed.items())[:5])
        count = counted(len(moved.failed), "image")
        raise InfrastructureError(f"{count} could not be {verb}: {text}", hint=moved.hint or hint)


def _as_json(image: StoredImage) -> dict[str, object]:
    return {
        "id": image.id,
        "kind": image.kind,
        "tags": list(image.tags),
        "version": image.version,
        "repo": image.repo,
        "base_commit": image.base_commit,
        "bytes": image.layer_bytes,
    }
