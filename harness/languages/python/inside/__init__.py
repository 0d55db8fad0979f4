"""Programs that run inside task containers, on Python 3.6 and later."""
