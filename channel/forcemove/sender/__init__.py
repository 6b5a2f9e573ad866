"""Sends one account's transactions, and sees them mined, whatever fees, nodes and its own process do. Knows the chain
and the journal's port, and neither channels nor games."""
