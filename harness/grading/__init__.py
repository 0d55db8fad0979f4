"""One trial of a patch in a container, and what the host decides of it."""
