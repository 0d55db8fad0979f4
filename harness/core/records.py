"""What goes through files and networks: three ways to take what a model does not name."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class OpenRecord(BaseModel):
    """A record of our own formats: what a newer goldseam has beside it is kept, and written again."""

    model_config = ConfigDict(extra="allow", frozen=True)


class StrictRecord(BaseModel):
    """What a person or a model writes: an unknown name is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PartialRecord(BaseModel):
    """The part that is read of what others write; the rest is ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)
