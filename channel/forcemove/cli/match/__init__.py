"""A channel, as somebody plays it: who decides, what is shown, and what is done where nothing happens."""
