"""What a proof costs: container seconds of each stage, as a multiple of one plain run of the same tests.

    python -m benchmarks.proof_price CLONE… [--each 2] [--rows FILE.jsonl] [--pr 705]

Takes the newest candidates of each clone whose images build, one at a time, and takes each through proof, stripping,
confirmation and strength. Counted is the wall time of every container, by what the mine was doing: `proof` (the runs
that each state is to have), `causes` (further runs), `stripping` (recording, proving, confirming) and `strength`. A
plain run is the first one with the fix. What `--most-seconds` ended counts as it stood. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.environments import name_of
from harness.config.settings import Settings, load_settings
from harness.core.errors import GoldseamError
from harness.dataset.folder import create_dataset
from harness.sandbox.docker import DockerSandbox
from miner.candidates.scan import scan
from miner.images.image_builders import HereImages
from miner.pipeline import stages
from miner.pipeline.draft import Draft, MiningContext
from miner.sources.change import Candidate, Rejection
from miner.sources.git import open_source
from miner.sources.history import ChangeFilter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.sandbox.job import Job, JobResult
    from miner.sources.bare import BareRepository

STAGES = ("proof", "causes", "stripping", "strength")


class TooLongError(Exception):
    """A candidate has taken more than the benchmark waits for."""


class MeteringSandbox(DockerSandbox):
    """Adds up the wall time of containers by stage."""

    stage, most_seconds = "", float("inf")

    def __init__(self) -> None:
        super().__init__()
        self.begin()

    def begin(self) -> None:
        """The next candidate."""
        self.seconds: dict[str, float] = defaultdict(float)
        self.runs: dict[str, int] = defaultdict(int)
        self.plain = 0.0

    def run(self, job: Job) -> JobResult:
        if sum(self.seconds.values()) > self.most_seconds:
            raise TooLongError
        began = time.monotonic()
        try:
            return super().run(job)
        finally:
            took = time.monotonic() - began
            self.seconds[self.stage] += took
            self.runs[self.stage] += 1
            self.plain = self.plain or (took if self.stage == "proof" else 0.0)


def candidates(repo: BareRepository, numbers: frozenset[int]) -> Iterator[Candidate]:
    """Candidates of a history, newest first."""
    for looked in scan(repo, ChangeFilter(numbers=numbers)):
        if isinstance(looked.outcome, Candidate):
            yield looked.outcome


def row(candidate: Candidate, site: MiningContext, sandbox: MeteringSandbox) -> dict[str, Any] | None:
    """What a candidate cost; None where it has no image."""
    draft = stages.take_apart(Draft(candidate=candidate), site)
    draft = draft if isinstance(draft, Rejection) else stages.build(draft, site)
    if isinstance(draft, Rejection):
        return None
    sandbox.begin()
    ended = "accepted"
    steps = (("proof", stages.prove), ("stripping", stages.strip), ("stripping", stages.confirm),
             ("strength", stages.strengthen))  # fmt: skip
    try:
        for stage, step in steps:
            sandbox.stage = stage
            after = step(draft, site)
            if isinstance(after, Rejection):
                ended = after.reason
                break
            draft = after
    except TooLongError:
        ended = f"ended after {sandbox.most_seconds:.0f} s"
    spent = {stage: round(sandbox.seconds[stage], 1) for stage in STAGES}
    return {
        "instance_id": candidate.change.instance_id,
        "ended": ended,
        "plain_seconds": round(sandbox.plain, 2),
        "seconds": spent,
        "runs": {stage: sandbox.runs[stage] for stage in STAGES},
        "given_up": list(getattr(draft, "given_up", ())),
    }


def mined(clone: Path, asked: argparse.Namespace, settings: Settings, sandbox: MeteringSandbox) -> list[dict[str, Any]]:
    """Rows of one clone's newest candidates."""
    name = name_of(clone)
    repo = open_source(str(clone), cache=settings.images.cache_dir / "sources", name=name)

    def note(text: str) -> None:
        if sandbox.stage in {"proof", "causes"}:
            sandbox.stage = "causes" if "causes, " in text or "once more" in text else "proof"

    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as scratch:
        site = MiningContext(
            repo=repo, dataset=create_dataset(Path(scratch) / "dataset"), settings=settings, sandbox=sandbox,
            images=HereImages(settings=settings.images), runs=3, note=note,
        )  # fmt: skip
        for candidate in candidates(repo, frozenset(asked.pr or ())):
            if len(rows) == asked.each:
                break
            sandbox.stage = "image"
            try:
                made = row(candidate, site, sandbox)
            except GoldseamError as error:
                print(f"{candidate.change.instance_id}: {error.message}", flush=True)
                continue
            if made is not None:
                rows.append(made)
                print(line(made), flush=True)
                if asked.rows:
                    with asked.rows.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(made) + "\n")
    return rows


def ratios(made: dict[str, Any]) -> dict[str, float]:
    """Container seconds by stage and in all, as a multiple of a plain run."""
    plain = made["plain_seconds"] or 1.0
    whole = {stage: made["seconds"][stage] / plain for stage in STAGES}
    return {**whole, "all": sum(whole.values())}


def line(made: dict[str, Any]) -> str:
    """One row for a person, in Markdown."""
    cells = " | ".join(f"{ratio:.1f}" for ratio in ratios(made).values())
    whole = sum(made["seconds"].values())
    return f"| {made['instance_id']} | {made['plain_seconds']:.1f} | {cells} | {whole:.0f} | {made['ended']} |"


def main() -> None:
    """Read the arguments, measure, print rows as they come and the median ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clones", nargs="+", type=Path)
    parser.add_argument("--each", type=int, default=2, help="candidates of each repository")
    parser.add_argument("--pr", type=int, action="append", help="this pull request (repeatable)")
    parser.add_argument("--rows", type=Path, help="a file that rows are added to")
    parser.add_argument("--most-seconds", type=float, default=3600.0, help="container seconds of one candidate")
    asked = parser.parse_args()
    print(f"| candidate | plain run, s | {' | '.join(STAGES)} | all | seconds | ended |", flush=True)
    print("|---|" + "---|" * (len(STAGES) + 4), flush=True)
    with MeteringSandbox() as sandbox:
        sandbox.most_seconds = asked.most_seconds
        rows = [made for clone in asked.clones for made in mined(clone, asked, load_settings(), sandbox)]
    medians = {
        name: round(statistics.median(ratios(made)[name] for made in rows), 1) for name in (*STAGES, "all")
    } if rows else {}  # fmt: skip
    print(json.dumps({"candidates": len(rows), "median_ratio": medians}))


if __name__ == "__main__":
    main()
