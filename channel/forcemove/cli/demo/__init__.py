"""`forcemove demo`: the command, and the environment of its scenarios."""

from forcemove.cli.demo.command import demo

__all__ = ["demo"]
