"""From a history to candidates: recognised, split, described, counted."""
