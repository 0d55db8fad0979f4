"""A repository's tree and what its CI declares, read for any language."""
