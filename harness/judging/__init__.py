"""The host's judge of values that tests hand out of a container: the expectations are here, never inside."""
