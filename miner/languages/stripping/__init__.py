"""What the strippers of all languages that tree-sitter reads have in common."""
