"""Reads one adjudicator's chain for all channels that live there. Knows the chain, and neither clients nor games."""
