"""A patch that should not resolve a task: the fix with a part left out, or with a fault put in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What was done to the fix."""

    EMPTY = "empty"
    """Nothing of it is there."""
    PART = "part"
    """Some of its pieces are left out."""
    MUTANT = "mutant"
    """One place in the lines that it brings is another."""


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One such patch."""

    kind: Kind
    patch: bytes
    """Against base_commit; empty for `Kind.EMPTY`."""
    path: str = ""
    line: int = 0
    """In the fixed file, for a mutant; else 0."""
    description: str = ""
    """What was done, in one line."""
    operator: str = ""
    """The mutation operator's name."""
    before: str = ""
    after: str = ""
    """The lines of a mutant, as the fix has them and as it has them."""

    def as_file(self, number: int) -> tuple[str, bytes]:
        """Name and content of the file that is kept of it where the hidden tests let it live.

        What was done stands before the patch, where `git apply` passes over it.
        """
        comments = [
            f"goldseam survivor {number}, {self.kind}: {self.description}",
            "every listed test passes with this patch",
        ]
        lines_before = [f"    - {line}" for line in self.before.splitlines()]
        lines_before += [f"    + {line}" for line in self.after.splitlines()]
        text = "\n".join(f"# {line}" for line in [*comments, *lines_before]) + "\n"
        return f"survivor-{number:02d}-{self.kind}.patch", text.encode("utf-8", "surrogateescape") + self.patch
