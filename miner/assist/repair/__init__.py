"""A model that repairs environments which no recipe gave: asked for a recipe, never for tests."""
