"""`forcemove demo`: the command, and what its scenarios are played with."""

from forcemove.cli.demo.command import demo

__all__ = ["demo"]
