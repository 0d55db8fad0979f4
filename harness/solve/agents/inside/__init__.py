"""Programs that run another agent for us."""
