"""Sends one account's transactions until they are mined, whatever fees, nodes and its own process do. Knows the chain
and the journal's port, and neither channels nor games."""
