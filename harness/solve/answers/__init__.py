"""A model's answer, read as a patch."""
