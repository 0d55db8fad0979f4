"""A language of facts, as small as one can be behind both seams: `add 1 1 = 2` in a product, the same in a test.

A test file has a line for each test, `NAME: FACT`; a test passes if a file of the product has that fact. Its runner is
a program of its own, which prints nothing and writes frames.
"""
