"""The cost of the journal: a commit of one channel and of many, loading them after a restart, leases, histories, and
lists.

Snapshots are those of a channel in the middle of a game. `commit_ratio` is a commit of one channel over SQLite alone:
one synced `UPDATE` of as many bytes, in turn with it, each in a file of its own in one folder. In memory
(`TMPDIR=/dev/shm`) nothing waits for a disk: there the ratio is that of our own work to SQLite's, and its bound says
nothing.

Each channel's commit has the two states of a turn where the history is compared; commits with and without them are
made in turn, each in a journal of its own in one folder, and what was appended is gathered in between, as a node does
when it has time. The list of channels is read from a journal and made into the page of `forcemove channel list`.
"""

from __future__ import annotations

import sqlite3
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from forcemove import Channel, overview
from forcemove.chain.create2 import CUSTOMARY_FACTORY
from forcemove.cli.channel import pages
from forcemove.cli.channel.stores import list_all
from forcemove.history.entries import EntryKinds, StateAccepted, StateSigned, TxRequested
from forcemove.history.history import MAX_ENTRIES, ChannelHistory
from forcemove.history.packing import pack
from forcemove.history.summary import pack_present, pack_profile, summarise
from forcemove.node.metadata import METADATA, ChannelMetadata
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.store.journal import Journal
from forcemove.store.records import Batch, ChannelLease, ChannelUpdate, HistoryRow
from scripts.measuring.cases import NOW, Measured, Row, Table, case, medians, require, timed
from scripts.measuring.processes import journal_at

_CHANNELS, _LISTED, _REQUESTS = 100, 1_000, 10
_GATHER_EVERY = 5


def _snapshot() -> bytes:
    """A channel, as journals have it."""
    return CHANNELS.encode(Table().channels[0])


def _different(snapshot: bytes, number: int) -> bytes:
    """As many bytes, each time others: SQLite does not write pages that have not changed."""
    return number.to_bytes(8) + snapshot[8:]


def _median_ratio(pairs: Sequence[tuple[float, float]]) -> float:
    """The median of the first of all pairs over that of the second."""
    return statistics.median(one for one, _ in pairs) / statistics.median(other for _, other in pairs)


@case(Row("commit_ratio", "x", "a commit of a journal with one channel / a bare synced commit of SQLite", 1.5))
def commit(rounds: int = 9, pairs: int = 40) -> Measured:
    """A commit of a journal with one channel, over a bare one: in each round this many pairs."""
    with TemporaryDirectory() as folder, _ours(folder, _snapshot()) as ours, _bare(folder, _snapshot()) as bare:
        return medians(
            rounds, lambda: {"commit_ratio": _median_ratio([(timed(ours), timed(bare)) for _ in range(pairs)])}
        )


@contextmanager
def _ours(folder: str, snapshot: bytes) -> Iterator[Callable[[], object]]:
    id_, version = bytes(32), 0
    with journal_at(folder, "journal") as journal:

        def commit() -> None:
            nonlocal version
            metadata = None if version else bytes(200)
            update = ChannelUpdate(id_, version, _different(snapshot, version), metadata)
            require(not journal.commit(Batch((update,))), "the journal has dropped a channel")
            version += 1

        commit()
        yield commit


@contextmanager
def _bare(folder: str, snapshot: bytes) -> Iterator[Callable[[], object]]:
    number = 0
    with closing(sqlite3.connect(Path(folder, "bare"), isolation_level=None)) as connection:
        for statement in (
            "PRAGMA journal_mode = WAL",
            "PRAGMA synchronous = FULL",
            "PRAGMA wal_autocheckpoint = 4000",
            "CREATE TABLE channels (id BLOB PRIMARY KEY, snapshot BLOB)",
        ):
            connection.execute(statement)
        connection.execute("INSERT INTO channels VALUES (?, ?)", (bytes(32), snapshot))

        def commit() -> None:
            nonlocal number
            number += 1
            connection.execute("BEGIN IMMEDIATE")
            row = (_different(snapshot, number), bytes(32))
            connection.execute("UPDATE channels SET snapshot = ? WHERE id = ?", row)
            connection.execute("COMMIT")

        commit()
        yield commit


@case(Row("a_channel_more_us", "us", "what one channel more costs in a commit", 30))
def journal(channels: int = 100, rounds: int = 100, where: str = "") -> Measured:
    """Commits of one channel and of many, leases, and a restart; on PostgreSQL with --where postgresql://...

    `where`: a journal in which no other one may be; a file in a temporary folder, unless one is given.
    """
    require(channels > 1, "one channel is not many")
    ids, bytes_, reopened = [number.to_bytes(32) for number in range(1, channels + 1)], _snapshot(), list[Journal]()
    with TemporaryDirectory() as folder:
        place = where or str(Path(folder, "journal"))
        with journal_at(place) as opened:
            opened.commit(Batch(tuple(ChannelUpdate(each, 0, bytes_, metadata=bytes(200)) for each in ids)))
            many, one = _commits(opened, ids, bytes_, rounds)
            leases = [ChannelLease(each) for each in ids]
            rows = {
                "snapshot_bytes": len(bytes_),
                "commit_of_one_us": one * 1e6,
                "commit_of_many_us": many * 1e6,
                "a_channel_more_us": (many - one) / (channels - 1) * 1e6,
                "take_leases_ms": timed(lambda: opened.leases.take(leases, 60)) * 1e3,
                "renew_leases_ms": timed(lambda: opened.leases.renew(60)) * 1e3,
            }
        rows["open_ms"] = timed(lambda: reopened.append(journal_at(place))) * 1e3
        with reopened[0] as opened:
            return rows | {"load_ms": timed(opened.channels) * 1e3}


