"""One file with SWE-bench's columns, for `swebench eval FILE` and `datasets.load_dataset(FORMAT, data_files=FILE)`."""

from __future__ import annotations

import io
import json

from harness.core.errors import InputError
from harness.core.extras import install_command
from harness.interop import rows
from harness.interop.base import Collection, Content, image_notes


def json_lines(collection: Collection) -> Content:
    """One line a task."""
    return _file(collection, "".join(json.dumps(row) + "\n" for row in rows.rows(collection)).encode())


def parquet(collection: Collection) -> Content:
    """One row group; the canary is in a column and in the file's metadata."""
    try:
        from pyarrow import Table, int64, parquet, schema, string  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise InputError(
            "writing Parquet needs pyarrow, which is not installed", hint=install_command("parquet")
        ) from error
    table_rows = rows.rows(collection)
    kinds = [(column, int64() if column == "dataset_version" else string()) for column in table_rows[0]]
    columns_schema = schema(kinds, metadata={"canary": collection.canary})
    table = Table.from_pylist(table_rows, schema=columns_schema)
    out = io.BytesIO()
    parquet.write_table(table, out)
    return _file(collection, out.getvalue())


def _file(collection: Collection, data: bytes) -> Content:
    return Content(files={"": data}, notes=(*image_notes(collection.tasks), *rows.notes(collection.tasks)))
