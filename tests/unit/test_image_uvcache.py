"""uv is told how long to believe the index that builds use."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime, timedelta

import pytest

from miner.layers import uvcache


def told(**variables: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = tomllib.loads(uvcache.config(variables)).get("index", [])
    return found


def test_pages_are_believed_as_long_as_pypi_says_and_files_for_good() -> None:
    (index,) = told()
    assert index["url"] == "https://pypi.org/simple"
    assert index["cache-control"] == {"api": "max-age=600", "files": "max-age=31536000, immutable"}


@pytest.mark.parametrize(("days", "pages"), [(0, "max-age=600"), (1, "max-age=600"), (3, "max-age=86400")])
def test_pages_are_believed_for_a_day_by_commits_that_are_older_than_that(days: int, pages: str) -> None:
    (index,) = tomllib.loads(uvcache.config({}, datetime.now(UTC) - timedelta(days=days)))["index"]
    assert index["cache-control"]["api"] == pages


@pytest.mark.parametrize("name", ["UV_DEFAULT_INDEX", "UV_INDEX_URL"])
def test_the_index_of_the_environment_is_the_one_that_is_meant(name: str) -> None:
    (index,) = told(**{name: "https://index.example/team/simple/"})
    assert index["url"] == "https://index.example/team/simple/"


def test_credentials_of_an_index_are_not_written_down() -> None:
    (index,) = told(UV_DEFAULT_INDEX="ours=https://me:secret@index.example:8443/simple")
    assert index["url"] == "https://index.example:8443/simple"


@pytest.mark.parametrize("variables", [{"UV_NO_INDEX": "1"}, {"UV_DEFAULT_INDEX": "not an address"}])
def test_nothing_is_said_where_there_is_no_index(variables: dict[str, str]) -> None:
    assert not told(**variables)
