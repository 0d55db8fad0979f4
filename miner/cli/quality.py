"""`goldseam holdout quality`: measure again what a task leaks, how hard it looks, and what it should not hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated

from rich.table import Column, Table
from rich.text import Text

from harness.cli.options import DatasetArgument, IdentityOption, IdsOption, JsonFlag, open_with, print_json
from harness.cli.shell.command import App, option
from harness.cli.views import terminal
from harness.config.settings import load_settings
from harness.core.errors import InputError
from harness.core.wording import counted
from miner.layers import package_index
from miner.quality.assessment import Appraised, appraise

app = App()


@app.add(
    "quality",
    examples={
        "goldseam holdout quality bench --source ../app": "Measure all tasks of one repository",
        "goldseam holdout quality bench --source acme/app=../app --source acme/lib=../lib": "Measure tasks of two",
        "goldseam holdout quality bench --source ../app --dry-run": "Show the figures, and write nothing",
    },
)
def quality_command(
    dataset: DatasetArgument,
    sources: Annotated[
        list[str],
        option(
            "--source [OWNER/REPO=]PATH|URL",
            "Where a repository of the tasks is (repeatable); without a name, of all tasks.",
        ),
    ],
    ids: IdsOption = None,
    dry_run: Annotated[bool, option("--dry-run", "Show what was measured, and write nothing.")] = False,
    identity: IdentityOption = None,
    json_: JsonFlag = False,
) -> None:
    """Measure tasks without running them: what the statement leaks, difficulty, secrets, licence."""
    settings = load_settings()
    with terminal.Ticker(terminal.messages(), "quality", quiet=json_) as ticker:
        appraisals = appraise(
            open_with(dataset, identity),
            _sources(sources),
            ids=ids or (),
            index=package_index.configured(settings.mining),
            cache=settings.images.cache_dir / "sources",
            write=not dry_run,
            note=ticker.note,
        )
    if json_:
        tasks = [
            {
                "instance_id": appraisal.instance.instance_id,
                "unknown": appraisal.unknown,
                "quality": dict(appraisal.instance.quality),
            }
            for appraisal in appraisals
        ]
        print_json(
            {"tasks": tasks, "changed": sum(appraisal.changed for appraisal in appraisals), "written": not dry_run}
        )
    else:
        _show(appraisals, dry_run=dry_run)


def _sources(places: list[str]) -> Mapping[str, str]:
    sources: dict[str, str] = {}
    for text in places:
        name, sign, place = text.partition("=")
        is_name = bool(sign) and name.count("/") == 1 and "://" not in name and not name.startswith((".", "/"))
        if (name if is_name else "") in sources:
            raise InputError(f"--source names {name if is_name else 'the repository of all tasks'} twice")
        sources[name if is_name else ""] = place if is_name else text
    return sources


def _show(appraisals: Sequence[Appraised], *, dry_run: bool) -> None:
    console = terminal.results()
    heads = ("tier", "told", "points", "unshown", "released", "secrets")
    columns = [Column(head, no_wrap=True) for head in heads]
    table = Table(Column("task", overflow="fold"), *columns, box=None, pad_edge=False)
    for appraisal in appraisals:
        table.add_row(Text(appraisal.instance.instance_id), *_cells(appraisal.instance.quality))
    console.print(table)
    tiers = Counter(_part(appraisal.instance.quality, "difficulty").get("tier") for appraisal in appraisals)
    licences = Counter(_part(appraisal.instance.quality, "licence").get("spdx") for appraisal in appraisals)
    console.print(Text(f"tiers: {_counts(tiers)}; licences: {_counts(licences)}"), soft_wrap=True)
    for appraisal in appraisals:
        if appraisal.unknown:
            console.print(
                Text(f"{appraisal.instance.instance_id} was not measured: {appraisal.unknown}"), soft_wrap=True
            )
    changed = sum(appraisal.changed for appraisal in appraisals)
    console.print(Text(f"{changed} of {counted(len(appraisals), 'task')} {'would change' if dry_run else 'changed'}"))


def _part(quality: Mapping[str, object], name: str) -> Mapping[str, object]:
    part = quality.get(name)
    return part if isinstance(part, dict) else {}


def _counts(counter: Counter[object]) -> str:
    return ", ".join(f"{count} {name or 'unknown'}" for name, count in counter.most_common())


def _cells(quality: Mapping[str, object]) -> tuple[str, ...]:
    leaks, hygiene = _part(quality, "leaks"), _part(quality, "hygiene")
    overlap, released = leaks.get("overlap"), leaks.get("released")
    pointers = sum(_number(leaks.get(name)) for name in ("shas", "links", "numbers", "versions"))
    unshown = _number(leaks.get("unshown_names")) + _number(leaks.get("unshown_texts"))
    secrets = sum(_number(count) for side in ("statement", "patches") for count in _part(hygiene, side).values())
    return (
        str(_part(quality, "difficulty").get("tier") or "–"),
        "–" if overlap is None else f"{overlap:.0%}",
        str(pointers or "–"),
        str(unshown or "–"),
        {True: "yes", False: "no"}.get(released, "unknown") if isinstance(released, bool) else "unknown",
        str(secrets or "–"),
    )


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
