"""Channels of several participants in one process: their chain, their network, and what a cheat among them does. Knows
no screen."""
