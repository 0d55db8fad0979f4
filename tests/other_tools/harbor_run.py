"""Run by Harbor's Python: `harbor_run.py TASKS TRIALS` loads every task of a folder with Harbor's own loader, then runs
the first with the agent that has its solution and with the one that does nothing. What came of it is in
TRIALS/found.json.
"""

import asyncio
import json
import sys
from pathlib import Path

from harbor.models.task.task import Task
from harbor.models.trial.config import TrialConfig
from harbor.trial.trial import Trial


def loaded(folder):
    task = Task(folder)
    environment = task.config.environment
    return {
        "name": task.name,
        "valid": Task.is_valid_dir(folder),
        "instruction": task.instruction,
        "network": environment.network_mode.value,
    }


async def reward(folder, trials, agent):
    config = {
        "task": {"path": str(folder)},
        "trials_dir": trials,
        "agent": {"name": agent},
        "environment": {"import_path": "harbor_engine:PlainDocker"},
    }
    trial = await Trial.create(TrialConfig.model_validate(config))
    result = await trial.run()
    return result.verifier_result.rewards if result.verifier_result else str(result.exception_info)


folders = sorted(Path(sys.argv[1]).iterdir())
tasks = {folder.name: loaded(folder) for folder in folders}
rewards = {agent: asyncio.run(reward(folders[0], sys.argv[2], agent)) for agent in ("oracle", "nop")}
Path(sys.argv[2], "found.json").write_text(json.dumps({"tasks": tasks, "rewards": rewards}))
