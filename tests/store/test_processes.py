"""Several processes on one journal, killed and stopped wherever it hurts: a batch is there wholly or not at all, a
number is added once, and who was stopped past its lease commits nothing."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from forcemove.store import errors, opening, records
from forcemove.store.journal import Journal
from tests.expected import known
from tests.forked import CONTEXT
from tests.store import actors
from tests.store.places import ALICE, BOB, CAROL, Place, batch, file_in, first, id_of, next_, snapshots
from tests.store.server import Server
from tests.store.test_faults import impatient

__all__ = ["impatient"]

ONE = records.ChannelLease(id_of(1))


def new_place(like: Place, folder: Path) -> Place:
    """Another empty one of the same kind."""
    folder.mkdir()
    return file_in(folder) if like.server is None else Place(like.server.schema(), like.server)


def state(journal: Journal) -> tuple[Any, ...]:
    """All that `batch_of_everything` changes."""
    return (
        dict(snapshots(journal)),
        [(each.channel_id, each.evidence) for each in journal.evidence()],
        [(each.metadata, each.cursor) for each in journal.channels()],
    )


def opened(place: Place, owner: bytes = ALICE) -> Journal:
    """With real clocks: other processes have no others."""
    return opening.open_journal(place.where, owner=owner)


@contextmanager
def ended(process: Any) -> Iterator[Any]:
    try:
        yield process
    finally:
        process.kill()
        process.join()


# --------------------------------------------------------------------------------------------------------------- killed


def test_a_killed_commit_is_there_wholly_or_not_at_all(shared: Place, tmp_path: Path) -> None:
    """At every point: before each statement, before the commit, and when it has returned."""
    with opened(shared) as journal:
        journal.commit(batch(first(1), first(2)))
        before = state(journal)
        journal.commit(actors.batch_of_everything(1))
        after = state(journal)
    ends: list[bool] = []
    while True:
        place = new_place(shared, tmp_path / f"point-{len(ends)}")
        with opened(place) as journal:
            journal.commit(batch(first(1), first(2)))
        process = actors.start(actors.die_at, place.where, len(ends))
        process.join()
        if process.exitcode == actors.SURVIVED:
            break
        assert process.exitcode == -signal.SIGKILL
        with opened(place) as journal:
            found = state(journal)
            assert found in (before, after)
            ends.append(found == after)
            assert journal.commit(batch(next_(1, 2 if ends[-1] else 1, b"on"))) == frozenset()

    assert len(ends) > 8
    assert ends == [False] * (len(ends) - 1) + [True]


@pytest.mark.parametrize("kept_before", [1, 3, 10, 30])
def test_what_was_said_to_be_kept_is_kept(shared: Place, kept_before: int) -> None:
    """Killed at a moment that nobody has chosen."""
    with opened(shared) as journal:
        journal.commit(batch(first(1), first(2)))
        reader, says = CONTEXT.Pipe(duplex=False)
        with ended(actors.start(actors.commit_for_ever, shared.where, says)):
            kept = [reader.recv() for _ in range(kept_before)]
        says.close()
        kept += all_of(reader)
        found = actors.until(lambda: snapshots(journal), "the journal can be read")

        assert found[1][0] in (kept[-1], kept[-1] + 1)
        assert found[2][0] == found[1][0]
        assert set(found) - {1, 2} == set(range(101, 100 + found[1][0]))


def all_of(reader: Connection) -> Iterator[int]:
    """What was said before the other end was closed."""
    with suppress(EOFError):
        while True:
            yield reader.recv()


def test_who_is_killed_within_a_commit_holds_nobody_up(shared: Place) -> None:
    with opened(shared) as journal:
        journal.commit(batch(first(1), first(2)))
        before = state(journal)
        with ended(actors.start(actors.stop_within, shared.where, 4, CONTEXT.Pipe()[1])) as process:
            wait_until_stopped(process)
        assert actors.until(lambda: journal.commit(batch(next_(2, 1, b"on"))) == frozenset(), "the lock is free")
        assert state(journal)[1:] == before[1:]
        assert snapshots(journal) == {1: (1, b"at first"), 2: (2, b"on")}


@contextmanager
def leased(shared: Place) -> Iterator[Any]:
    """Another process has a lease that would last for ten minutes."""
    ours, theirs = CONTEXT.Pipe()
    with ended(actors.start(actors.drive, shared.where, theirs, 600)) as process:
        assert ours.recv() == "driving"
        yield process


def test_what_a_killed_process_has_leased_is_free_at_once(tmp_path: Path) -> None:
    """On SQLite, where all are on one machine."""
    place = Place(str(tmp_path / "journal"))
    with opened(place, CAROL) as journal:
        journal.commit(batch(first(1)))
        with leased(place) as process:
            assert journal.leases.take([ONE], 60).refused[ONE].owner == BOB
            process.kill()
            process.join()
        assert journal.leases.take([ONE], 60).granted == {ONE}
        kept = known(journal.load(id_of(1)))
        assert kept.version == 2
    assert [each.name for each in tmp_path.iterdir()] == ["journal"]


def test_what_a_stopped_process_has_leased_is_its_own(tmp_path: Path) -> None:
    place = Place(str(tmp_path / "journal"))
    with opened(place, CAROL) as journal:
        journal.commit(batch(first(1)))
        with leased(place) as process:
            os.kill(process.pid, signal.SIGSTOP)
            wait_until_stopped(process)
            assert journal.leases.take([ONE], 60).refused[ONE].owner == BOB


# -------------------------------------------------------------------------------------------------------------- stopped


def wait_until_stopped(process: Any) -> None:
    def is_stopped() -> bool:
        command = ["ps", "-o", "stat=", "-p", str(process.pid)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.startswith("T")  # noqa: S603

    actors.until(is_stopped, "the process has stopped")


def test_who_was_stopped_past_its_lease_commits_nothing(shared: Place) -> None:
    with opened(shared, CAROL) as journal:
        journal.commit(batch(first(1)))
        ours, theirs = CONTEXT.Pipe()
        with ended(actors.start(actors.drive, shared.where, theirs, 0.5)) as process:
            assert ours.recv() == "driving"
            os.kill(process.pid, signal.SIGSTOP)
            wait_until_stopped(process)
            actors.until(lambda: journal.leases.take([ONE], 60).granted, "the lease has expired")
            kept = known(journal.load(id_of(1)))
            os.kill(process.pid, signal.SIGCONT)
            ours.send("go on")
            assert ours.recv() == {id_of(1)}

        assert kept.snapshot == b"at first"
        assert journal.commit(batch(next_(1, kept.version, b"Carol's"))) == frozenset()


def test_who_was_stopped_within_its_lease_goes_on(shared: Place) -> None:
    with opened(shared, CAROL) as journal:
        journal.commit(batch(first(1)))
        ours, theirs = CONTEXT.Pipe()
        with ended(actors.start(actors.drive, shared.where, theirs, 600)) as process:
            assert ours.recv() == "driving"
            os.kill(process.pid, signal.SIGSTOP)
            wait_until_stopped(process)
            assert journal.leases.take([ONE], 60).refused[ONE].owner == BOB
            os.kill(process.pid, signal.SIGCONT)
            ours.send("go on")
            assert ours.recv() == frozenset()


def test_a_server_ends_a_commit_that_was_stopped_in_the_middle(server: Server) -> None:
    place = Place(server.schema(), server)
    with opened(place) as journal:
        journal.commit(batch(first(1), first(2)))
        ours, theirs = CONTEXT.Pipe()
        with ended(actors.start(actors.stop_within, place.where, 4, theirs)) as process:
            wait_until_stopped(process)
            assert journal.commit(batch(next_(1, 1, b"Alice's"))) == frozenset()
            os.kill(process.pid, signal.SIGCONT)
            assert isinstance(ours.recv(), errors.JournalUnreachable)
        assert snapshots(journal) == {1: (2, b"Alice's"), 2: (1, b"at first")}


@pytest.mark.usefixtures("impatient")
def test_a_file_is_busy_while_a_commit_is_stopped_in_the_middle(tmp_path: Path) -> None:
    """SQLite cannot end another process's transaction. It is whole once that goes on."""
    place = file_in(tmp_path)
    with opened(place) as journal:
        journal.commit(batch(first(1), first(2)))
        ours, theirs = CONTEXT.Pipe()
        with ended(actors.start(actors.stop_within, place.where, 4, theirs)) as process:
            wait_until_stopped(process)
            with pytest.raises(errors.JournalBusy):
                journal.commit(batch(next_(1, 1, b"Alice's")))
            assert snapshots(journal)[1] == (1, b"at first")
            os.kill(process.pid, signal.SIGCONT)
            assert ours.recv() == frozenset()
        assert journal.commit(batch(next_(1, 1, b"Alice's"))) == {id_of(1)}


# -------------------------------------------------------------------------------------------------------------- at once


def test_two_processes_add_each_number_once(shared: Place) -> None:
    with opened(shared) as journal:
        journal.commit(batch(first(1, b"0")))
        processes = [actors.start(actors.count_up, shared.where, owner, 50) for owner in (BOB, CAROL)]
        for each in processes:
            each.join()

        assert [each.exitcode for each in processes] == [actors.SURVIVED] * 2
        assert snapshots(journal) == {1: (101, b"100")}
