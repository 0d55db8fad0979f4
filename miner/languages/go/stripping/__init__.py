"""Expectations taken out of tests of Go."""
