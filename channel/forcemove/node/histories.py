"""A node's part of its journal's histories: reads what a channel's recorder must know, and tidies up when nothing else
is to be done."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from forcemove.history.entries import EntryKinds
from forcemove.history.history import ChannelHistory, decode_history
from forcemove.history.index import HistoryIndex

if TYPE_CHECKING:
    from forcemove.store.journal import Journal

_GATHER_AFTER = 512
"""Commits of channels after which the journal gathers what they have appended, as soon as there is time."""
_GATHER_AT_LAST = 16_384
"""... and after which it does so even where there is never time."""


def load_history(journal: Journal, channel_id: bytes) -> ChannelHistory:
    """What a journal has of a channel's history. Raises `JournalError`."""
    stored = journal.history(channel_id)
    return decode_history(stored.bodies, stored.damaged)


class Histories:
    """Of one node's channels."""

    def __init__(self, journal: Journal, on_error: Callable[[Exception], None]) -> None:
        """`on_error`: called with each error of tidying up; a node goes on after it."""
        self._journal, self._on_error = journal, on_error
        self._appended = 0
        self._is_gathered = False

    def load(self, channel_id: bytes) -> ChannelHistory:
        """See `load_history`."""
        return load_history(self._journal, channel_id)

    def load_index(self, channel_id: bytes) -> HistoryIndex:
        """What stands of a channel's logs and transactions. Raises `JournalError`."""
        if not self._is_gathered:
            self._is_gathered = True
            while self._journal.gather_history():
                pass
        stored = self._journal.history(channel_id, int(EntryKinds.CHAIN))
        return HistoryIndex(decode_history(stored.bodies).entries)

    def on_appended(self, count: int) -> None:
        """So many channels were committed."""
        self._appended += count

    @property
    def is_untidy(self) -> bool:
        """Whether `tidy_up` has something to do when there is time."""
        return self._appended >= _GATHER_AFTER

    def tidy_up(self, *, is_idle: bool) -> None:
        """Let the journal gather some of what was appended, if there is enough of it."""
        if self._appended < (_GATHER_AFTER if is_idle else _GATHER_AT_LAST):
            return
        try:
            if not self._journal.gather_history():
                self._appended = 0
        except Exception as error:
            self._appended = 0
            self._on_error(error)
