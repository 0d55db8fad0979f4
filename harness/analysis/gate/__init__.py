"""The gate: whether a model may ship."""
