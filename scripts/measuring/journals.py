"""The cost of the journal: a commit of one channel and of many, loading them after a restart, and leases.

Snapshots are those of a channel in the middle of a game. `commit_ratio` is a commit of one channel over SQLite alone:
one synced `UPDATE` of as many bytes, in turn with it, each in a file of its own in one folder. In memory
(`TMPDIR=/dev/shm`) nothing waits for a disk: there the ratio is that of our own work to SQLite's, and its bound says
nothing.
"""

from __future__ import annotations

import sqlite3
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.store.journal import Journal
from forcemove.store.records import Batch, ChannelLease, ChannelUpdate
from scripts.measuring.cases import Measured, Row, case, medians, require, timed
from scripts.measuring.driving import journal_at
from scripts.measuring.table import Table

__all__ = ["commit", "different", "journal", "median_ratio", "snapshot"]


def snapshot() -> bytes:
    """A channel, as journals have it."""
    return CHANNELS.encode(Table().channels[0])


def different(snapshot: bytes, number: int) -> bytes:
    """As many bytes, each time others: SQLite does not write pages that have not changed."""
    return number.to_bytes(8) + snapshot[8:]


def median_ratio(pairs: Sequence[tuple[float, float]]) -> float:
    """The median of the first of all pairs over that of the second."""
    return statistics.median(one for one, _ in pairs) / statistics.median(other for _, other in pairs)


@case(Row("commit_ratio", "x", "a commit of a journal with one channel / a bare synced commit of SQLite", 1.5))
def commit(rounds: int = 9, pairs: int = 40) -> Measured:
    """A commit of a journal with one channel, over a bare one: in each round this many pairs."""
    with TemporaryDirectory() as folder, _ours(folder, snapshot()) as ours, _bare(folder, snapshot()) as bare:
        return medians(
            rounds, lambda: {"commit_ratio": median_ratio([(timed(ours), timed(bare)) for _ in range(pairs)])}
        )


@contextmanager
def _ours(folder: str, snapshot: bytes) -> Iterator[Callable[[], object]]:
    id_, version = bytes(32), 0
    with journal_at(folder, "journal") as journal:

        def commit() -> None:
            nonlocal version
            metadata = None if version else bytes(200)
            update = ChannelUpdate(id_, version, different(snapshot, version), metadata)
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
            row = (different(snapshot, number), bytes(32))
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
    ids, bytes_, reopened = [number.to_bytes(32) for number in range(1, channels + 1)], snapshot(), list[Journal]()
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
