"""How hard what a task expects is to guess, in bits."""
