"""A subject taken through all its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miner.change import Rejection
from miner.proof.judge import hopeless, judge
from miner.proof.observe import observe
from miner.proof.subject import prepare

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.sandbox.base import Sandbox
    from miner.proof.judge import Proof
    from miner.proof.notebook import Notebook, Observed
    from miner.proof.subject import Subject


def validate(
    subject: Subject, sandbox: Sandbox, *, runs: int, notebook: Notebook, progress: Callable[[str], None]
) -> Proof | Rejection:
    """Prove a task, or say why it is none.

    The first run of each state comes first, so that a hopeless subject costs two or three containers, not all of them.

    Raises:
        InfrastructureError: the engine failed; nothing is said of the subject.

    """
    patches = prepare(subject)
    if isinstance(patches, Rejection):
        return patches
    found: list[Observed] = []
    for number in range(runs):
        for state in ("after", "before", "base"):
            progress(f"{state} {number + 1}/{runs}")
            found.append(observe(subject, patches, state, number, sandbox, notebook))
            if (rejection := hopeless(found)) is not None:
                return rejection
    return judge(found, runs=runs, brings=subject.brings)
