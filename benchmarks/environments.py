"""How many bug fixes of real histories get an environment without a model, rung by rung, and prove their gold patch.

    python benchmarks/environments.py REPO… [--language python] [--each 10] [--since 2018-01-01] [--jobs 2]
        [--rows FILE [--retry]]

Of each clone, `--each` candidates (as `goldseam mine` recognises them) spread evenly over the changes since `--since`.
Each goes through the stages of a mine up to the proof: taken apart, image built on the first rung that collects all its
tests, then base, before and after run once each, in containers without a network. Nothing is left out of the counts but
candidates that end before an image is asked for, of which the next one takes the place.

Repositories take turns, so that a benchmark that is stopped has seen all of them. With `--rows`, each result is kept in
that file as it comes, and those that are there are not made again (`--retry`: but those that failed). `--detect` builds
nothing and prints what kinds of evidence there are. `--further` has the newest candidates of each clone instead, one
after another as a mine has them, up to the image, for what a further commit costs: those after the first are told
apart. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import chain, islice, pairwise, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.environment_rows import Row, Tried, kinds_of, tables
from harness.config.settings import Settings, load_settings
from harness.core import process
from harness.core.errors import GoldseamError
from harness.dataset.folder import create_dataset
from harness.sandbox.docker import DockerSandbox
from miner.candidates.scan import scan
from miner.candidates.split import CommitTree
from miner.images.image_builders import HereImages
from miner.languages.python.detect import detect
from miner.pipeline import stages
from miner.pipeline.draft import Draft, MiningContext, spoken_in
from miner.proof.notebook import STATES
from miner.sources.change import Candidate, Rejection, Stage
from miner.sources.git import open_source
from miner.sources.history import ChangeFilter

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from harness.sandbox.job import Sandbox
    from miner.evidence.tree import Detection
    from miner.languages.built import BuiltImage
    from miner.sources.bare import BareRepository

ENOUGH = 3
"""Candidates of a span of history that are tried to take apart before the span is given up."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """One candidate of a history, and those that may take its place, nearest first."""

    repo: BareRepository
    candidates: tuple[Candidate, ...]
    after: str = ""
    """The instance whose image is made before theirs, where it is measured as a further commit."""
    is_proved: bool = True
    """Whether the proof is asked for as well."""


def points(repo: BareRepository, each: int, since: datetime) -> list[Point]:
    """Candidates spread evenly over a history since a day, newest first."""
    wanted = ChangeFilter(since=since)
    found = [looked.outcome for looked in scan(repo, wanted) if isinstance(looked.outcome, Candidate)]
    spans = min(each, len(found))
    edges = [round(place * len(found) / spans) for place in range(spans + 1)] if spans else []
    made = []
    for begin, end in pairwise(edges):
        middle = (begin + end) // 2
        near = sorted(range(begin, end), key=lambda place: abs(place - middle))
        made.append(Point(repo=repo, candidates=tuple(found[place] for place in near[:ENOUGH])))
    return made


def newest(repo: BareRepository, count: int, since: datetime) -> list[Point]:
    """The newest candidates since a day, each after the one before it."""
    looked = (one.outcome for one in scan(repo, ChangeFilter(since=since)))
    found = list(islice((one for one in looked if isinstance(one, Candidate)), count))
    ids = ["", *(one.change.instance_id for one in found)]
    return [
        Point(repo=repo, candidates=(one,), after=before, is_proved=False)
        for one, before in zip(found, ids, strict=False)
    ]


def name_of(clone: Path) -> str:
    """A name for a clone from its folders: `…/owner+name/repo` and `…/owner/name` are both understood."""
    parts = [part.removesuffix(".git") for part in clone.resolve().parts if part not in {"repo", ".git", "repo.git"}]
    owner, _, name = parts[-1].partition("+")
    return f"{owner}/{name}" if name else "/".join(parts[-2:])


class Bench:
    """What all builds share."""

    def __init__(self, scratch: Path, sandbox: Sandbox, settings: Settings, languages: Collection[str]) -> None:
        self.scratch, self.sandbox, self.settings, self.languages = scratch, sandbox, settings, languages
        self._sites: dict[str, MiningContext] = {}
        self._lock = threading.Lock()
        self._code = _version()

    def site(self, repo: BareRepository) -> MiningContext:
        """A repository's mine, into a dataset that is thrown away."""
        with self._lock:
            if repo.name not in self._sites:
                self._sites[repo.name] = MiningContext(
                    repo=repo,
                    dataset=create_dataset(self.scratch / repo.name.replace("/", "+")),
                    settings=self.settings,
                    sandbox=self.sandbox,
                    images=HereImages(settings=self.settings.images),
                    runs=1,
                    note=lambda _text: None,
                )
            return self._sites[repo.name]

    def row(self, point: Point) -> Row:
        """What becomes of a point."""
        site = self.site(point.repo)
        for candidate in point.candidates:
            draft = stages.take_apart(Draft(candidate=candidate), site)
            if not isinstance(draft, Rejection) and draft.split and spoken_in(draft.split) in self.languages:
                return self._row(draft, site, point)
        return self._blank(point.candidates[0], site, "split")

    def _blank(self, candidate: Candidate, site: MiningContext, ended: str) -> Row:
        change = candidate.change
        return Row(
            repo=site.repo.name,
            instance_id=change.instance_id,
            base_commit=change.base_commit,
            day=site.repo.commit_date(change.base_commit).date().isoformat(),
            ended=ended,
            code=self._code,
        )

    def _row(self, draft: Draft, site: MiningContext, point: Point) -> Row:
        row = self._blank(draft.candidate, site, "environment")
        row.after = point.after
        row.load = round(os.getloadavg()[0], 1)
        began, before = time.monotonic(), _processors()
        try:
            built = stages.build(draft, site)
            row.seconds = time.monotonic() - began
            row.processor_seconds, row.stolen = _since(before)
            if isinstance(built, Rejection):
                return _refused(row, built)
            assert built.image is not None
            _tell(row, built.image)
            if not point.is_proved:
                row.ended = "collected" if row.collected else "built"
                return row
            began = time.monotonic()
            proved = stages.prove(built, site)
            row.proof_seconds = time.monotonic() - began
        except GoldseamError as error:
            row.ended, row.failure = "infrastructure", error.message[:500]
            return row
        if isinstance(proved, Rejection):
            return _refused(row, proved)
        assert proved.proof is not None
        row.ended = "proved"
        row.fail_to_pass, row.pass_to_pass = len(proved.proof.fail_to_pass), len(proved.proof.pass_to_pass)
        at_base = STATES.index("base")
        row.passing_at_base = sum(passes[at_base] > 0 for passes in proved.proof.evidence["passes"].values())
        return row


