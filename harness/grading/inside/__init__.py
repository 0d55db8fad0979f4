"""The supervisor of a trial: it runs inside the task's container."""
