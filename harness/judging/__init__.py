"""The judge of values that tests hand out of a container: it stands on the host, where the expectations are."""
