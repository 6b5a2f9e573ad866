"""A channel for its player: who decides, what is shown, and what is done where nothing happens."""
