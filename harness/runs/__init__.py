"""Runs: from predictions to verdicts in a run folder."""
