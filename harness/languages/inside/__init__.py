"""Programs that run inside task containers, for any language."""
