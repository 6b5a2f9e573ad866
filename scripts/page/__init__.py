"""Builds the playground as files, which any host can serve."""
