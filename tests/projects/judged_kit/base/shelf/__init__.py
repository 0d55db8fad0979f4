from .store import Shelf

__all__ = ["Shelf"]
