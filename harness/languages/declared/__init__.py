"""Runners that goldseam.toml declares, in the harness."""
