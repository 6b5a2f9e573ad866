"""How players find each other from a terminal: `forcemove lobby`, the same for one game in `forcemove play`, and the
invitation that a host gives to a friend. Plays nothing, and signs nothing."""

from forcemove.cli.lobby.command import lobby

__all__ = ["lobby"]
