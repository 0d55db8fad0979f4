"""A test file, read: what of it depends on the product. Pure."""
