"""Go in the miner."""
