"""Protocols among several clients, as short sequences of steps over a log whose order all of them share.

Knows asyncio, and neither chains nor games: `transport` carries bytes, `signed` says whose they are and `history` what
their authors had read, `queue` makes actions of them, `steps` says what happens one after the other, `keys` lets
clients meet, `seat` is a participant that no failure of its surroundings stops, `channel` plays a channel.
"""
