"""Reads one adjudicator's chain for all its channels. Knows the chain, and neither clients nor games."""
