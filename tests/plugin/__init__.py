"""A game of somebody else's: a distribution of its own, found by its entry point."""
