"""Where journals of tests are, and what is put into them."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from forcemove.store import migrations, opening, schema
from forcemove.store.journal import Journal
from forcemove.store.records import Account, Batch, ChannelUpdate
from tests.store.server import Server

ALICE, BOB, CAROL = (name * 16 for name in (b"a", b"b", b"c"))
"""Owners of leases: the processes of the stories."""
SEED = b"s" * 32
ACCOUNT = Account(31_337, b"\x0a" * 20)
OTHER_ACCOUNT = Account(31_337, b"\x0b" * 20)


class Place:
    """A journal's place: `where`, and a clock that tests move. `server`: PostgreSQL's, which has its own clock."""

    def __init__(self, where: str, server: Server | None = None) -> None:
        self.where, self.server = where, server
        self.now = 1_800_000_000.0

    def open(self, owner: bytes = ALICE, **options: Any) -> Journal:
        return opening.open_journal(self.where, owner=owner, clock=lambda: self.now, **options)

    def pass_time(self, seconds: float) -> None:
        """A server's clock is not ours to move: there every lease is moved to the past instead."""
        if self.server is None:
            self.now += seconds
        else:
            self.run(f"UPDATE leases SET until = until - {int(seconds * 1000)} WHERE until > 0")  # noqa: S608 - a number

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement on the journal's tables, past the journal."""
        if self.server is not None:
            return self.server.run(statement, self.where)
        with closing(sqlite3.connect(self.where, isolation_level=None)) as connection:
            return connection.execute(statement).fetchall()


class ImagePlace(Place):
    """An image. `image`: what was kept last; `count`: how often; `is_full`: whether no more is kept."""

    def __init__(self) -> None:
        super().__init__("image")
        self.image, self.count, self.is_full = b"", 0, False

    def open(self, owner: bytes = ALICE, **options: Any) -> Journal:
        return opening.open_image(lambda: self.image, self.write, owner=owner, clock=lambda: self.now, **options)

    def write(self, image: bytes) -> None:
        if self.is_full:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.image, self.count = image, self.count + 1

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
            connection.deserialize(self.image)
            found = connection.execute(statement).fetchall()
            self.image = connection.serialize()
        return found


def file_in(folder: Path) -> Place:
    """A file that is not there yet."""
    return Place(str(folder / "journal"))


def id_of(number: int) -> bytes:
    return number.to_bytes(32, "big")


def first(number: int, snapshot: bytes = b"at first", **others: Any) -> ChannelUpdate:
    """A channel that is saved for the first time."""
    return ChannelUpdate(id_of(number), 0, snapshot, **{"metadata": b"about %d" % number} | others)


def next_(number: int, version: int, snapshot: bytes, **others: Any) -> ChannelUpdate:
    """A channel that was saved before, last in this version."""
    return ChannelUpdate(id_of(number), version, snapshot, **others)


def batch(*savings: ChannelUpdate) -> Batch:
    return Batch(savings)


def snapshots(journal: Journal) -> Mapping[int, tuple[int, bytes]]:
    """Version and snapshot of every channel, by number."""
    return {int.from_bytes(each.channel_id): (each.version, each.snapshot) for each in journal.channels()}


_RENAMED = 9
"""The step that renames columns."""


def written_by_an_older_program(place: Place, steps: int) -> None:
    """A journal after this many of today's steps, in which channel 1 is `kept`."""
    place.open(steps=migrations.STEPS[:steps]).close()
    id_, snapshot = id_of(1), b"kept"
    channel = f"{_literal(place, id_)}, 1, 1, {_literal(place, snapshot)}, {schema.checksum(id_, 1, snapshot)}"
    origin = f"{_literal(place, id_)}, {_literal(place, b'')}, {schema.checksum(id_, b'')}"
    ownership, metadata = ("ownership", "metadata") if steps >= _RENAMED else ("standing", "about")
    place.run(f"INSERT INTO channels (id, version, {ownership}, snapshot, checksum) VALUES ({channel})")  # noqa: S608
    place.run(f"INSERT INTO origins (channel_id, {metadata}, checksum) VALUES ({origin})")  # noqa: S608


def _literal(place: Place, value: bytes) -> str:
    return f"x'{value.hex()}'" if place.server is None else f"decode('{value.hex()}', 'hex')"
