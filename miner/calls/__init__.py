"""Calls that hidden tests make of the product: recorded with the fix, varied, and written down for replays."""
