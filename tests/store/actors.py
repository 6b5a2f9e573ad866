"""What other processes do with a journal. They are killed and stopped for real, some of them by themselves."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from multiprocessing.connection import Connection
from typing import Any

from sqlalchemy import event

from forcemove.errors import JournalUnavailable
from forcemove.store import database, opening, postgresql, records
from forcemove.store.journal import Journal
from tests.expected import known
from tests.forked import CONTEXT
from tests.store.places import BOB, first, id_of, next_

SURVIVED = 7
"""The exit code of an actor that reached no such point."""


def start(act: Callable[..., None], *arguments: Any) -> Any:
    """An actor in a process of its own."""
    process = CONTEXT.Process(target=act, args=arguments, daemon=True)
    process.start()
    return process


def batch_of_everything(version: int) -> records.Batch:
    """Two channels that are there in a version, and a new one, with all that can belong to them."""
    evidence = (records.Evidence("kind", b"body"),)
    changed = (next_(1, version, b"then", evidence=evidence), next_(2, version, b"then"))
    return records.Batch((*changed, first(100 + version, b"then", cursor=b"block %d" % version)))


def at_point(journal: Journal, point: int, do: Callable[[], None]) -> Callable[..., None]:
    """Do something just before the statement, or the commit, of this number; the last point is the caller's own. On
    SQLite the driver tells of each, no matter who has given it."""
    points = count()

    def passed(*_: object) -> None:
        if next(points) == point:
            do()

    engine = journal._database._engine
    if engine.dialect.name == "sqlite":
        with journal._database.reading() as connection:
            database.driver_of(connection).set_trace_callback(passed)
    else:
        event.listen(engine, "before_cursor_execute", passed)
        event.listen(engine, "commit", passed)
    return passed


def die_at(where: str, point: int) -> None:
    """Commit everything and be killed at a point; the last one is when `commit` has returned."""
    journal = opening.open_journal(where, owner=BOB)
    passed = at_point(journal, point, lambda: os.kill(os.getpid(), signal.SIGKILL))
    journal.commit(batch_of_everything(1))
    passed()
    os._exit(SURVIVED)


def commit_for_ever(where: str, said: Connection) -> None:
    """Commit, and say which version is kept, again and again."""
    journal = opening.open_journal(where, owner=BOB)
    for version in count(1):
        assert not journal.commit(batch_of_everything(version))
        said.send(version + 1)


def count_up(where: str, owner: bytes, times: int) -> None:
    """Add one to the number in channel 1, this many times; who comes second in a version tries again."""
    journal = opening.open_journal(where, owner=owner)
    added = 0
    while added < times:
        kept = known(journal.load(id_of(1)))
        with suppress(JournalUnavailable):
            added += not journal.commit(records.Batch((next_(1, kept.version, b"%d" % (int(kept.snapshot) + 1)),)))
    os._exit(SURVIVED)


def drive(where: str, talk: Connection, seconds: float) -> None:
    """Drive channel 1 under a lease as long as it is ours: at every word one commit. Says what was dropped."""
    journal = opening.open_journal(where, owner=BOB)
    assert journal.leases.take([records.ChannelLease(id_of(1))], seconds).granted
    kept = known(journal.load(id_of(1)))
    version = kept.version
    talk.send("driving")
    while True:
        talk.recv()
        dropped = journal.commit(records.Batch((next_(1, version, b"Bob's"),)))
        version += not dropped
        talk.send(dropped)


def stop_within(where: str, point: int, talk: Connection) -> None:
    """Be stopped in the middle of a commit; says how it ended."""
    postgresql._SETTINGS = tuple(each.replace("'10s'", "'300ms'") for each in postgresql._SETTINGS)
    journal = opening.open_journal(where, owner=BOB)
    at_point(journal, point, lambda: os.kill(os.getpid(), signal.SIGSTOP))
    try:
        talk.send(journal.commit(batch_of_everything(1)))
    except JournalUnavailable as error:
        talk.send(error)


def until(condition: Callable[[], Any], what: str, seconds: float = 30) -> Any:
    """What a condition gives once it is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with suppress(JournalUnavailable):
            if found := condition():
                return found
        time.sleep(0.01)
    raise AssertionError(f"it took too long until {what}")
