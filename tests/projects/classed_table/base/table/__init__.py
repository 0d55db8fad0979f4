from table.cells import cell, split

__all__ = ["cell", "split"]
