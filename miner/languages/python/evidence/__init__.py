"""What a Python repository says of its environment: one module for each kind of evidence."""
