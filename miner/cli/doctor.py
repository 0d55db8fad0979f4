"""`goldseam doctor`: what this machine has and lacks."""

from __future__ import annotations

from harness.cli.options import JsonFlag, print_json
from harness.cli.shell.command import App
from harness.cli.views import terminal
from harness.config.doctor import examine
from harness.core.errors import InfrastructureError
from miner.cli.display import doctor_table
from miner.images import store
from miner.languages import toolchains
from miner.layers.base import DEFAULT_BASE

app = App()


@app.add(
    examples={
        "goldseam doctor": "Check your setup",
        "goldseam doctor --json": "Print the checks as JSON",
        "goldseam doctor --config goldseam.toml": "Check it with the settings in a file",
    }
)
def doctor(json_: JsonFlag = False) -> None:
    """Check your setup and show how to fix what's missing. Exit code 4 if mining can't run."""
    diagnosis = examine(base=DEFAULT_BASE, toolchains=tuple(toolchains().values()), held=store.versions)
    if json_:
        checks = [
            {"name": check.name, "status": check.status.value, "found": check.found, "mend": check.mend}
            for check in diagnosis.checks
        ]
        print_json({"can_mine": diagnosis.can_mine, "checks": checks})
    else:
        terminal.results().print(doctor_table(diagnosis))
    if not diagnosis.can_mine:
        raise InfrastructureError("mining can't run on this machine yet", hint="fix what is marked `missing` above")
