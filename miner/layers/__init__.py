"""Layers of images, and building them in containers that reach no more than they need."""
