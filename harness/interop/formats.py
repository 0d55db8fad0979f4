"""The formats that a dataset can be exported to, by name: one module each, in one literal table."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from harness.core.wording import one_of
from harness.interop import harbor, inspect_tasks, jsonl, parquet, swebench

if TYPE_CHECKING:
    from harness.interop.base import Format

FORMATS = {"swebench": swebench, "harbor": harbor, "inspect": inspect_tasks, "jsonl": jsonl, "parquet": parquet}


def export_format(name: str) -> Format:
    """The format of that name.

    Raises:
        InputError: no such format.

    """
    return cast("Format", FORMATS[one_of("--format", name, FORMATS)])
