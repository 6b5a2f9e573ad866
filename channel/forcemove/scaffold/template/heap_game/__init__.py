"""Heap game: take one to three from a heap of ten; the last one wins.

`GAME` is what the entry point in `pyproject.toml` names.
"""

from heap_game.game import HeapGame

__all__ = ["GAME"]

GAME = HeapGame()
