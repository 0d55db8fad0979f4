"""Score model patches on a private benchmark, from Python.

    >>> import goldseam
    >>> goldseam.__all__[:3]
    ['Comparison', 'Dataset', 'Evaluation']

Three lines do what `goldseam evaluate` and `goldseam compare` do; see docs/python.md:

    ds = goldseam.load("bench")
    run = goldseam.evaluate(ds, "predictions.jsonl", output="runs/next")
    goldseam.compare("runs/base", run).answer

Nothing is printed and nothing exits: expected failures are a `GoldseamError` with a `message` and a `hint`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goldseam.api import Comparison, Dataset, Evaluation, compare, evaluate, gate, load, open_run, report
    from harness.core.errors import GoldseamError

__all__ = [
    "Comparison",
    "Dataset",
    "Evaluation",
    "GoldseamError",
    "compare",
    "evaluate",
    "gate",
    "load",
    "open_run",
    "report",
]


def _refuse_collisions() -> None:
    """Raise ImportError where `harness` or `miner` is another package than the one installed beside this."""
    home = Path(__file__).resolve().parent.parent
    for name in ("harness", "miner"):
        spec = find_spec(name)
        origin = Path(spec.origin).resolve() if spec and spec.origin else None
        if origin is None or origin.parent != home / name:
            raise ImportError(
                f"goldseam needs its own package {name!r} in {home}, but Python finds "
                f"{origin or 'none with an __init__.py'} first: install goldseam into an environment of its own "
                "(`uv tool install`, `pipx install`), or rename the other package",
                name=name,
            )


_refuse_collisions()


def __getattr__(name: str) -> Any:
    """The public names, whose libraries load when the first of them is used."""
    if name not in __all__:
        raise AttributeError(f"module 'goldseam' has no attribute {name!r}")
    module = import_module("harness.core.errors" if name == "GoldseamError" else "goldseam.api")
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
