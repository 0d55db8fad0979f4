"""JavaScript and TypeScript in the harness."""
