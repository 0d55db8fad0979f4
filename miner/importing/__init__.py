"""Rows of SWE-bench's form made into tasks: built and proved here, with every id of their lists judged."""
