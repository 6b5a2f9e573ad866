"""The lines that a screen shows on `help`, and on `history`. Pure but for the reader's own time zone."""

from __future__ import annotations

from collections.abc import Iterator

from forcemove.game import Game, Names
from forcemove.history.entries import TxRequested
from forcemove.node.managed_channel import ManagedChannel
from forcemove.rounds import words_by_turn
from forcemove.text.durations import local_time
from forcemove.text.entries import entry_text, name_at
from forcemove.text.situation.moment import capitalised

HELP = "help"
HISTORY = "history"
RULES = "rules"
SAY = "say"
_NEWEST = 20
"""Entries of a history that are shown at a table."""
_TYPING = "Type one of the words on the left and press Enter. The first letters of a word are enough."
_WITH_A_STAKE = (
    "leave ends the game with your next turn. Between two rounds you keep what you have. In a running round you lose "
    "what the other player has won so far; you are asked first.",
    "challenge is there when the other player is silent: the chain sets a time limit, and decides when it is over.",
)
_FOR_NOTHING = ("leave ends the game with your next turn. Nothing is at stake.",)

_LOOKING = (
    f"{RULES} tells how the game is played; {HISTORY} tells what has happened in this channel, the newest {_NEWEST} "
    "things."
)
_CHATTING = (
    f"{SAY} and some words shows them to the others at the table. They bind nobody. The relay keeps them, and its "
    "operator can read them."
)


def help_lines(aside: str, *, has_stake: bool, has_chat: bool = False) -> tuple[str, ...]:
    """The lines.

    - `aside`: what becomes of the game when the person presses Ctrl-C.
    - `has_stake`: whether there is money to lose.
    - `has_chat`: whether lines can be sent to the other players.
    """
    chatting = (_CHATTING,) if has_chat else ()
    stake = _WITH_A_STAKE if has_stake else _FOR_NOTHING
    return (_TYPING, *stake, _LOOKING, *chatting, f"Ctrl-C, or Ctrl-D: {aside}")


def history_lines(game: Game, played: ManagedChannel, names: Names) -> Iterator[str]:
    """The newest entries of a channel's history, oldest first.

    - `game`: says what was done.
    - `played`: the channel.
    - `names`: of the players, by seat.

    Raises as `ManagedChannel.history`.
    """
    channel, history = played.channel, played.history()

    def called(seat: int | None) -> str:
        return name_at(seat, names, channel.index)

    words = words_by_turn(game, history.states, len(names))
    reorged, entries = history.reorged, history.entries
    places = [place for place, each in enumerate(entries) if not isinstance(each, TxRequested)]
    for place in places[-_NEWEST:]:
        line = capitalised(entry_text(entries[place], channel, called, words, played.tokens))
        mark = " (a reorganisation has removed it)" if place in reorged else ""
        yield f"{local_time(entries[place].time)[1]}    {line}{mark}"
