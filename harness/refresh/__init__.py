"""The proof of a whole dataset again: gold and null, on the machine and on the day that they are wanted."""
