"""`forcemove demo`: the command, and the scenery that its stories are played in."""

from forcemove.cli.demo.command import demo

__all__ = ["demo"]
