"""`forcemove channel`: what a journal keeps, and what can be done about it."""

from forcemove.cli.channel.command import channel

__all__ = ["channel"]
