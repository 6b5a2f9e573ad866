"""A batch is kept, whole and on every database alike; a channel of another version is left out with all of its own."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread

import pytest
from sqlalchemy import event

from forcemove.errors import InvalidValue
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.store import records
from forcemove.store.errors import JournalDamaged
from forcemove.store.journal import Journal
from tests.expected import known
from tests.store.places import (
    ACCOUNT,
    SEED,
    Place,
    batch,
    first,
    id_of,
    next_,
    snapshots,
    written_by_an_older_program,
)


def test_a_channel_comes_back_as_it_was_saved(journal: Journal) -> None:
    assert journal.load(id_of(1)) is None
    assert journal.commit(batch(first(1, b"\0\xff snapshot", metadata=b""))) == frozenset()

    assert journal.load(id_of(1)) == records.StoredChannel(
        id_of(1), 1, records.Ownership.ACTIVE, b"\0\xff snapshot", b""
    )


def test_each_saving_is_one_version_more(journal: Journal) -> None:
    journal.commit(batch(first(1), first(2)))
    journal.commit(batch(next_(1, 1, b"then")))
    journal.commit(batch(next_(1, 2, b"at last"), next_(2, 1, b"then")))

    assert snapshots(journal) == {1: (3, b"at last"), 2: (2, b"then")}
    assert journal.versions([id_of(1), id_of(2), id_of(3)]) == {id_of(1): 3, id_of(2): 2}


def test_a_snapshot_of_the_protocol_comes_back(journal: Journal) -> None:
    from scripts.measuring.cases import Table

    channel = Table().channels[0]
    journal.commit(batch(first(1, CHANNELS.encode(channel))))
    kept = known(journal.load(id_of(1)))
    assert CHANNELS.decode(kept.snapshot) == channel


def test_everything_is_there_after_it_was_closed(shared: Place) -> None:
    with shared.open() as journal:
        evidence = (records.Evidence("StateConflict", b"two states"),)
        wanted = (records.OutboxRequest(ACCOUNT, b"a deposit", id_of(1)),)
        journal.commit(records.Batch((first(1, evidence=evidence, cursor=b"block 7"),)))
        journal.transactions.add_to_outbox(wanted)
        journal.keep_seed(b"a table", SEED)
    with shared.open() as journal:
        kept = known(journal.load(id_of(1)))
        assert kept.metadata == b"about 1"
        assert [each.evidence for each in journal.evidence(id_of(1))] == list(evidence)
        assert kept.cursor == b"block 7"
        assert [each.request for each in journal.transactions.outbox(ACCOUNT)] == list(wanted)
        assert journal.keep_seed(b"a table", b"t" * 32) == SEED


# ------------------------------------------------------------------------------------------------- compare and swap


@pytest.mark.parametrize("version", [1, 3])
def test_a_channel_of_another_version_is_dropped(journal: Journal, version: int) -> None:
    journal.commit(batch(first(1), first(2)))
    journal.commit(batch(next_(1, 1, b"then")))

    assert journal.commit(batch(next_(1, version, b"too late"), next_(2, 1, b"in time"))) == {id_of(1)}
    assert snapshots(journal) == {1: (2, b"then"), 2: (2, b"in time")}


def test_a_channel_that_is_not_there_is_dropped(journal: Journal) -> None:
    assert journal.commit(batch(next_(1, 1, b"of nothing"))) == {id_of(1)}
    assert journal.channels() == ()


def test_a_channel_that_is_there_is_not_saved_for_the_first_time_again(journal: Journal) -> None:
    journal.commit(batch(first(1)))

    assert journal.commit(batch(first(1, b"anew", metadata=b"other"), first(2))) == {id_of(1)}
    assert journal.load(id_of(1)) == records.StoredChannel(
        id_of(1), 1, records.Ownership.ACTIVE, b"at first", b"about 1"
    )
    assert journal.ids() == (id_of(1), id_of(2))


def test_what_belongs_to_a_dropped_channel_is_dropped_with_it(journal: Journal) -> None:
    journal.commit(batch(first(1)))
    late = records.ChannelUpdate(id_of(1), 7, b"too late", evidence=(records.Evidence("kind", b"body"),))
    assert journal.commit(batch(late, first(2))) == {id_of(1)}

    assert journal.evidence() == ()


def test_of_two_that_save_one_version_one_is_dropped(alices: Journal, bobs: Journal) -> None:
    alices.commit(batch(first(1)))

    assert bobs.commit(batch(next_(1, 1, b"Bob's"))) == frozenset()
    assert alices.commit(batch(next_(1, 1, b"Alice's"))) == {id_of(1)}
    assert snapshots(alices) == {1: (2, b"Bob's")}


def test_of_two_that_save_a_channel_first_one_is_dropped(alices: Journal, bobs: Journal) -> None:
    assert bobs.commit(batch(first(1, b"Bob's"))) == frozenset()
    assert alices.commit(batch(first(1, b"Alice's"))) == {id_of(1)}

    kept = known(alices.load(id_of(1)))
    assert (kept.snapshot, kept.metadata) == (b"Bob's", b"about 1")


def test_threads_that_save_one_version_at_once_save_it_once(alices: Journal, bobs: Journal) -> None:
    """On each connection two; for every version exactly one of the four may win."""
    alices.commit(batch(first(1)))
    won: list[tuple[int, int]] = []

    def save(journal: Journal, who: int) -> None:
        for version in range(1, 40):
            if not journal.commit(batch(next_(1, version, b"%d" % who))):
                won.append((version, who))

    _at_once(*(lambda journal=journal, who=who: save(journal, who) for who, journal in enumerate([alices, bobs] * 2)))

    versions = [version for version, _ in won]
    assert sorted(versions) == list(range(1, max(versions) + 1))
    assert snapshots(alices) == {1: (max(versions) + 1, b"%d" % dict(won)[max(versions)])}


def test_threads_that_save_many_channels_at_once_lose_none(alices: Journal, bobs: Journal) -> None:
    """Batches overlap, and each has its channels in an order of its own: none may wait for another forever."""
    everything = range(1, 31)
    alices.commit(records.Batch(tuple(first(each) for each in everything)))

    def save(journal: Journal, order: list[int], dropped: list[int]) -> None:
        for _ in range(20):
            versions = journal.versions([id_of(each) for each in order])
            savings = [next_(each, versions[id_of(each)], b"again") for each in order]
            dropped.append(len(journal.commit(records.Batch(tuple(savings)))))

    mine: list[int] = []
    theirs: list[int] = []
    _at_once(
        lambda: save(alices, list(everything), mine),
        lambda: save(bobs, list(reversed(everything)), theirs),
    )
    saved = sum(len(everything) - each for each in mine + theirs)
    assert len(mine) == len(theirs) == 20
    assert sum(version - 1 for version, _ in snapshots(alices).values()) == saved


def _at_once(*actions: Callable[[], None]) -> None:
    threads = [Thread(target=action) for action in actions]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


# ------------------------------------------------------------------------------------------------------------- seeds


def test_the_first_seed_of_a_table_counts(journal: Journal) -> None:
    assert journal.keep_seed(b"blue", SEED) == SEED
    assert journal.keep_seed(b"blue", b"t" * 32) == SEED
    assert journal.keep_seed(b"red", b"t" * 32) == b"t" * 32


# ------------------------------------------------------------------------------------------------------------ standings


def test_a_finished_channel_stays_finished_until_there_is_something_to_do(journal: Journal) -> None:
    """Such as after a reorganisation: who looks for open channels finds it."""
    journal.commit(batch(first(1), first(2)))
    journal.commit(batch(next_(1, 1, b"over", finished=True)))
    journal.commit(batch(next_(1, 2, b"a late payment", finished=True)))

    assert journal.ids(records.Ownership.ACTIVE) == (id_of(2),)
    assert [each.channel_id for each in journal.channels(records.Ownership.FINISHED)] == [id_of(1)]
    assert journal.ids() == journal.ids(records.Ownership.FINISHED, records.Ownership.ACTIVE) == (id_of(1), id_of(2))
    assert snapshots(journal)[1] == (3, b"a late payment")
    journal.commit(batch(next_(1, 3, b"undone")))
    assert journal.ids(records.Ownership.ACTIVE) == (id_of(1), id_of(2))


# ---------------------------------------------------------------------------------------------------------- many, wrong


def test_more_channels_than_a_statement_has_room_for(journal: Journal) -> None:
    numbers = range(1, 2_502)
    assert journal.commit(records.Batch(tuple(first(each) for each in numbers))) == frozenset()
    assert journal.commit(records.Batch(tuple(next_(each, 1, b"then") for each in numbers))) == frozenset()

    assert len(journal.ids()) == len(numbers)
    assert set(journal.versions(list(map(id_of, numbers))).values()) == {2}


def test_an_empty_batch_is_kept(journal: Journal) -> None:
    assert journal.commit(records.Batch()) == frozenset()


@pytest.mark.parametrize(
    "build",
    [
        lambda: records.ChannelUpdate(b"short", 1, b""),
        lambda: records.ChannelUpdate(id_of(1), -1, b""),
        lambda: records.ChannelUpdate(id_of(1), 0, b""),
        lambda: records.ChannelUpdate(id_of(1), 1, b"", metadata=b"twice"),
        lambda: batch(first(1), first(1)),
        lambda: records.Evidence("", b""),
        lambda: records.Evidence("two\nlines", b""),
        lambda: records.Evidence("kind", bytes(records.MAX_EVIDENCE + 1)),
        lambda: records.OutboxRequest(ACCOUNT, b"", b"short"),
    ],
)
def test_what_cannot_be_kept_is_refused_when_it_is_built(build: Callable[[], object]) -> None:
    with pytest.raises(InvalidValue):
        build()


def test_an_owner_has_sixteen_bytes() -> None:
    with pytest.raises(InvalidValue, match="owner"):
        Place(":memory:").open(b"Alice")


@pytest.mark.parametrize(
    ("table", "column", "read"),
    [
        ("channels", "snapshot", lambda journal: journal.channels()),
        ("origins", "metadata", lambda journal: journal.load(id_of(1))),
        ("seeds", "seed", lambda journal: journal.keep_seed(b"a table", SEED)),
        ("evidence", "body", lambda journal: journal.evidence()),
        ("outbox", "body", lambda journal: journal.transactions.outbox(ACCOUNT)),
        ("transactions", "body", lambda journal: journal.transactions.in_flight(ACCOUNT)),
    ],
)
def test_a_changed_body_is_found_when_it_is_read(
    shared: Place, table: str, column: str, read: Callable[[Journal], object]
) -> None:
    with shared.open() as journal:
        _keep_one_of_each(journal)
        read(journal)
        other = "x'00'" if shared.server is None else r"'\x00'"
        shared.run(f"UPDATE {table} SET {column} = {other}")  # noqa: S608 - our own names
        with pytest.raises(JournalDamaged):
            read(journal)


def _keep_one_of_each(journal: Journal) -> None:
    journal.commit(batch(first(1, evidence=(records.Evidence("kind", b"body"),))))
    journal.transactions.add_to_outbox([records.OutboxRequest(ACCOUNT, b"body")])
    journal.keep_seed(b"a table", SEED)
    journal.leases.take([ACCOUNT], 60)
    journal.transactions.commit(ACCOUNT, [records.Put(records.InFlightTransaction(0, b"body"))])


# ------------------------------------------------------------------------------------------- how much of a chain it has


def test_how_much_of_the_chain_is_in_a_channel_is_kept_with_it(shared: Place) -> None:
    with shared.open() as journal:
        journal.commit(batch(first(1, b"at first", cursor=b"block 5"), first(2)))
        journal.commit(batch(next_(1, 1, b"then", cursor=b"block 7")))
    with shared.open() as journal:
        assert [each.cursor for each in journal.channels()] == [b"block 7", b""]
        journal.commit(batch(next_(1, 2, b"at last"), next_(2, 1, b"then", cursor=b"block 9")))
        assert [each.cursor for each in journal.channels()] == [b"", b"block 9"]


def test_a_changed_cursor_is_not_believed(shared: Place) -> None:
    with shared.open() as journal:
        journal.commit(batch(first(1, cursor=b"block 5"), first(2)))
    shared.run("UPDATE channels SET cursor = (SELECT cursor FROM channels WHERE version = 2)")
    with shared.open() as journal, pytest.raises(JournalDamaged):
        journal.load(id_of(1))


def test_a_journal_from_before_there_were_cursors_is_read_on(shared: Place) -> None:
    written_by_an_older_program(shared, 2)
    with shared.open() as journal:
        assert journal.load(id_of(1)) == records.StoredChannel(id_of(1), 1, records.Ownership.ACTIVE, b"kept", b"")
        journal.commit(batch(next_(1, 1, b"then", cursor=b"block 5")))
        kept = known(journal.load(id_of(1)))
        assert (kept.snapshot, kept.cursor) == (b"then", b"block 5")


def test_many_are_loaded_in_a_few_queries_and_a_damaged_one_hides_no_other(shared: Place) -> None:
    with shared.open() as journal:
        journal.commit(batch(*(first(number) for number in range(1, 1_502))))
        ids, queries = [id_of(number) for number in range(1, 1_503)], list[str]()
        one = "(SELECT id FROM channels ORDER BY id LIMIT 1)"
        shared.run(f"UPDATE channels SET checksum = checksum + 1 WHERE id = {one}")  # noqa: S608  # no value
        event.listen(journal._database._engine, "before_cursor_execute", lambda *values: queries.append(values[2]))
        found = journal.load_many(ids)
        assert len(queries) == 2
        assert found.keys() == set(ids[1:1_501])
        assert found[id_of(7)] == journal.load(id_of(7))
        with pytest.raises(JournalDamaged):
            journal.load(id_of(1))
