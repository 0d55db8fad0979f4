"""Java in the miner."""
