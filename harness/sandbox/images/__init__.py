"""Images on an engine: layers, sizes, pulls, registries."""
