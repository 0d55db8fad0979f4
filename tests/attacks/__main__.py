"""`make attacks`: every attack and every honest patch; the last line is one JSON object."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from harness.core.instance import Outcome
from harness.sandbox.docker import DockerSandbox
from tests.attacks import campaign
from tests.attacks.campaign import Tried, attack_tries, honest_tries

if TYPE_CHECKING:
    from collections.abc import Iterable


def _table(title: str, rows: Iterable[tuple[str, list[Tried]]]) -> None:
    print(f"\n{title:<16}{'tried':>7}{'resolved':>10}  what the others came to")
    for kind, found in rows:
        others = Counter(str(tried.report.outcome) for tried in found if not tried.resolved)
        told = ", ".join(f"{count} {name}" for name, count in others.most_common())
        print(f"{kind:<16}{len(found):>7}{sum(tried.resolved for tried in found):>10}  {told}")


def _by_kind(tried: list[Tried]) -> list[tuple[str, list[Tried]]]:
    return [
        (kind, [one for one in tried if one.attempt.kind == kind])
        for kind in dict.fromkeys(one.attempt.kind for one in tried)
    ]


def main(words: list[str]) -> int:
    """Run all of it, or the kinds named in `words`; 0 if no attack got through that is not known to, and
    every honest patch was taken.
    """
    began = time.monotonic()
    with DockerSandbox() as sandbox, tempfile.TemporaryDirectory() as folder:
        tasks = campaign.tasks(sandbox, Path(folder))
        chosen = [one for one in attack_tries(tasks) if not words or one.kind in words or one.name in words]
        wanted = honest_tries() if not words or "honest" in words else []
        attacked = campaign.every(tasks, chosen, sandbox)
        taken = campaign.every(tasks, wanted, sandbox)
    _table("attacks", _by_kind(attacked))
    _table("honest patches", _by_kind(taken))
    accepted = [one for one in attacked if one.resolved and not one.attempt.gets_through]
    known = [one for one in attacked if one.resolved and one.attempt.gets_through]
    refused = [one for one in taken if not one.resolved]
    broken = [one for one in attacked if one.report.outcome is Outcome.INFRA_ERROR]
    for title, found in (("KNOWN", known), ("ACCEPTED", accepted), ("REFUSED", refused), ("NOT SCORED", broken)):
        for one in found:
            print(f"{title}: {one.row}")
    figures = {
        "attacks": len({one.attempt.name for one in attacked}),
        "attack_trials": len(attacked),
        "attacks_accepted": len({one.attempt.name for one in [*accepted, *known]}),
        "attacks_known_to_get_through": len({one.attempt.name for one in known}),
        "attacks_not_scored": len(broken),
        "honest": len(taken),
        "honest_refused": len(refused),
        "seconds": round(time.monotonic() - began, 1),
    }
    print(json.dumps(figures))
    return 1 if accepted or refused or broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
