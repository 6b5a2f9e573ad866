"""`forcemove play`: a channel with somebody on another machine, over a relay and on a chain."""

from forcemove.cli.play.command import play

__all__ = ["play"]
