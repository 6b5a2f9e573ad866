"""Protocols among several clients, told as short sequences of steps over a log whose order all of them share.

Knows asyncio, and neither chains nor games: `transport` carries bytes, `signed` says whose they are and `history` what
their authors had read, `queue` makes actions of them, `steps` tells what happens one after the other, `keys` lets
strangers meet, `seat` is a participant whom no failure stops, `channel` plays a channel.
"""
