"""The seam between mining and a language: one folder a language."""
