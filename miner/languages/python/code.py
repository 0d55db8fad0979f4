"""Python's source files, read as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miner.languages.python import forms

if TYPE_CHECKING:
    from collections.abc import Collection

    from miner.languages.base import FaultySource


class PythonCode:
    """Python by its syntax tree, faults by mutmut."""

    mutator = "mutmut"

    def reads(self, path: str) -> bool:
        """Modules; not stubs, which never run."""
        return path.endswith(".py")

    def form(self, path: str, source: bytes) -> str | None:
        """See `forms.normal`."""
        return forms.normal(source, exports=path.endswith("__init__.py"))

    def faulty(self, path: str, source: bytes, changed: Collection[int]) -> FaultySource | None:
        """See `mutants.faulty`."""
        del path
        from miner.languages.python import mutants  # noqa: PLC0415 - its libraries take a second to load

        return mutants.faulty(source, changed)
