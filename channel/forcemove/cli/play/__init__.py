"""`forcemove play`: a channel with a player on another machine, over a relay and on a chain."""

from forcemove.cli.play.command import play

__all__ = ["play"]
