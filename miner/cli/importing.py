"""`goldseam holdout import`: rows of SWE-bench's form into the private dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from rich.table import Table
from rich.text import Text

from harness.cli import options
from harness.cli.shell.command import App, argument, option
from harness.cli.views import terminal
from harness.cli.views.terminal import Ticker
from harness.config.settings import load_settings
from harness.core.errors import InputError
from harness.dataset.folder import begun_dataset
from harness.sandbox.executors.choose import Kind, choose
from miner.candidates.funnel import FunnelLine
from miner.cli.display import funnel_line, report_bugs
from miner.importing.run import Imported, Options, import_rows
from miner.sources.change import INTERNAL_ERROR

app = App()


class _Progress:
    """An import's progress on the terminal."""

    def __init__(self, ticker: Ticker) -> None:
        self._ticker = ticker

    def note(self, text: str) -> None:
        self._ticker.note(text)

    def decided(self, line: FunnelLine) -> None:
        self._ticker.step(funnel_line(line))


@app.add(
    "import",
    examples={
        "goldseam holdout import rows.jsonl --source psf/requests=../requests -o bench": "Import rows of one repository",
        "goldseam holdout import rows.jsonl --source psf/requests=https://github.com/psf/requests -o bench": "Clone the repository first",
        "goldseam holdout import rows.jsonl --source psf/requests=../requests -o bench -i psf__requests-2317": "Import one row",
    },
)
def import_command(
    rows: Annotated[Path, argument("ROWS", "File of rows in SWE-bench's form, one JSON object a line.")],
    sources: Annotated[
        list[str], option("--source OWNER/REPO=PATH|URL", "Where a repository of the rows is (repeatable).")
    ],
    out: Annotated[
        Path,
        option(
            "-o, --output DATASET",
            "Dataset folder; an unfinished import into it is continued.",
            parser=options.output_folder,
        ),
    ],
    ids: Annotated[list[str] | None, option("-i, --id TASK", "Only this row (repeatable).")] = None,
    runs: Annotated[int, option("--runs N", "Fresh containers with the fix, and as many without it.", min=1)] = 3,
    accept_part: Annotated[
        bool,
        option("--accept-part", "Accept a row if only part of its FAIL_TO_PASS holds; otherwise it is quarantined."),
    ] = False,
    force: Annotated[bool, option("--force", "Decide again on everything decided before.")] = False,
    jobs: options.JobsOption = None,
    executor: options.ExecutorOption = Kind.LOCAL,
    address: options.AddressOption = None,
    runtime: options.RuntimeOption = None,
    json_: options.JsonFlag = False,
) -> None:
    """Import SWE-bench rows: build each at its base commit, prove it here, and report which of its test ids hold."""
    places = _sources(sources)
    if not rows.is_file():
        raise InputError(f"expected a file of rows at {rows}, found {'a folder' if rows.is_dir() else 'nothing'}")
    settings = load_settings()
    import_options = Options(runs=runs, accept_part=accept_part, fresh=force, chosen=frozenset(ids or ()))
    place = choose(executor, address=address, jobs=jobs)
    with (
        begun_dataset(out) as dataset,
        terminal.Ticker(terminal.messages(), "import", quiet=json_) as ticker,
        place.sandbox(runtime=runtime, note=ticker.note) as sandbox,
    ):
        imported = import_rows(
            rows,
            places,
            dataset,
            import_options,
            settings=settings,
            sandbox=sandbox,
            executor=place,
            observer=_Progress(ticker),
        )
    if json_:
        options.print_json(_json(imported))
    else:
        console = terminal.results()
        console.print(_rows_table(imported))
        console.print(_ids_table(imported))
        console.print(Text(f"dataset: {out}", style="bright_black"))
    report_bugs([line for line in imported.lines if line.reason == INTERNAL_ERROR])


def _sources(places: list[str]) -> Mapping[str, str]:
    sources: dict[str, str] = {}
    for text in places:
        name, sign, place = text.partition("=")
        if not sign or not place or name.count("/") != 1 or not all(name.split("/")):
            raise InputError(
                f"--source: expected OWNER/REPO=PATH-or-URL, found {text!r}",
                hint="for example --source psf/requests=../requests",
            )
        if name in sources:
            raise InputError(f"--source names {name} twice")
        sources[name] = place
    return sources


def _json(imported: Imported) -> dict[str, object]:
    return {
        "rows": [
            {
                "instance_id": line.instance_id,
                "repo": line.repo,
                "stage": line.stage.value,
                "reason": line.reason,
                "detail": line.detail,
                "seconds": line.seconds,
            }
            for line in imported.lines
        ],
        "repositories": [asdict(tally) for tally in imported.tallies],
    }


def _rows_table(imported: Imported) -> Table:
    table = terminal.table_of("repository", *terminal.figures("rows", "whole", "part"), "not proved, because")
    for tally in imported.tallies:
        reasons = ", ".join(f"{count} {reason}" for reason, count in tally.reasons.items())
        table.add_row(tally.repo or "(unknown)", str(tally.rows), str(tally.whole), str(tally.part), Text(reasons))
    return table


def _ids_table(imported: Imported) -> Table:
    table = terminal.table_of("repository", "list", "its ids here")
    for tally in imported.tallies:
        for name, verdicts in (("FAIL_TO_PASS", tally.fail_to_pass), ("PASS_TO_PASS", tally.pass_to_pass)):
            text = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
            table.add_row(tally.repo or "(unknown)", name, Text(text))
    return table
