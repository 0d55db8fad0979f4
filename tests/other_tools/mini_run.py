"""Run by mini-swe-agent's Python: `mini_run.py ROWS OUT COMMAND` runs its SWE-bench batch on exported rows, each in a
container of its image, with its own deterministic model, which runs one command and then submits what changed.
"""

import json
import sys
from pathlib import Path

from minisweagent.models.test_models import make_output
from minisweagent.run.benchmarks.swebench import process_instance
from minisweagent.run.benchmarks.utils.batch_progress import RunBatchProgressManager

rows, out, command = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
submit = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git add -A && git diff --cached"
outputs = [make_output("One moment.", [{"command": text}], cost=0.25) for text in (command, submit)]
config = {
    "agent": {"system_template": "Be brief.", "instance_template": "{{task}}", "cost_limit": 3.0},
    "environment": {"environment_class": "docker", "cwd": "/testbed", "run_args": ["--rm", "--init"]},
    "model": {"model_class": "deterministic", "model_name": "tests/deterministic", "outputs": outputs},
}
instances = [json.loads(line) for line in rows.read_text().splitlines()]
for instance in instances:
    process_instance(instance, out, config, RunBatchProgressManager(len(instances)))
