"""The lines that a screen shows on `help`."""

from __future__ import annotations

__all__ = ["HELP", "SAY", "help_lines"]

HELP = "help"
SAY = "say"
_TYPING = "Type one of the words on the left and press Enter. The beginning of a word will do."
_WITH_A_STAKE = (
    "leave ends the game with your next turn. Between two rounds you keep what you have. In a running round you lose "
    "what the other has taken: you are asked before.",
    "challenge is there when the other is silent: the chain sets it a time, and decides when that is over.",
)
_FOR_NOTHING = ("leave ends the game with your next turn. Nothing is at stake.",)


_CHATTING = (
    f"{SAY} and some words shows them to the others at the table. Nobody is bound by them, and they are not kept."
)


def help_lines(aside: str, *, has_stake: bool, has_chat: bool = False) -> tuple[str, ...]:
    """The lines.

    - `aside`: what becomes of the game when the person presses Ctrl-C.
    - `has_stake`: whether there is money to lose.
    - `has_chat`: whether lines can be sent to the other players.
    """
    chatting = (_CHATTING,) if has_chat else ()
    return (_TYPING, *(_WITH_A_STAKE if has_stake else _FOR_NOTHING), *chatting, f"Ctrl-C, or Ctrl-D: {aside}")
