"""Python: its test frameworks, and what of a patch could reach its test runner."""
