"""The time of a journal's commit with one channel over that of SQLite alone: one synced `UPDATE` of as many bytes, in
turn with it, each in a file of its own in one folder.

In memory (`TMPDIR=/dev/shm`) nothing waits for a disk: there the ratio is that of our own work to SQLite's, and has no
target.
"""

from __future__ import annotations

import os
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from forcemove.store.opening import open_journal
from forcemove.store.records import Batch, ChannelUpdate

__all__ = ["commit_ratio", "timed"]

_ROUNDS, _PAIRS = 9, 40


def timed(action: Callable[[], object]) -> float:
    """Seconds that an action takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def commit_ratio(snapshot: bytes, rounds: int = _ROUNDS, pairs: int = _PAIRS) -> float:
    """A commit of a journal with one channel / a bare one: the median of the rounds, each of this many pairs."""
    with TemporaryDirectory() as folder, _ours(folder, snapshot) as ours, _bare(folder, snapshot) as bare:
        return statistics.median(_ratio(ours, bare, pairs) for _ in range(rounds))


def _ratio(ours: Callable[[], object], bare: Callable[[], object], pairs: int) -> float:
    times = [(timed(ours), timed(bare)) for _ in range(pairs)]
    return statistics.median(one for one, _ in times) / statistics.median(other for _, other in times)


@contextmanager
def _ours(folder: str, snapshot: bytes) -> Iterator[Callable[[], object]]:
    id_, version = bytes(32), 0
    with open_journal(str(Path(folder, "journal")), owner=os.urandom(16)) as journal:

        def commit() -> None:
            nonlocal version
            about = None if version else bytes(200)
            if journal.commit(Batch((ChannelUpdate(id_, version, _differing(snapshot, version), about),))):
                raise SystemExit("the journal has dropped a channel: what was measured is worthless")
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
            row = (_differing(snapshot, number), bytes(32))
            connection.execute("UPDATE channels SET snapshot = ? WHERE id = ?", row)
            connection.execute("COMMIT")

        commit()
        yield commit


def _differing(snapshot: bytes, number: int) -> bytes:
    """As many bytes, each time others: SQLite does not write pages that have not changed."""
    return number.to_bytes(8) + snapshot[8:]
