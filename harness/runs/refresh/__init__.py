"""Refreshing a dataset: gold and null run again, and what drifted."""
