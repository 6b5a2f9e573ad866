"""The rounds of a channel that are over, and the last one with its board until the viewer goes on. Pure: what is
remembered is what would be found again, and the rounds that a long history has forgotten since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forcemove.browser.drawing.board import Drawing, picture_of
from forcemove.browser.view import ChannelView
from forcemove.game import RoundResult
from forcemove.history.entries import Entry, StateAccepted, StateSigned
from forcemove.protocol.types import VariablePart
from forcemove.rounds import RoundCount, result_line
from forcemove.text.harmless import harmless
from forcemove.text.situation.moment import change_text, shown_names

_MOST = 8
"""Channels of which the rounds are remembered."""


@dataclass(frozen=True, slots=True)
class RoundPanel:
    """The last round that is over.

    - `text`: how it has ended; `change`: of our money with it, `tone`: `good` or `bad` by who has won.
    - `drawing`: its last position, None where the board shows it still, or there is no picture.
    """

    text: str
    change: str
    tone: str
    drawing: Drawing | None


@dataclass
class _Found:
    """What was found in a history up to its `newest` entry. `last`: the state that ended the last round, the one before
    it, and its result."""

    rounds: RoundCount
    newest: Entry | None = None
    state: VariablePart | None = None
    last: tuple[VariablePart, VariablePart | None, RoundResult] | None = None


_found: dict[tuple[bytes, int], _Found] = {}


def rounds_of(view: ChannelView) -> RoundCount:
    """The rounds that are over."""
    return _look(view).rounds


def round_of(view: ChannelView) -> RoundPanel | None:
    """The last round that is over; None where none is, and once the viewer has chosen a move of the next."""
    found = _look(view)
    if found.last is None or found.last[0].turn_num < view.chosen_turn:
        return None
    state, before, result = found.last
    names, seat, agreement = shown_names(view.names), view.channel.index, view.channel.agreement
    change = "" if agreement.is_friendly else change_text(agreement.deposits[0][0], result.changes[seat], view.tokens)
    tone = "" if result.winner is None else "good" if result.winner == seat else "bad"
    drawing = None if found.state is state else picture_of(view.game, state, seat, view.own, names, before)
    return RoundPanel(harmless(result_line(result, names, seat)), change, tone, drawing)


def _look(view: ChannelView) -> _Found:
    """Look at the entries that are new since the last look."""
    entries, key = view.history.entries, (view.channel.agreement.channel_id, view.channel.index)
    found = _found.pop(key, None)
    begin = _place_after(entries, found.newest) if found else 0
    if found is None or not begin:
        found = _Found(RoundCount(view.game))
    _found[key] = found
    while len(_found) > _MOST:
        del _found[next(iter(_found))]
    for entry in entries[begin:]:
        if isinstance(entry, StateSigned | StateAccepted) and not entry.signed.state.is_final:
            before, found.state = found.state, entry.signed.state
            if (result := _added(found.rounds, found.state)) is not None:
                found.last = found.state, before, result
    found.newest = entries[-1] if entries else None
    return found


def _place_after(entries: Sequence[Entry], entry: Entry | None) -> int:
    """The place after this very entry, near the end; 0 where it is not there."""
    return next((place for place in range(len(entries), 0, -1) if entries[place - 1] is entry), 0)


def _added(rounds: RoundCount, state: VariablePart) -> RoundResult | None:
    """What ends with a state. A game is not ours, and the page must be there whatever it does."""
    try:
        return rounds.add(state)
    except Exception:
        return None
