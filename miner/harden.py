"""Twins and blind tests of a task, proved: with the gold patch each does what an honest patch must make it do."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from harness import trust
from harness.frameworks import ids
from harness.instance import TestStatus, TrustMaterial
from harness.trust import Variant
from miner.twins import Function, Site, SiteKind, TestSource

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from harness.trial import Trial


class Run(Protocol):
    """One trial with these files in place, with or without the gold patch."""

    def __call__(self, files: Mapping[str, bytes], *, gold: bool, twin: bool = False) -> Trial:
        """`twin` has the runner turn the expectations that are passed through it."""
        ...


_ASSERTION = re.compile(r"^E\s+(assert\b|AssertionError)", re.MULTILINE)
_TRIES = 4
"""How many expectations of a test are tried for a twin before it gets none."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """A test function with FAIL_TO_PASS ids, and all its listed ids."""

    path: str
    function: Function
    ids: tuple[str, ...]
    fails: tuple[str, ...]


def prepare(
    sources: Mapping[str, bytes], *, fail_to_pass: Collection[str], pass_to_pass: Collection[str], seed: str, run: Run
) -> TrustMaterial:
    """Make and prove what a task's tests allow; nothing, where they allow nothing.

    `sources` are the hidden test files by path, as the tests' patch leaves them; `seed` must be unknown to a model.

    `run` has to run the test functions behind FAIL_TO_PASS at least.

    Raises:
        InfrastructureError: the engine failed.

    """
    files: dict[str, TestSource] = {}
    for path, source in sources.items():
        try:
            files[path] = TestSource(source)
        except (SyntaxError, ValueError, RecursionError):
            continue
    targets = targets_of(fail_to_pass, pass_to_pass)
    files, collected = _written_anew(files, [test_id for target in targets for test_id in target.ids], run)
    targets = tuple(target for target in targets if target.path in files)
    if not targets:
        return TrustMaterial()
    workshop = _Workshop(
        files=files, collected=collected, seed=seed, run=run, failing=_failing_lines(files, targets, run)
    )
    turned = workshop.twins(targets)
    if not turned:
        return TrustMaterial()
    return workshop.material(turned, workshop.blinds(list(turned)))


def targets_of(fail_to_pass: Iterable[str], pass_to_pass: Iterable[str]) -> tuple[Target, ...]:
    """The test functions behind FAIL_TO_PASS ids."""
    fails: dict[tuple[str, Function], list[str]] = {}
    every: dict[tuple[str, Function], list[str]] = {}
    for test_id in fail_to_pass:
        fails.setdefault(function_of(test_id), []).append(test_id)
        every.setdefault(function_of(test_id), []).append(test_id)
    for test_id in pass_to_pass:
        if function_of(test_id) in fails:
            every[function_of(test_id)].append(test_id)
    return tuple(
        Target(path=path, function=function, ids=tuple(every[path, function]), fails=tuple(ids))
        for (path, function), ids in fails.items()
    )


def function_of(test_id: str) -> tuple[str, Function]:
    """Path and names of a pytest id: `tests/test_a.py::TestB::test_c[x]`."""
    path, *names = ids.function(test_id).split("::")
    return path, tuple(names)


def _written_anew(
    files: Mapping[str, TestSource], listed: Collection[str], run: Run
) -> tuple[dict[str, TestSource], tuple[str, ...]]:
    """The files whose tests at stake pass with the gold patch when written anew, and all ids that were collected."""
    trial = run({path: source.real().encode() for path, source in files.items()}, gold=True)
    broken = {
        function_of(test_id)[0] for test_id in listed if trial.report.statuses.get(test_id) is not TestStatus.PASSED
    }
    return {path: source for path, source in files.items() if path not in broken}, trial.report.collected


def _failing_lines(files: Mapping[str, TestSource], targets: Iterable[Target], run: Run) -> dict[Target, set[int]]:
    """Where each target fails without the gold patch: the line of the expectation that sees the bug."""
    trial = run({path: source.real().encode() for path, source in files.items()}, gold=False)
    found: dict[Target, set[int]] = {}
    for target in targets:
        line = re.compile(rf"^{re.escape(target.path)}:(\d+): ", re.MULTILINE)
        texts = [trial.report.texts.get(test_id, "") for test_id in target.fails]
        found[target] = {int(number) for text in texts for number in line.findall(text)}
    return found


class _Workshop:
    def __init__(
        self,
        *,
        files: Mapping[str, TestSource],
        collected: Sequence[str],
        seed: str,
        run: Run,
        failing: Mapping[Target, set[int]],
    ) -> None:
        self._files = files
        self._collected = collected
        self._failing = failing
        self._seed = seed
        self._run = run

    def twins(self, targets: Iterable[Target]) -> dict[Target, Site]:
        """For each target the expectation whose turning makes all its ids fail with the gold patch."""
        open_ = {
            target: self._files[target.path].sites_at(target.function, self._failing[target])[:_TRIES]
            for target in targets
        }
        found: dict[Target, Site] = {}
        for number in range(_TRIES):
            tried = {target: sites[number] for target, sites in open_.items() if len(sites) > number}
            tried = {target: site for target, site in tried.items() if target not in found}
            if not tried:
                break
            trial = self._run(self._sources(turned=tried, wrapped=tried), gold=True, twin=True)
            statuses = trial.report.statuses
            failed = {
                test_id for test_id, status in statuses.items() if status in (TestStatus.FAILED, TestStatus.ERROR)
            }
            found |= {
                target: site
                for target, site in tried.items()
                if failed >= set(target.ids) and _for_the_right_reason(site, target, trial)
            }
        return found

    def blinds(self, targets: Iterable[Target]) -> dict[Target, tuple[Site, ...]]:
        """The targets that can be blind: with the gold patch every value fits, without it none of FAIL_TO_PASS does."""
        sites = {target: self._blindable(target) for target in targets}
        sites = {target: found for target, found in sites.items() if found}
        if not sites:
            return {}
        after = self._run(self._sources(blind=sites), gold=True)
        before = self._run(self._sources(blind=sites), gold=False)
        material = self._blind_material(sites, after)
        fits, fits_before = _passing(material, after), _passing(material, before)
        return {
            target: found
            for target, found in sites.items()
            if fits >= set(target.ids) and not fits_before & set(target.fails)
        }

    def _blindable(self, target: Target) -> tuple[Site, ...]:
        return tuple(site for site in self._files[target.path].sites(target.function) if site.blindable)

    def _blind_material(self, sites: Mapping[Target, tuple[Site, ...]], trial: Trial) -> TrustMaterial:
        """Blind ids with the places that a trial reached and the values expected there; others are left out."""
        blinded: dict[str, dict[str, str]] = {}
        renamed: dict[str, str] = {}
        numbers = _numbers(sites)
        for target, found in sites.items():
            names = self._listed_names(target, trial)
            for blind_id, test_id in names.items():
                reached = {place for place, _ in trial.report.values.get(blind_id, ())}
                source = self._files[target.path]
                places = {numbers[target.path, site]: source.expected(site, blind_id) for site in found}
                expected = {str(place): text for place, text in places.items() if place in reached and text is not None}
                if test_id in target.ids and expected and len(expected) == len(reached):
                    blinded[test_id] = expected
                if blind_id != test_id:
                    renamed[blind_id] = test_id
        return TrustMaterial(blinded=blinded, renamed=renamed)

    def _listed_names(self, target: Target, trial: Trial) -> dict[str, str]:
        """The ids of a test function in a blind file, to those of the real one: the order of collection is the same."""
        place = (target.path, target.function)
        real = [test_id for test_id in self._collected if function_of(test_id) == place]
        blind = [test_id for test_id in trial.report.collected if function_of(test_id) == place]
        same = len(real) == len(blind) == len(set(real)) == len(set(blind))
        return dict(zip(blind, real, strict=True)) if same else {}

    def _sources(
        self,
        *,
        turned: Mapping[Target, Site] | None = None,
        wrapped: Mapping[Target, Site] | None = None,
        blind: Mapping[Target, tuple[Site, ...]] | None = None,
    ) -> dict[str, bytes]:
        numbers = _numbers(blind or {})
        return {
            path: source.rewritten(
                turned=[site for target, site in (turned or {}).items() if target.path == path],
                wrapped=[
                    site
                    for target, site in (wrapped or {}).items()
                    if target.path == path and site.kind is SiteKind.EXPECT
                ],
                blind={site: number for (where, site), number in numbers.items() if where == path},
                rng=random.Random(f"{self._seed} {path}"),  # noqa: S311 - repeatable; the seed is hidden
            ).encode()
            for path, source in self._files.items()
        }

    def material(self, turned: Mapping[Target, Site], blind: Mapping[Target, tuple[Site, ...]]) -> TrustMaterial:
        """Everything as a task keeps it, the blind forms proved once more as they are kept."""
        others = {target: site for target, site in turned.items() if target not in blind}
        forms = {
            Variant.REAL: self._sources(wrapped=turned),
            Variant.TWIN: self._sources(turned=turned, wrapped=turned),
            Variant.BLIND: self._sources(wrapped=others, blind=blind),
            Variant.BLIND_TWIN: self._sources(turned=others, wrapped=others, blind=blind),
        }
        kept = TrustMaterial()
        if blind:
            kept = self._blind_material(blind, self._run(forms[Variant.BLIND], gold=True))
        return replace(
            kept,
            files={
                path: {variant.value: sources[path].decode() for variant, sources in forms.items()}
                for path in self._files
            },
            twinned=tuple(sorted(test_id for target in turned for test_id in target.ids)),
        )


def _for_the_right_reason(site: Site, target: Target, trial: Trial) -> bool:
    """Another constant must be unequal, not impossible: a 30th of February fails whatever the code under test does."""
    if site.kind not in (SiteKind.CONSTANT, SiteKind.EXPECT, SiteKind.ARGUMENT):
        return True
    return all(_ASSERTION.search(trial.report.texts.get(test_id, "")) for test_id in target.ids)


def _numbers(blind: Mapping[Target, tuple[Site, ...]]) -> dict[tuple[str, Site], int]:
    """A number for each blind expectation, over all files."""
    every = [(target.path, site) for target, sites in blind.items() for site in sites]
    return {where: number for number, where in enumerate(every)}


def _passing(material: TrustMaterial, trial: Trial) -> set[str]:
    """The blind ids whose test passed with the expected values."""
    statuses = trust.with_blind_results(material, Variant.BLIND, trial).report.statuses
    return {test_id for test_id in material.blinded if statuses.get(test_id) is TestStatus.PASSED}
