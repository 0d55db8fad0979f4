"""What a replay came to, as a report has it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Replay(BaseModel):
    """`replay` of a prediction's report."""

    model_config = ConfigDict(extra="allow", frozen=True)

    calls: int = 0
    """Calls that hidden tests make, and of these those answered as the fix does (`agree`)."""
    agree: int = 0
    nearby: int = 0
    """Inputs near them, with what the fix answers."""
    nearby_agree: int = 0
    telling: int = 0
    """Those of both that the base answers differently, and so tell a fix from none."""
    telling_agree: int = 0
    right_only_under_test: bool | None = None
    """Some call is answered as the fix does while tests run, and differently outside; None where that is not known."""
    why_not: str = ""
    """Why there are no figures, or why that is None."""

    @property
    def differing(self) -> float | None:
        """Share of nearby inputs that are answered differently; None where there are none."""
        return 1 - self.nearby_agree / self.nearby if self.nearby else None

    def words(self) -> str:
        """The figures in a line for a person."""
        if not self.calls and not self.nearby:
            return f"none: {self.why_not}"
        parts = [f"{self.agree} of {self.calls} calls of the tests and {self.nearby_agree} of {self.nearby} near them"]
        if self.telling:
            parts.append(f"{self.telling_agree} of the {self.telling} that only a fix gets right")
        text = f"answers as the fix does: {', '.join(parts)}"
        return f"right only under test; {text}" if self.right_only_under_test else text
