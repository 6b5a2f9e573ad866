#!/usr/bin/env python3
"""Measures the cost of the journal: a commit of one channel and of many, loading them after a restart, and leases.

Snapshots are those of a channel in the middle of a game. A commit's time is mostly its one sync to the disk; the cost
of one more channel is the difference between a commit of many and a commit of one. Commits are the quickest of all
rounds: other work of the machine only makes them slower. On PostgreSQL with `--journal postgresql://...`, in which no
other journal may be.

`commit_ratio` is a commit of one channel over SQLite alone: see `commit_ratio.py`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from forcemove.protocol.codec.msgpack_codec import CHANNELS  # noqa: E402
from forcemove.store.journal import Journal  # noqa: E402
from forcemove.store.opening import open_journal  # noqa: E402
from forcemove.store.records import Batch, ChannelLease, ChannelUpdate  # noqa: E402
from scripts.benchmark import TARGETS, Table  # noqa: E402
from scripts.commit_ratio import commit_ratio, timed  # noqa: E402

MICROSECONDS = 1e6
MILLISECONDS = 1e3
TARGET = 30
"""Microseconds that a channel more may cost in a commit."""


def measure(where: str, channels: int, rounds: int) -> dict[str, float]:
    """The rows of the report, in the units that their names say."""
    ids = [number.to_bytes(32) for number in range(1, channels + 1)]
    snapshot = CHANNELS.encode(Table().channels[0])
    with open_journal(where, owner=os.urandom(16)) as journal:
        journal.commit(Batch(tuple(ChannelUpdate(each, 0, snapshot, metadata=bytes(200)) for each in ids)))
        many, one = _commits(journal, ids, snapshot, rounds)
        names = [ChannelLease(each) for each in ids]
        rows = {
            "snapshot_bytes": len(snapshot),
            "commit_of_one_us": one * MICROSECONDS,
            f"commit_of_{channels}_us": many * MICROSECONDS,
            "a_channel_more_us": (many - one) / (channels - 1) * MICROSECONDS,
            f"take_{channels}_leases_ms": timed(lambda: journal.leases.take(names, 60)) * MILLISECONDS,
            f"renew_{channels}_leases_ms": timed(lambda: journal.leases.renew(60)) * MILLISECONDS,
        }
    reopened: list[Journal] = []
    rows["open_ms"] = timed(lambda: reopened.append(open_journal(where, owner=os.urandom(16)))) * MILLISECONDS
    with reopened[0] as journal:
        rows[f"load_{channels}_ms"] = timed(journal.channels) * MILLISECONDS
    return rows


def _commits(journal: Journal, ids: Sequence[bytes], snapshot: bytes, rounds: int) -> tuple[float, float]:
    """The quickest commits of all channels and of one, in turn."""
    many, one = [], []
    for version in range(1, 2 * rounds, 2):
        everything = Batch(tuple(ChannelUpdate(each, version, snapshot) for each in ids))
        many.append(timed(lambda batch=everything: journal.commit(batch)))  # type: ignore[misc]
        first = Batch((ChannelUpdate(ids[0], version + 1, snapshot),))
        one.append(timed(lambda batch=first: journal.commit(batch)))  # type: ignore[misc]
        journal.commit(Batch(tuple(ChannelUpdate(each, version + 1, snapshot) for each in ids[1:])))
    return min(many), min(one)


def main() -> int:
    """The command; returns its exit status."""
    parser = argparse.ArgumentParser(description="Measure what the journal costs.")
    parser.add_argument("--journal", metavar="WHERE", help="default: a file in a temporary folder")
    parser.add_argument("--channels", type=int, default=100, metavar="N", help="in a batch (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=100, metavar="N", help="(default: %(default)s)")
    options = parser.parse_args()
    if options.channels < 2 or options.rounds < 1:
        parser.error("it wants two channels and one round, or more")
    with TemporaryDirectory() as folder:
        rows = measure(options.journal or str(Path(folder, "journal")), options.channels, options.rounds)
    if options.journal is None:
        rows["commit_ratio"] = commit_ratio(CHANNELS.encode(Table().channels[0]))
    for name, value in rows.items():
        print(f"{name:24} {value:10,.2f}")
    ratio = rows.get("commit_ratio", 0)
    return int(rows["a_channel_more_us"] > TARGET or not TARGETS["commit_ratio"].is_met(ratio))


if __name__ == "__main__":
    raise SystemExit(main())
