"""Sums of money, kept in whole cents."""

from tally.money import parse_cents, show, split_evenly

__all__ = ["parse_cents", "show", "split_evenly"]
