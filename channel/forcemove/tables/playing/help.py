"""The lines that a screen shows on `help`."""

from __future__ import annotations

__all__ = ["HELP", "help_lines"]

HELP = "help"
_TYPING = "Type one of the words on the left and press Enter. The beginning of a word will do."
_WITH_A_STAKE = (
    "leave ends the game with your next turn. Between two rounds you keep what you have. In a running round you lose "
    "what the other has taken: you are asked before.",
    "challenge is there when the other is silent: the chain sets it a time, and decides when that is over.",
)
_FOR_NOTHING = ("leave ends the game with your next turn. Nothing is at stake.",)


def help_lines(aside: str, *, has_stake: bool) -> tuple[str, ...]:
    """The lines. `aside`: what becomes of the game when the person presses Ctrl-C."""
    return (_TYPING, *(_WITH_A_STAKE if has_stake else _FOR_NOTHING), f"Ctrl-C, or Ctrl-D: {aside}")