def _processors() -> tuple[float, float, float]:
    """Seconds that this machine's processors worked, were taken from it by its host, and had in all."""
    with Path("/proc/stat").open(encoding="ascii") as file:
        user, nice, system, idle, waiting, irq, softirq, stolen = (int(one) for one in file.readline().split()[1:9])
    worked = user + nice + system + irq + softirq
    tick = os.sysconf("SC_CLK_TCK")
    return worked / tick, stolen / tick, (worked + stolen + idle + waiting) / tick


def _since(before: tuple[float, float, float]) -> tuple[float, float]:
    """Seconds that they worked since then, and the share that was taken."""
    worked, stolen, whole = (now - then for now, then in zip(_processors(), before, strict=True))
    return round(worked, 1), round(stolen / whole, 3) if whole else 0.0


def _refused(row: Row, rejection: Rejection) -> Row:
    row.reason = rejection.reason
    row.failure = " ".join(rejection.detail.split())[-500:]
    if rejection.stage is Stage.VALIDATION:
        row.ended = "validation"
    return row


def _tell(row: Row, image: BuiltImage) -> None:
    collecting = [attempt for attempt in image.attempts if attempt.step == "collect"]
    row.ended, row.built = "validation", True
    row.rung, row.python = image.rung, ".".join(image.python.split(".")[:2])
    row.collected = bool(collecting) and collecting[-1].ok
    row.steps = {step: round(took, 2) for step, took in image.seconds.items()}
    row.megabytes = {layer: round(size / 1e6, 1) for layer, size in image.layer_bytes.items()}
    row.tried = [
        Tried(rung=one.rung, step=one.step, ok=one.ok, seconds=round(one.seconds, 2), failure=one.failure[-400:])
        for one in image.attempts
    ]


def _version() -> str:
    told = process.run(("git", "describe", "--always", "--dirty"), cwd=Path(__file__).parent)
    return told.stdout.decode().strip()


def in_turn(groups: Sequence[Sequence[Point]]) -> Iterator[Point]:
    """The middle of each history, then others of each, so that early results are spread over the years."""
    orders = [[point for _, point in sorted(enumerate(group), key=lambda pair: _spread(pair[0]))] for group in groups]
    for layer in zip_longest(*orders):
        yield from (point for point in layer if point is not None)


def _spread(place: int) -> str:
    """A key by which 0, 1, 2, … come in an order that jumps over all of them."""
    return f"{place:08b}"[::-1]


