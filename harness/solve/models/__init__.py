"""Models: one client with its cache, retries, limits and prices."""
