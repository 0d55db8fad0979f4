"""A model is given what a task shows of its tests, and the ledger tells. The real client and ledger; no container."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.dataset.folder import write_scaffold
from harness.dataset.ledger import ledger
from harness.solve import call as calls
from tests import tiny
from tests.model_server import ModelServer
from tests.solve_room import GOOD, MemoryWorkspaces, Room, make_dataset

PATCH = tiny.diff(tiny.TESTS, tiny.BASE_TESTS, tiny.BASE_TESTS + "\n\ndef test_shown_here():\n    pass\n").encode()


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """What the model was asked about a task with a scaffold, and the place."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setattr(calls, "Workspaces", MemoryWorkspaces())
    texts = []

    def look(question):
        texts.append(question.text)
        return GOOD

    with ModelServer({"m": look}) as server:
        dataset = make_dataset(tmp_path / "dataset", 1)
        instance = replace(
            dataset.instance("tiny__calc-1"),
            scaffold=PATCH,
            extra={"scaffold": {"functions": 1, "revealed": ["tests/test_calc.py::test_shown_here"]}},
        )
        write_scaffold(dataset, instance)
        place = Room(folder=tmp_path, server=server, dataset=dataset, workspaces=MemoryWorkspaces())
        place.run()
        yield texts, place


def test_the_prompt_has_the_ids_and_the_code(asked):
    [text] = asked[0]
    assert "- `tests/test_calc.py::test_shown_here`" in text
    assert "+def test_shown_here():" in text


def test_the_ledger_tells_that_the_scaffold_was_shown(asked):
    [entry] = [one for one in ledger.read(asked[1].dataset) if one.event == "exposed"]
    assert entry.facts["shown"] == ["code", "scaffold", "statement"]
