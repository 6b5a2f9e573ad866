"""Discard in a channel: cards without a dealer, for a stake, and a contract that settles every cheat."""
