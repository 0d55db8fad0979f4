"""Checks of datasets and images: every problem at once."""
