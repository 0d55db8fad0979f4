"""A model as a judge of patches, held against the tests."""
