"""Programs that run as the first process of a container."""
