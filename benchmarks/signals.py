"""What signals cost: evaluations with and without them in turn, and the tools' time for each prediction.

The last line is one JSON object: medians in milliseconds, the ratio of an evaluation with signals to one without, and
the same of the quickest of each, which say more on a machine that has other work.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from harness.core.errors import InfrastructureError
from harness.core.instance import Outcome
from harness.runs import evaluate
from harness.sandbox import engine
from harness.sandbox.docker import DockerSandbox
from harness.sandbox.images import tools
from harness.signals import static
from harness.signals.sources import Sources
from tests import tiny

FUNCTIONS = 300
"""Of the file that is patched: about 20 KB, 1,200 lines."""


def grown(text: str) -> str:
    """A source with so many more functions that compiling it takes as long as a real module."""
    return text + "".join(
        f"\n\ndef helper_{n}(a, b):\n    return [a * {n} + b for _ in range({n})]\n" for n in range(FUNCTIONS)
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    image = tools.find()
    if image is None:
        raise InfrastructureError("no tools image", hint=f"run `{tools.COMMAND}`")
    with tempfile.TemporaryDirectory() as name, DockerSandbox() as sandbox:
        before, after = grown(tiny.BUGGY), grown(tiny.FIXED)
        patch = tiny.diff(tiny.CALC, before, after)
        task = tiny.task(tiny.build_image(Path(name), {**tiny.FILES, tiny.CALC: before}), gold=patch)
        kept = b""

        def once(*, signals: bool) -> float:
            nonlocal kept
            settings = evaluate.Settings(signals=signals)
            began = time.perf_counter()
            found = evaluate.evaluate_one(task, tiny.prediction(patch), sandbox, settings=settings)
            taken = (time.perf_counter() - began) * 1000
            if found.report.outcome is not Outcome.RESOLVED:
                sys.exit(f"gold came to {found.report.outcome}: {found.report.reason}")
            kept = found.evidence.sources or kept
            return taken

        pairs = [(once(signals=False), once(signals=True)) for _ in range(options.rounds + 1)][1:]
        without, with_them = (statistics.median(side) for side in zip(*pairs, strict=True))
        added = statistics.median(there - here for here, there in pairs)
        quickest = [min(side) for side in zip(*pairs, strict=True)]
        print(f"an evaluation takes {without:.0f} ms without signals, {with_them:.0f} ms with them")
        sources = Sources.unpacked(kept)
        count = static.BATCH_ITEMS
        began = time.perf_counter()
        read = static.read({str(number): sources for number in range(count)}, image, sandbox)
        tools_ms = (time.perf_counter() - began) * 1000 / count
        if any(one.answer is None for one in read.values()):
            sys.exit(f"the tools failed: {read['0'].why_not}")
        print(f"the tools take {tools_ms:.0f} ms a prediction, {count} in one container, {sources.size} bytes each")
    engine.disconnect()
    figures = {
        "without_ms": round(without, 1),
        "with_ms": round(with_them, 1),
        "added_ms": round(added, 1),
        "ratio": round(statistics.median(there / here for here, there in pairs), 3),
        "quickest_without_ms": round(quickest[0], 1),
        "quickest_with_ms": round(quickest[1], 1),
        "quickest_ratio": round(quickest[1] / quickest[0], 3),
        "tools_ms_per_prediction": round(tools_ms, 1),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
