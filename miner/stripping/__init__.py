"""Expectations of tasks, recorded and proved on their images."""
