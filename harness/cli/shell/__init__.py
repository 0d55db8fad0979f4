"""What every command has: help, options for its output, old spellings, completion. Loads little, for a fast start."""
