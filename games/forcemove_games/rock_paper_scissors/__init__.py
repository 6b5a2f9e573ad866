"""Rock-paper-scissors. A proposes a round with a hidden weapon, B plays in the open, A reveals."""

from forcemove import Game
from forcemove_games.rock_paper_scissors.game import RockPaperScissors

GAME: Game = RockPaperScissors()
