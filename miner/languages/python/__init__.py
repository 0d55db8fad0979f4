"""Python: test commands, environments, stripped tests."""
