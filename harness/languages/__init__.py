"""The seam between goldseam and a language's tests: one folder a language."""
