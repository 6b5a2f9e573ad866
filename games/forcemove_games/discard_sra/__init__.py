"""Discard: a card game of two players without a dealer, played over a log; see `rules`.

The value `GAME` is what a command line plays. It is a game over a log without money, and not for a channel.
"""

from __future__ import annotations

from forcemove_games.discard_sra.demonstration import DiscardGame

GAME = DiscardGame()