def build_all(
    groups: Sequence[Sequence[Point]], bench: Bench, rows: list[Row], *, jobs: int, kept: Path | None
) -> None:
    """Make the rows that are not there yet."""
    done = {row.instance_id for row in rows}
    order = in_turn(groups) if all(one.is_proved for one in chain(*groups)) else chain(*groups)
    due = [one for one in order if done.isdisjoint(it.change.instance_id for it in one.candidates)]
    with ThreadPoolExecutor(jobs) as pool:
        for future in as_completed([pool.submit(bench.row, point) for point in due]):
            row = future.result()
            rows.append(row)
            print(f"{row.instance_id} of {row.day}: {row.said()}", flush=True)
            if kept:
                with kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(row)) + "\n")


def read_rows(path: Path | None, *, retry: bool) -> list[Row]:
    """The rows of earlier calls; the last of each instance."""
    if path is None or not path.exists():
        return []
    told = [Row.of(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    last = {row.instance_id: row for row in told}
    return [row for row in last.values() if not retry or row.is_final]


def detection_table(groups: Sequence[Sequence[Point]], *, rungs: bool) -> dict[str, object]:
    """Print, by repository, how many of its trees have each kind of evidence."""
    total: Counter[str] = Counter()
    took = []
    for group in groups:
        counted: Counter[str] = Counter()
        for point in group:
            change = point.candidates[0].change
            began = time.monotonic()
            found = detect(CommitTree(point.repo, change.base_commit))
            took.append(time.monotonic() - began)
            counted.update(kinds_of(recipe.rung for recipe in found.recipes))
            counted.update({"pythons": bool(found.tested), "apt": any(one.apt for one in found.recipes)})
            if rungs:
                show(change.instance_id, found)
        total.update(counted)
        if group:
            words = ", ".join(f"{kind} {count}" for kind, count in counted.most_common() if count)
            print(f"{group[0].repo.name} ({len(group)} trees): {words}")
    print(f"{len(took)} trees in all: " + ", ".join(f"{kind} {count}" for kind, count in total.most_common() if count))
    print(f"detection took {statistics.median(took):.2f} s a tree (median), {max(took):.2f} s at most")
    return {"trees": len(took), "kinds": dict(total), "median_seconds": round(statistics.median(took), 3)}


def show(instance_id: str, detection: Detection) -> None:
    """Print what one tree's detection came to."""
    root = detection.recipes[0].root
    print(f"  {instance_id}{f' in {root}' if root else ''}: {json.dumps(detection.declared)}")
    for recipe in detection.recipes:
        print(f"    {recipe.rung}: {json.dumps(recipe.evidence_by_kind())[:600]}")


def main() -> None:
    """Read the arguments, choose the candidates, detect or build, print it all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clones", nargs="*", type=Path)
    parser.add_argument("--each", type=int, default=10, help="candidates of each repository")
    parser.add_argument(
        "--language", nargs="+", default=["python"], help="of candidates, such as: javascript typescript"
    )
    parser.add_argument("--since", default="2018-01-01")
    parser.add_argument("--jobs", type=int, default=2, help="builds at a time")
    parser.add_argument("--rows", type=Path, help="a file that keeps the results")
    parser.add_argument("--retry", action="store_true", help="make again what failed")
    parser.add_argument("--further", type=int, default=0, help="commits after each newest one, built alone")
    parser.add_argument("--only", help="instance ids, with commas between them")
    parser.add_argument("--detect", action="store_true", help="build nothing; say what evidence there is")
    parser.add_argument("--rungs", action="store_true", help="with --detect: print every recipe of every tree")
    asked = parser.parse_args()
    since = datetime.fromisoformat(asked.since).replace(tzinfo=UTC)
    settings = load_settings()
    cache = settings.images.cache_dir / "sources"
    opened = [open_source(str(clone), cache=cache, name=name_of(clone)) for clone in asked.clones]
    further = asked.further
    groups = [newest(repo, further + 1, since) if further else points(repo, asked.each, since) for repo in opened]
    if asked.detect:
        print(json.dumps(detection_table(groups, rungs=asked.rungs)))
        return
    if asked.only:
        only = set(asked.only.split(","))
        groups = [
            [one for one in group if any(it.change.instance_id in only for it in one.candidates)] for group in groups
        ]
    rows = read_rows(asked.rows, retry=asked.retry)
    with tempfile.TemporaryDirectory() as scratch, DockerSandbox() as sandbox:
        build_all(
            groups, Bench(Path(scratch), sandbox, settings, asked.language), rows, jobs=asked.jobs, kept=asked.rows
        )
    print(json.dumps(tables([row for row in rows if row.ended != "split"])))


if __name__ == "__main__":
    main()
