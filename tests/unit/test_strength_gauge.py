"""What is kept of a task's strength: counts in public, names hidden, survivors as files; sealed where the task is."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from harness.checks import dataset as check
from harness.core.errors import InfrastructureError, InputError
from harness.dataset import content
from harness.dataset.folder import open_dataset
from harness.dataset.hidden_files import is_hidden
from harness.dataset.merge import merge
from harness.dataset.model_files import read_model
from harness.dataset.schema import TaskModel
from harness.dataset.seal import sealing
from harness.dataset.seal.identity import Keys
from harness.sandbox.executors.local import LocalExecutor
from harness.sandbox.job import MissingImageError, SandboxError
from miner.pipeline import mine, stages
from miner.pipeline.draft import Draft
from miner.quality.strength import run as gauging
from miner.quality.strength.lines import Coverage
from miner.quality.strength.result import Bounds, Kind, Strength, Variant, VariantResult, is_current, public
from miner.quality.strength.run import CannotMeasureError, StrengthRequest, gauge, key, limit, weakest_first
from tests import tiny

pyrage = pytest.importorskip("pyrage")
ASKED = StrengthRequest(bounds=Bounds())
WRONG = tiny.fix("return a + b + 1 - 1  # a telling word").encode()


class NoEngine:
    """A sandbox that is never asked for a job."""

    def __init__(self, *, healthy: bool = True) -> None:
        self.healthy = healthy

    def is_healthy(self) -> bool:
        return self.healthy

    def cancel(self) -> None: ...


def found(task, *, survivors: int = 1, killed: int = 3, empty: bool = False) -> Strength:
    def one(kind: Kind, *, lives: bool) -> VariantResult:
        variant = Variant(
            kind=kind, patch=b"" if kind is Kind.EMPTY else WRONG, path=tiny.CALC, line=2, description="a word"
        )
        return VariantResult(variant=variant, survived=lives, cause="" if lives else "timeout")

    return Strength(
        key=key(task, Bounds()),
        bounds=Bounds(),
        tried=(
            one(Kind.EMPTY, lives=empty),
            *(one(Kind.PART, lives=True) for _ in range(survivors)),
            *(one(Kind.MUTANT, lives=False) for _ in range(killed)),
        ),
        coverage=Coverage(executable={tiny.CALC: (2, 3)}, ran={tiny.CALC: (2,)}),
        gold_seconds=0.5,
        seconds=7.0,
    )


@pytest.fixture
def measured(monkeypatch):
    """Measuring without an engine: what is said of a task is what is put here, by id; the ids that were asked for."""
    asked: list[str] = []
    said: dict[str, object] = {}

    def measure(task, sandbox, bounds, *, note):
        asked.append(task.instance_id)
        answer = said.get(task.instance_id, {})
        if isinstance(answer, BaseException):
            raise answer
        return found(task, **answer)

    monkeypatch.setattr(gauging, "measure", measure)
    return asked, said


def run(dataset, ids=(), asked=ASKED, sandbox=None):
    return list(
        gauge(dataset, ids, asked, sandbox=sandbox or NoEngine(), executor=LocalExecutor(jobs=1), note=lambda _: None)
    )


def dataset_of(path, *ids):
    return tiny.dataset(path / "bench", *(tiny.task(instance_id=one) for one in ids or ("tiny__calc-1",)))


def test_the_share_is_what_was_killed_of_parts_and_mutants_and_the_empty_patch_counts_apart():
    fields = public(found(tiny.task(), survivors=1, killed=3).hidden())

    assert (fields["share"], fields["surviving"], fields["tried"], fields["killed"]) == (0.75, 0.25, 4, 3)
    assert fields["empty"] == "killed"
    assert fields["parts"] == {"tried": 1, "survived": 1}
    assert fields["mutants"] == {"tried": 3, "survived": 0}
    assert (fields["covered_lines"], fields["changed_lines"], fields["timeouts"]) == (1, 2, 3)


def test_where_nothing_could_be_tried_there_is_no_share():
    fields = public(found(tiny.task(), survivors=0, killed=0, empty=True).hidden())

    assert (fields["share"], fields["surviving"], fields["empty"]) == (None, None, "survived")


@pytest.mark.parametrize(("gold", "budget", "seconds"), [(0.5, 60, 5.0), (10, 60, 40.0), (30, 60, 60)])
def test_a_wrong_patch_may_take_four_times_what_the_fix_took(gold, budget, seconds):
    assert limit(gold, budget) == seconds


def test_survivors_are_files_of_the_task_and_their_names_and_words_are_nowhere_public(tmp_path, measured):
    dataset = dataset_of(tmp_path)

    (one,) = run(dataset)

    folder = dataset.task_folder("tiny__calc-1")
    assert one.files == ("survivor-01-part.patch",)
    assert WRONG in (folder / "survivor-01-part.patch").read_bytes()
    open_files = [path for path in folder.iterdir() if not is_hidden(path.name)]
    assert not [path for path in open_files if b"survivor-" in path.read_bytes() or b"a word" in path.read_bytes()]
    assert read_model(folder / "task.yaml", TaskModel).quality["strength"] == one.quality
    assert check.check(dataset.path) == ()


def test_nothing_else_of_the_task_changes(tmp_path, measured):
    dataset = dataset_of(tmp_path)
    before = dataset.task("tiny__calc-1")

    run(dataset)

    after = dataset.task("tiny__calc-1")
    assert after.digest() == before.digest()
    assert replace(after.hidden, survivors={}, evidence={}) == replace(before.hidden, evidence={})


def test_what_was_measured_is_not_measured_again_unless_it_is_asked_for(tmp_path, measured):
    asked, _ = measured
    dataset = dataset_of(tmp_path)
    run(dataset)

    (again,) = run(dataset)
    assert again.known
    assert len(asked) == 1
    run(dataset, asked=replace(ASKED, again=True))
    run(dataset, asked=replace(ASKED, bounds=Bounds(mutants=3)))
    assert len(asked) == 3


def test_a_survivor_that_a_later_measurement_kills_is_removed(tmp_path, measured):
    _, said = measured
    dataset = dataset_of(tmp_path)
    said["tiny__calc-1"] = {"survivors": 2}
    run(dataset)
    said["tiny__calc-1"] = {"survivors": 1}
    run(dataset, asked=replace(ASKED, again=True))

    names = [path.name for path in dataset.task_folder("tiny__calc-1").glob("survivor-*")]
    assert names == ["survivor-01-part.patch"]


@pytest.mark.parametrize("lost", ["tests.json", "task.yaml", "survivor"])
def test_a_task_that_was_half_written_is_measured_again(tmp_path, measured, lost):
    asked, _ = measured
    dataset = dataset_of(tmp_path)
    folder = dataset.task_folder("tiny__calc-1")
    before = {name: (folder / name).read_bytes() for name in ("tests.json", "task.yaml")}
    run(dataset)
    if lost == "survivor":
        (folder / "survivor-01-part.patch").unlink()
    else:
        (folder / lost).write_bytes(before[lost])

    run(dataset)

    task = dataset.task("tiny__calc-1")
    assert len(asked) == 2
    assert is_current(task, key(task, Bounds()))


def test_an_interrupted_run_keeps_what_was_done_and_goes_on_there(tmp_path, measured):
    asked, said = measured
    dataset = dataset_of(tmp_path, "tiny__calc-1", "tiny__calc-2")
    said["tiny__calc-2"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        run(dataset)
    second = dataset.task_folder("tiny__calc-2")
    assert b"strength" not in (second / "tests.json").read_bytes() + (second / "task.yaml").read_bytes()
    said.clear()

    known = {one.instance_id: one.known for one in run(dataset)}

    assert known == {"tiny__calc-1": True, "tiny__calc-2": False}
    assert asked == ["tiny__calc-1", "tiny__calc-2", "tiny__calc-2"]


def test_a_dry_run_writes_nothing(tmp_path, measured):
    dataset = dataset_of(tmp_path)
    folder = dataset.task_folder("tiny__calc-1")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    (one,) = run(dataset, asked=replace(ASKED, write=False))

    assert one.quality["share"] == 0.75
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    "error", [CannotMeasureError("the fix fails"), MissingImageError("no image"), SandboxError("the engine fails")]
)
def test_a_task_that_cannot_be_measured_says_why_and_the_others_go_on(tmp_path, measured, error):
    _, said = measured
    dataset = dataset_of(tmp_path, "tiny__calc-1", "tiny__calc-2")
    said["tiny__calc-1"] = error

    first, second = weakest_first(run(dataset))

    assert (first.instance_id, first.unknown) == ("tiny__calc-2", "")
    assert second.unknown == str(error)
    assert "strength" not in dataset.instance("tiny__calc-1").quality


def test_a_bug_of_ours_costs_one_task_which_the_next_call_measures(tmp_path, measured, monkeypatch):
    monkeypatch.setenv("GOLDSEAM_CACHE_DIR", str(tmp_path / "cache"))
    asked, said = measured
    dataset = dataset_of(tmp_path, "tiny__calc-1", "tiny__calc-2")
    said["tiny__calc-1"] = ZeroDivisionError("planted")

    first, second = weakest_first(run(dataset))

    assert (first.instance_id, first.bug) == ("tiny__calc-2", False)
    assert (second.bug, "a bug of goldseam (ZeroDivisionError)" in second.unknown) == (True, True)
    asked.clear()
    del said["tiny__calc-1"]
    assert [one.bug for one in run(dataset)] == [False, False]
    assert asked == ["tiny__calc-1"]


def test_an_engine_that_is_gone_ends_the_run(tmp_path, measured):
    _, said = measured
    said["tiny__calc-1"] = SandboxError("gone")

    with pytest.raises(InfrastructureError):
        run(dataset_of(tmp_path), sandbox=NoEngine(healthy=False))


def test_the_weakest_come_first(tmp_path, measured):
    _, said = measured
    dataset = dataset_of(tmp_path, "tiny__calc-1", "tiny__calc-2", "tiny__calc-3")
    said["tiny__calc-1"] = {"survivors": 0, "killed": 0}
    said["tiny__calc-2"] = {"survivors": 0}

    ordered = weakest_first(run(dataset))

    assert [one.instance_id[-1] for one in ordered] == ["3", "2", "1"]


def test_an_unknown_id_is_refused(tmp_path, measured):
    with pytest.raises(InputError, match="has no task nowhere"):
        run(dataset_of(tmp_path), ids=["nowhere"])


@pytest.fixture
def me():
    key_ = pyrage.x25519.Identity.generate()
    return Keys(identities=(key_,)), str(key_.to_public())


def test_sealing_takes_survivors_in_and_opening_gives_them_back(tmp_path, measured, me):
    keys, recipient = me
    dataset = dataset_of(tmp_path)
    run(dataset)
    written = (dataset.task_folder("tiny__calc-1") / "survivor-01-part.patch").read_bytes()

    sealing.seal(dataset, [recipient], keys=keys)

    sealed = open_dataset(dataset.path, keys=keys)
    everything = b"".join(path.read_bytes() for path in dataset.path.rglob("*") if path.is_file())
    assert b"telling word" not in everything
    assert not list(dataset.path.rglob("survivor-*"))
    assert check.check(dataset.path, check.CheckScope(keys=keys)) == ()
    sealing.open_into(sealed, tmp_path / "opened")
    again = tmp_path / "opened" / "tasks" / "tiny__calc-1" / "survivor-01-part.patch"
    assert again.read_bytes() == written
    assert again.stat().st_mode & 0o077 == 0


def test_a_sealed_task_is_measured_with_a_key_and_stays_sealed(tmp_path, measured, me):
    keys, recipient = me
    dataset = dataset_of(tmp_path)
    sealing.seal(dataset, [recipient], keys=keys)
    sealed = open_dataset(dataset.path, keys=keys)

    (one,) = run(sealed)

    assert check.check(dataset.path, check.CheckScope(keys=keys)) == ()
    assert not list(dataset.path.rglob("survivor-*"))
    task = open_dataset(dataset.path, keys=keys).task("tiny__calc-1")
    assert tuple(task.hidden.survivors) == one.files == ("survivor-01-part.patch",)
    assert run(open_dataset(dataset.path, keys=keys))[0].known


def test_merging_into_a_sealed_dataset_seals_survivors(tmp_path, measured, me):
    keys, recipient = me
    dataset = dataset_of(tmp_path)
    run(dataset)

    other = tiny.dataset(tmp_path / "other", tiny.task(instance_id="tiny__calc-2"))
    sealing.seal(other, [recipient], keys=keys)

    merge([dataset, open_dataset(other.path, keys=keys)], tmp_path / "merged")

    merged = open_dataset(tmp_path / "merged", keys=keys)
    assert merged.sealed
    assert tuple(merged.task("tiny__calc-1").hidden.survivors) == ("survivor-01-part.patch",)
    everything = b"".join(path.read_bytes() for path in merged.path.rglob("*") if path.is_file())
    assert b"telling word" not in everything


def test_the_content_of_a_dataset_is_the_same_with_survivors(tmp_path, measured):
    dataset = dataset_of(tmp_path)
    before = content.content_of(dataset)
    run(dataset)

    assert content.content_of(dataset) == before
    assert json.loads((dataset.task_folder("tiny__calc-1") / "tests.json").read_text())["evidence"]["strength"]


def stage(monkeypatch, answer, *, mutants: int = 2):
    """The stage of a mine on a draft of the tiny task: what it made of it, and what a person was told."""
    told: list[str] = []

    def measure(task, sandbox, bounds, *, note, allows):
        assert bounds.mutants == mutants
        if isinstance(answer, BaseException):
            raise answer
        return answer

    monkeypatch.setattr(stages, "measure", measure)
    monkeypatch.setattr(stages, "task_of", lambda draft: tiny.task())
    change = SimpleNamespace(instance_id="tiny__calc-1")
    draft = Draft(candidate=SimpleNamespace(change=change))
    settings = SimpleNamespace(mining=SimpleNamespace(mutants=mutants))
    site = SimpleNamespace(settings=settings, sandbox=NoEngine(), note=told.append)
    return stages.strengthen(draft, site), told


def test_mining_measures_strength_after_the_fix_was_confirmed_and_before_the_task_is_kept(monkeypatch):
    order = [step.__name__ for step in mine.TO_PROOF]
    strength = found(tiny.task())

    draft, _ = stage(monkeypatch, strength)

    assert order.index("confirm") < order.index("strengthen") < order.index("keep")
    assert draft.strength is strength
    assert draft.timings["strength"] >= 0


def test_mining_measures_no_strength_where_that_is_switched_off(monkeypatch):
    draft, _ = stage(monkeypatch, AssertionError("never asked"), mutants=0)

    assert draft.strength is None


def test_a_task_whose_strength_cannot_be_told_is_kept(monkeypatch):
    draft, told = stage(monkeypatch, CannotMeasureError("the fix cannot be taken apart"))

    assert draft.strength is None
    assert told == ["tiny__calc-1: its strength is unknown: the fix cannot be taken apart"]
