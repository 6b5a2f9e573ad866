"""Whose turn it is, in a few words: the title of a tab, a link, a notification. Pure."""

from __future__ import annotations

from forcemove.game import Game, Names
from forcemove.protocol.machine.channel import Channel, Phase
from forcemove.text.harmless import harmless
from forcemove.text.situation.moment import shown_names

PHASE_WORDS = {
    Phase.CHECKING: "starting",
    Phase.PREFUND: "starting",
    Phase.FUNDING: "paying in",
    Phase.PLAYING: "playing",
    Phase.CONCLUDING: "ending",
    Phase.CHALLENGED: "in challenge",
    Phase.FINALIZED: "over, being paid",
    Phase.CLOSED: "over",
}
"""How far a game is, in a word or two."""


def turn_text(game: Game, channel: Channel, phase: Phase, names: Names, *, is_asked: bool) -> str:
    """Such as `Your turn: Tic-tac-toe`; where nobody is to move, how far the channel is.

    - `game`: the channel's.
    - `channel`: as it is now.
    - `phase`: that it is in.
    - `names`: of the participants, by seat.
    - `is_asked`: whether there is something that only we can decide.
    """
    title = harmless(game.title)
    if is_asked:
        return f"Your turn: {title}"
    if channel.is_our_turn or phase not in (Phase.PLAYING, Phase.CHALLENGED):
        return f"{title}: {PHASE_WORDS[phase]}"
    return f"{shown_names(names)[channel.next_turn % channel.agreement.count]}'s turn: {title}"
