"""The games that this repository itself installs, and what a deployment deploys for them: tests list none by name."""

from __future__ import annotations

from forcemove.channel.chain.deployment import contracts_to_deploy
from forcemove.channel.game import Game
from forcemove.channel.installed import installed_games

__all__ = ["CONTRACTS", "GAMES"]

GAMES: tuple[Game, ...] = installed_games().games
CONTRACTS: tuple[str, ...] = tuple(contract.name for contract in contracts_to_deploy())
"""The names, in the order in which they are deployed."""
