"""From a recipe to an image pinned by digest. Nothing is loaded here: the command line needs a choice or two of it."""
