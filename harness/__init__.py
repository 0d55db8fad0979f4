"""From tasks and patches to verdicts."""