def _commits(journal: Journal, ids: Sequence[bytes], snapshot: bytes, rounds: int) -> tuple[float, float]:
    """The quickest commits of all channels and of one, in turn: other work of the machine only makes them slower."""
    many, one = [], []
    for version in range(1, 2 * rounds, 2):
        everything, *parts = (
            Batch(tuple(ChannelUpdate(each, number, snapshot) for each in some))
            for number, some in ((version, ids), (version + 1, ids[:1]), (version + 1, ids[1:]))
        )
        many.append(timed(partial(journal.commit, everything)))
        one.append(timed(partial(journal.commit, parts[0])))
        journal.commit(parts[1])
    return min(many), min(one)


# ----------------------------------------------------------------------------------------------- histories and lists


@case(Row("history_commit_ratio", "x", "a commit of 100 channels with a turn's history of each / without", 1.15))
def history(rounds: int = 9, pairs: int = 40) -> Measured:
    """A commit of 100 channels with a turn's history, over one without: in each round this many pairs."""
    with TemporaryDirectory() as folder, journal_at(folder, "with") as with_, journal_at(folder, "without") as without:
        pair = _pairs(with_, without, Table().channels[0])
        return medians(rounds, lambda: {"history_commit_ratio": _median_ratio(list(map(pair, range(pairs))))})


def _pairs(with_: Journal, without: Journal, channel: Channel) -> Callable[[int], tuple[float, float]]:
    """What commits once to each of two journals of the same channels: the seconds with a history, and without."""
    newest, before = channel.accepted[-1].signed, channel.accepted[-2].signed
    row = HistoryRow(int(EntryKinds.STATES), pack([StateAccepted(NOW, before, False), StateSigned(NOW, newest)]))
    snapshot, summary = CHANNELS.encode(channel), pack_present(summarise(channel, "Game", NOW, NOW, NOW))
    version = 0

    def batch(history: HistoryRow | None) -> Batch:
        changed, metadata = _different(snapshot, version), None if version else bytes(200)
        ids = (number.to_bytes(32) for number in range(_CHANNELS))
        return Batch(
            tuple(ChannelUpdate(id_, version, changed, metadata, history=history, summary=summary) for id_ in ids)
        )

    def pair(number: int) -> tuple[float, float]:
        nonlocal version
        seconds = dict[bool, float]()
        for has_history in (True, False) if number % 2 else (False, True):
            journal, history = (with_, row) if has_history else (without, None)
            seconds[has_history] = timed(partial(journal.commit, batch(history)))
        version += 1
        while number % _GATHER_EVERY == 0 and with_.gather_history():
            pass
        return seconds[True], seconds[False]

    for journal in (with_, without):
        journal.commit(batch(None))
    version = 1
    return pair


@case(
    Row("channel_list_ms", "ms", "a list of 1,000 channels, from the open journal to the page", 50),
    Row("overview_ms", "ms", "an overview of a channel with 10,000 entries", 1),
)
def listing(rounds: int = 9) -> Measured:
    """A list of many channels, and an overview of one with a full history."""
    channel = Table().channels[0]
    states = [StateSigned(NOW, channel.accepted[-1].signed)] * (MAX_ENTRIES - _REQUESTS)
    asked = [TxRequested(NOW, number.to_bytes(32), "deposit") for number in range(_REQUESTS)]
    full = ChannelHistory((*states, *asked))
    require(len(overview(channel, full, NOW).safety.pending) == _REQUESTS, "the overview lacks requests")
    with TemporaryDirectory() as folder, journal_at(folder, "journal") as journal:
        updates = [_listed(channel, number) for number in range(_LISTED)]
        for start in range(0, _LISTED, _CHANNELS):
            journal.commit(Batch(tuple(islice(updates, start, start + _CHANNELS))))
        require(len(_page(journal).splitlines()) == 1 + 2 * _LISTED, "the list lacks channels")
        return medians(
            rounds,
            lambda: {
                "channel_list_ms": timed(lambda: _page(journal)) * 1e3,
                "overview_ms": timed(lambda: overview(channel, full, NOW)) * 1e3,
            },
        )


def _listed(channel: Channel, number: int) -> ChannelUpdate:
    """A channel of its own."""
    fixed_part = replace(channel.agreement.fixed_part, channel_nonce=number)
    each = replace(channel, agreement=replace(channel.agreement, fixed_part=fixed_part))
    summary = summarise(each, "TicTacToe", NOW, NOW, NOW)
    return ChannelUpdate(
        number.to_bytes(32),
        0,
        CHANNELS.encode(each),
        METADATA.encode(ChannelMetadata("TicTacToe", 0, CUSTOMARY_FACTORY, 1, begun_at=NOW)),
        profile=pack_profile(summary),
        summary=pack_present(summary),
    )


def _page(journal: Journal) -> str:
    return pages.table(list_all(journal, NOW)[0])
