"""The same calls to the fix and to a patch, outside of any test runner: figures beside the verdict, no part of it.

See docs/security.md, "Overfitting".
"""
