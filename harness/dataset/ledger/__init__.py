"""The ledger of a dataset: what happened to it, chained by hashes, and what it binds."""
