"""Text and patches that hold the same: leaks, copies, near-duplicates."""
