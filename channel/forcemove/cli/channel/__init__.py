"""`forcemove channel`: the channels of a journal, and what can be done about them."""

from forcemove.cli.channel.command import channel

__all__ = ["channel"]
