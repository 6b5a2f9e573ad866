"""Reads a journal's histories for pages: what was decoded once is not decoded again."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from forcemove.history.history import MAX_ENTRIES, ChannelHistory, decode_history
from forcemove.store.records import StoredHistory

if TYPE_CHECKING:
    from forcemove.store.journal import Journal

_MOST = 8
"""Channels whose history is kept in memory."""
_FRESH = 1.0
"""Seconds for which a history is as it was read, unless something has changed."""


@dataclass
class _Known:
    """A channel's history as it was read last. `stored`: its bodies; `pieces`: what each of them says; `history`: all
    of them; `change`, `read_at`: when it was read."""

    stored: StoredHistory
    pieces: list[ChannelHistory]
    history: ChannelHistory
    change: int
    read_at: float


class HistoryReader:
    """The histories of one journal. A long one takes most of a second to decode: so only what is new is."""

    def __init__(self, journal: Journal, clock: Callable[[], float] = time.monotonic) -> None:
        """`journal`: has the histories; `clock`: seconds that go on steadily."""
        self._journal, self._clock = journal, clock
        self._known: dict[bytes, _Known] = {}

    def read(self, channel_id: bytes, change: int) -> ChannelHistory:
        """A channel's history. `change`: rises whenever the history may have more. Raises `JournalError`."""
        known, now = self._known.pop(channel_id, None), self._clock()
        if known is None or known.change != change or now >= known.read_at + _FRESH:
            known = self._read_again(channel_id, known, change, now)
        self._known[channel_id] = known
        while len(self._known) > _MOST:
            del self._known[next(iter(self._known))]
        return known.history

    def _read_again(self, channel_id: bytes, known: _Known | None, change: int, now: float) -> _Known:
        stored = self._journal.history(channel_id)
        if known is not None and known.stored == stored:
            return _Known(stored, known.pieces, known.history, change, now)
        pieces = [] if known is None else _still_there(known, stored.bodies)
        pieces += [decode_history([body]) for body in stored.bodies[len(pieces) :]]
        return _Known(stored, pieces, _joined(pieces, stored.damaged), change, now)


def _still_there(known: _Known, bodies: Sequence[bytes]) -> list[ChannelHistory]:
    """What the first of these bodies say, as far as they were read before: a journal drops the oldest, and appends."""
    if not bodies or bodies[0] not in known.stored.bodies:
        return []
    start = known.stored.bodies.index(bodies[0])
    before = known.stored.bodies[start:]
    return known.pieces[start:] if tuple(bodies[: len(before)]) == before else []


def _joined(pieces: Sequence[ChannelHistory], damaged: int) -> ChannelHistory:
    entries = tuple(chain.from_iterable([each.entries for each in pieces]))
    return ChannelHistory(entries[-MAX_ENTRIES:], damaged + sum([each.unreadable for each in pieces]))
