"""Settings, and what this machine has and lacks."""
