"""Tic-tac-toe. Each mark takes the stake, so that leaving a running round forfeits it."""

from forcemove import Game
from forcemove_games.tic_tac_toe.game import TicTacToe

GAME: Game = TicTacToe()
