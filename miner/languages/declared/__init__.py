"""Runners that goldseam.toml declares, in the miner."""
