"""How much of what should not resolve a task its hidden tests catch (docs/quality.md, "Strength")."""
