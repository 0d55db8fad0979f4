"""The command line: a command parses, calls one function, and shows what it returns."""
