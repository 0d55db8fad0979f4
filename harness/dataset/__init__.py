"""A dataset: a folder of small readable files, one folder a task."""
