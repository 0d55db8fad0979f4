"""What can be said of a task without running it: leaks, difficulty, secrets, licence. Pure functions over values."""
