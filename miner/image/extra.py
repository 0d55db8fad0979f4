"""Tools that the tools image has on request. By itself, so that the command line need not load what builds them."""

from __future__ import annotations

from enum import StrEnum


class Extra(StrEnum):
    """A tool that the image has on request."""

    SEMGREP = "semgrep"
    ESLINT = "eslint"
