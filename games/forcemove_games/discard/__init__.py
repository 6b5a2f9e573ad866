"""Discard in a channel: cards without a dealer, for a stake, and a contract that settles every cheat."""

from forcemove import Game
from forcemove_games.discard.game import Discard

GAME: Game = Discard()
