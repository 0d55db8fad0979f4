"""Models and agents produce patches: from the public side of a dataset to predictions."""
