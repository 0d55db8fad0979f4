"""What a task leaks, how hard it looks, what it doubles."""
