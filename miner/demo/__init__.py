"""The demo: our own sample library, its history as a real git repository, and predictions to score on it."""
