"""Sealing tasks to recipients, and telling who opened them."""
