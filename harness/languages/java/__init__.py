"""Java in the harness."""
