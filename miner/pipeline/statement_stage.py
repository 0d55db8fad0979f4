"""The stage that has a model write the statement of a proved task whose change has no issue."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.core import test_ids
from harness.grading import scoring, trial
from miner.assist import statement_writer
from miner.assist.statement_writer_run import WritingJob, WrittenStatement
from miner.languages import language_of
from miner.pipeline.draft import task_of
from miner.quality import assessment
from miner.sources.bare import MissingObjectsError

if TYPE_CHECKING:
    from harness.core.instance import Task
    from miner.assist.statement_writer import Material
    from miner.pipeline.draft import Draft, MiningContext


def write_statement(draft: Draft, site: MiningContext) -> Draft:
    """The statement in a model's words where there is no issue and a model is named; else the draft as it is.

    It is the last thing before the task is kept: nothing is shown of a task that is then none.
    """
    if site.writer is None or draft.candidate.change.issues:
        return draft
    task = task_of(draft)
    try:
        tree = assessment.base_tree(site.repo, task.instance.base_commit, language_of(task.instance.test).code)
        job = WritingJob(
            instance_id=draft.instance_id,
            subject=assessment.subject_of(task, site.repo, tree),
            material=lambda: _material(task, site),
            mask=site.settings.mining.secrets == "mask",
        )
    except MissingObjectsError:
        site.writer.leave(draft.instance_id, "the source lacks files to check another one against")
        return draft
    site.note(f"{draft.instance_id}: asking for a statement")
    began = time.monotonic()
    written = site.writer.write(job)
    draft.timings["statement"] = time.monotonic() - began
    return with_written_statement(draft, written)


def with_written_statement(draft: Draft, written: WrittenStatement) -> Draft:
    """A draft with what came of a statement that was asked for."""
    text = written.note.text if written.use == "written" and written.note else None
    return replace(draft, statement=text or draft.statement, written=written)


def _material(task: Task, site: MiningContext) -> Material:
    """What a model may be shown of a task: runs its failing tests once, without the fix."""
    at_stake = test_ids.functions(task.hidden.fail_to_pass)
    spec = replace(scoring.trial_spec(task, None), files=at_stake, overlay={})  # as they are, so that failures tell
    ran = trial.run(spec, site.sandbox)
    failures = statement_writer.failures_of(ran.report, task.hidden.fail_to_pass)
    problem_statement = task.instance.problem_statement
    return statement_writer.material(task.instance.repo, problem_statement, failures, task.hidden.gold_patch)
