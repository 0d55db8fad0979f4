"""The work tree of a task, for a model or an agent."""
