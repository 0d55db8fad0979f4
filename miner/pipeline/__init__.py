"""Mining as one tuple of stages."""
