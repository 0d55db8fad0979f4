"""What the command line loads before it knows which command is meant: little, as it starts with every command."""

from __future__ import annotations

import json
import sys

from harness.core import process

HEAVY = {"docker", "git", "github", "numpy", "openai", "pydantic", "ray", "requests", "yaml"}


def test_it_loads_nothing_that_only_some_commands_need():
    code = "import json, sys; import miner.cli.main; print(json.dumps(sorted(sys.modules)))"
    done = process.run([sys.executable, "-c", code])
    loaded = {name.partition(".")[0] for name in json.loads(done.stdout)}
    assert "typer" in loaded
    assert loaded & HEAVY == set()
