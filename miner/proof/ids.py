"""Why an id is in no list: its test is not the same in every run, or it is not called the same. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from harness.core.test_ids import ADDRESS, function

if TYPE_CHECKING:
    from miner.proof.notebook import ObservedRun

RESULT = "result_changes"
"""It is there in every run, and its result is not the same."""
ADDRESS_SHARED = "id_has_address"
"""Its id shows an address, and without it another test would be called the same."""
RANDOM = "id_has_random_value"
"""Its id has what looks like a UUID or a digest, another one in each run."""
TIME = "id_has_time"
"""Its id has what looks like a date or a time, another one in each run."""
CHANGING = "id_changes"
"""Its function has as many tests in every run, under other ids."""
NOT_ALWAYS = "not_always_there"
"""It is there in some runs and not in others."""

_RANDOM = re.compile(
    r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}|(?<![0-9a-z])[0-9a-f]{24,}(?![0-9a-z])", re.IGNORECASE
)
_TIME = re.compile(r"\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|\d{2,4}, \d{1,2}, \d{1,2}, \d{1,2}|(?<!\d)1[5-9]\d{8}(?!\d)")


def reasons(unstable: Collection[str], states: Sequence[Sequence[ObservedRun]]) -> Mapping[str, str]:
    """By each unstable id: why it is in no list. `states` are the runs of each state that lists are made from."""
    return {test_id: _reason(test_id, states) for test_id in sorted(unstable)}


def changing(runs: Sequence[ObservedRun]) -> frozenset[str]:
    """Ids that are in some of a state's runs and not in others that tell of them."""
    every = {test_id for run in runs for test_id in run.statuses}
    return frozenset(
        test_id for test_id in every if any(test_id not in run.statuses and run.tells_of(test_id) for run in runs)
    )


def called_by_chance(runs: Sequence[ObservedRun]) -> frozenset[str]:
    """Ids that no two runs of a state have, and that show why: no further run could tell on what they depend."""
    return frozenset(
        test_id for test_id, why in reasons(changing(runs), (runs,)).items() if why in (ADDRESS_SHARED, RANDOM)
    )


def _reason(test_id: str, states: Sequence[Sequence[ObservedRun]]) -> str:
    telling = [[run for run in runs if run.tells_of(test_id)] for runs in states]
    partly = [runs for runs in telling if 0 < sum(test_id in run.statuses for run in runs) < len(runs)]
    if not partly:
        return RESULT
    option = test_id.partition("::")[2]
    if ADDRESS.search(option):
        return ADDRESS_SHARED
    if _RANDOM.search(option):
        return RANDOM
    if _TIME.search(option):
        return TIME
    own = function(test_id)
    counts = [{sum(function(status) == own for status in run.statuses) for run in runs} for runs in partly]
    return CHANGING if all(len(count) == 1 for count in counts) else NOT_ALWAYS
