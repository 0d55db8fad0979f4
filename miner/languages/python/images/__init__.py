"""The layers of a Python task's image, richest recipe first."""
