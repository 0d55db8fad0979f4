"""What `goldseam holdout import` is given on its command line."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from harness.core.errors import InputError
from miner.cli.main import app


def refusal(tmp_path, *words: str, rows: str = "rows.jsonl") -> str:
    (tmp_path / "rows.jsonl").write_text(json.dumps({"instance_id": "acme__app-1"}) + "\n")
    command = ["holdout", "import", str(tmp_path / rows), "-o", str(tmp_path / "out"), *words]
    done = CliRunner().invoke(app, command)
    assert isinstance(done.exception, InputError)
    return done.exception.message


@pytest.mark.parametrize("given", ["acme", "acme=x", "acme/app=", "/=x", "a/b/c=x"])
def test_a_source_has_a_name_and_a_place(tmp_path, given):
    assert "OWNER/REPO=PATH-or-URL" in refusal(tmp_path, "--source", given)


def test_a_source_is_named_once(tmp_path):
    assert "names acme/app twice" in refusal(tmp_path, "--source", "acme/app=a", "--source", "acme/app=b")


def test_a_file_that_is_not_there_is_told(tmp_path):
    assert "found nothing" in refusal(tmp_path, "--source", "acme/app=a", rows="gone.jsonl")
    assert not (tmp_path / "out").exists()


def test_a_folder_in_place_of_a_file_is_told(tmp_path):
    assert "found a folder" in refusal(tmp_path, "--source", "acme/app=a", rows=".")
