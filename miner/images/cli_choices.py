"""Choices of the command line. By themselves, so that it need not load what builds images."""

from __future__ import annotations

from enum import StrEnum


class Extra(StrEnum):
    """A tool that the image has on request."""

    SEMGREP = "semgrep"
    ESLINT = "eslint"


class Builder(StrEnum):
    """How an image is built again."""

    AUTO = "auto"
    BUILDKIT = "buildkit"
    PLAIN = "plain"
