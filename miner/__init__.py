"""From history to proved tasks."""
