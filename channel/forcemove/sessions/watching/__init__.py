"""A table that others play at, as a stranger may see it: read from the relay's log, and checked here. Holds no key."""
