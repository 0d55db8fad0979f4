"""The public scaffold: a few hidden tests that a task shows, with what they need to run; the others stay hidden."""
