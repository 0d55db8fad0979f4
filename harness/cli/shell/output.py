"""How much a call says and in which colours: `-v`, `-q` and `--no-color`."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass


@dataclass
class OutputChoice:
    """The choices of one call of the program."""

    verbose: bool = False
    """Print what runs now as lines, and the cause behind an error."""
    quiet: bool = False
    """Print results and errors only."""
    color: bool = True

    def reset(self) -> None:
        """Back to the defaults, at the start of a call."""
        self.verbose, self.quiet, self.color = False, False, True


CHOICE = OutputChoice()


def has_color(*, stderr: bool = False) -> bool:
    """Whether a stream is a terminal that should get colours (https://no-color.org)."""
    stream = sys.stderr if stderr else sys.stdout
    return CHOICE.color and not os.environ.get("NO_COLOR") and stream is not None and stream.isatty()
