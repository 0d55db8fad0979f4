"""Go in the harness."""
