"""Images of tasks: built, named, published, rebuilt, removed."""
