"""Models that write statements or repair environments, within limits."""
