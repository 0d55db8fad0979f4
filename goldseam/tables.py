"""Rows as pandas' DataFrame, where pandas is installed; goldseam itself does not need it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from harness.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = dict[str, Any]


def to_pandas(rows: Sequence[Row], columns: Sequence[str]) -> Any:
    """A `pandas.DataFrame` with one line a row.

    Raises:
        InputError: pandas is not installed.

    """
    try:
        pandas = import_module("pandas")
    except ImportError as error:
        raise InputError("to_pandas() needs pandas, which is not installed", hint="pip install pandas") from error
    return pandas.DataFrame(list(rows), columns=list(columns))
