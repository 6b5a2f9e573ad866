"""Forcemove: turn-based games in state channels. Installed, this is the package `forcemove` itself."""
