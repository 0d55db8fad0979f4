"""Pieces that the page is made of: names, Markdown, transcripts, where a run comes from."""
