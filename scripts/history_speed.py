"""The time that the history adds to a commit of 100 channels, and the times of a list of 1,000 channels and of one
overview.

Each channel's commit has the two states of a turn. Commits with and without them are made in turn, each in a journal of
its own in one folder; what was appended is gathered in between, as a node does when it has time. The list is read from
a journal and made into the page of `forcemove channel list`.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from forcemove.chain.create2 import CUSTOMARY_FACTORY
from forcemove.cli.channel import pages
from forcemove.cli.channel.stores import list_all
from forcemove.history.entries import EntryKinds, StateAccepted, StateSigned, TxRequested
from forcemove.history.history import MAX_ENTRIES, ChannelHistory
from forcemove.history.overview import overview
from forcemove.history.packing import pack
from forcemove.history.summary import pack_present, pack_profile, summarise
from forcemove.node.metadata import METADATA, ChannelMetadata
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.protocol.machine.channel import Channel
from forcemove.store.journal import Journal
from forcemove.store.opening import open_journal
from forcemove.store.records import Batch, ChannelUpdate, HistoryRow
from scripts.commit_ratio import timed

__all__ = ["channel_list_ms", "history_commit_ratio", "overview_ms"]

_CHANNELS, _LISTED, _REQUESTS = 100, 1_000, 10
_ROUNDS, _PAIRS, _GATHER_EVERY = 9, 40, 5
_NOW = 1_800_000_000


def history_commit_ratio(channel: Channel, rounds: int = _ROUNDS, pairs: int = _PAIRS) -> float:
    """A commit of 100 channels with a turn's history / one without: the median of the rounds, each of this many
    pairs."""
    newest, before = channel.accepted[-1].signed, channel.accepted[-2].signed
    row = HistoryRow(int(EntryKinds.STATES), pack([StateAccepted(_NOW, before, False), StateSigned(_NOW, newest)]))
    snapshot, summary = CHANNELS.encode(channel), pack_present(summarise(channel, "Game", _NOW, _NOW, _NOW))
    with TemporaryDirectory() as folder, _open(folder, "with") as with_, _open(folder, "without") as without:
        compared = _Compared(with_, without, snapshot, summary, row)
        return statistics.median(compared.ratio(pairs) for _ in range(rounds))


class _Compared:
    """Two journals with the same channels."""

    def __init__(self, with_: Journal, without: Journal, snapshot: bytes, summary: bytes, row: HistoryRow) -> None:
        """Keep the channels in both.

        - `with_`: the journal whose commits have a history.
        - `without`: the other one.
        - `snapshot`: of each channel.
        - `summary`: of each channel.
        - `row`: what each commit of a channel adds to its history.
        """
        self._with, self._without = with_, without
        self._snapshot, self._summary, self._row = snapshot, summary, row
        self._version = 0
        for journal in (with_, without):
            journal.commit(self._batch(None))
        self._version = 1

    def ratio(self, pairs: int) -> float:
        """The median of the commits with a history over the median of those without."""
        times: list[tuple[float, float]] = []
        for number in range(pairs):
            with_ = self._timed(self._with, self._row) if number % 2 else None
            without = self._timed(self._without, None)
            times.append((self._timed(self._with, self._row) if with_ is None else with_, without))
            self._version += 1
            while number % _GATHER_EVERY == 0 and self._with.gather_history():
                pass
        return statistics.median(one for one, _ in times) / statistics.median(other for _, other in times)

    def _timed(self, journal: Journal, row: HistoryRow | None) -> float:
        batch = self._batch(row)
        return timed(lambda: journal.commit(batch))

    def _batch(self, row: HistoryRow | None) -> Batch:
        snapshot = self._version.to_bytes(8) + self._snapshot[8:]  # SQLite writes no page that has not changed
        about = None if self._version else bytes(200)
        ids = (number.to_bytes(32) for number in range(_CHANNELS))
        return Batch(
            tuple(ChannelUpdate(id_, self._version, snapshot, about, history=row, summary=self._summary) for id_ in ids)
        )


def channel_list_ms(channel: Channel, rounds: int = _ROUNDS) -> float:
    """Milliseconds for a list of 1,000 channels, from the open journal to the page: the median of the rounds."""
    with TemporaryDirectory() as folder, _open(folder, "journal") as journal:
        updates = [_listed(channel, number) for number in range(_LISTED)]
        for start in range(0, _LISTED, _CHANNELS):
            journal.commit(Batch(tuple(islice(updates, start, start + _CHANNELS))))
        _require_page(_page(journal))
        return statistics.median(timed(lambda: _page(journal)) for _ in range(rounds)) * 1_000


def overview_ms(channel: Channel, rounds: int = _ROUNDS) -> float:
    """Milliseconds for an overview of a channel with a full history: the median of the rounds."""
    states = [StateSigned(_NOW, channel.accepted[-1].signed)] * (MAX_ENTRIES - _REQUESTS)
    asked = [TxRequested(_NOW, number.to_bytes(32), "deposit") for number in range(_REQUESTS)]
    history = ChannelHistory((*states, *asked))
    if len(overview(channel, history, _NOW).safety.pending) != _REQUESTS:
        raise SystemExit("the overview lacks requests: what was measured is worthless")
    return statistics.median(timed(lambda: overview(channel, history, _NOW)) for _ in range(rounds)) * 1_000


def _listed(channel: Channel, number: int) -> ChannelUpdate:
    """A channel of its own."""
    fixed_part = replace(channel.agreement.fixed_part, channel_nonce=number)
    each = replace(channel, agreement=replace(channel.agreement, fixed_part=fixed_part))
    summary = summarise(each, "TicTacToe", _NOW, _NOW, _NOW)
    return ChannelUpdate(
        number.to_bytes(32),
        0,
        CHANNELS.encode(each),
        METADATA.encode(ChannelMetadata("TicTacToe", 0, CUSTOMARY_FACTORY, 1, begun_at=_NOW)),
        profile=pack_profile(summary),
        summary=pack_present(summary),
    )


def _page(journal: Journal) -> str:
    return pages.table(list_all(journal, _NOW)[0])


def _require_page(page: str) -> None:
    lines: Sequence[str] = page.splitlines()
    if len(lines) != 1 + 2 * _LISTED:
        raise SystemExit("the list lacks channels: what was measured is worthless")


def _open(folder: str, name: str) -> Journal:
    return open_journal(str(Path(folder, name)), owner=os.urandom(16))
