"""Exports: a move leaves nothing behind that could sign, a backup signs nothing, and no import goes back in time."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forcemove.errors import MalformedBytes, UnknownVersion
from forcemove.store.errors import AlreadyMoved, ChannelNotStored, ImportRefused
from forcemove.store.journal import Journal
from forcemove.store.records import ChannelLease, Evidence, ExportKind, OutboxRequest, Ownership, StoredChannel
from tests.expected import known
from tests.store.places import ACCOUNT, BOB, Place, batch, first, id_of, next_, snapshots

MOVE, BACKUP = ExportKind.MOVE, ExportKind.BACKUP
EVIDENCE = Evidence("kind", b"body")
WANTED = OutboxRequest(ACCOUNT, b"deposit", id_of(1))


@pytest.fixture
def elsewhere() -> Journal:
    return Place(":memory:").open(BOB)


def begin(journal: Journal) -> None:
    """Channel 1 with all that belongs to it, in version 2, and channel 2."""
    journal.commit(batch(first(1, evidence=(EVIDENCE,)), first(2)))
    journal.transactions.add_to_outbox([WANTED])
    journal.commit(batch(next_(1, 1, b"then")))


def standing(journal: Journal, number: int) -> Ownership:
    kept = known(journal.load(id_of(number)))
    return kept.ownership


# ---------------------------------------------------------------------------------------------------------------- moves


def test_a_moved_channel_is_played_on_elsewhere(journal: Journal, elsewhere: Journal) -> None:
    begin(journal)
    assert elsewhere.import_(journal.export([id_of(1)], MOVE)) == (id_of(1),)

    kept = known(elsewhere.load(id_of(1)))
    assert kept == StoredChannel(id_of(1), kept.version, Ownership.ACTIVE, b"then", b"about 1")
    assert [each.evidence for each in elsewhere.evidence()] == [EVIDENCE]
    assert [each.request for each in elsewhere.transactions.outbox(ACCOUNT)] == [WANTED]
    assert elsewhere.commit(batch(next_(1, kept.version, b"played on"))) == frozenset()


def test_nothing_is_committed_for_a_moved_channel(journal: Journal) -> None:
    begin(journal)
    journal.export([id_of(1)], MOVE)
    kept = known(journal.load(id_of(1)))
    assert kept.ownership is Ownership.MOVED
    for version in (2, kept.version):  # unaware of the move, and knowing of it
        assert journal.commit(batch(next_(1, version, b"signed again"))) == {id_of(1)}
    assert journal.commit(batch(next_(2, 1, b"played on"))) == frozenset()
    assert journal.transactions.outbox(ACCOUNT) == ()
    assert snapshots(journal)[1][1] == b"then"


def test_a_moved_channel_is_not_moved_again(journal: Journal) -> None:
    begin(journal)
    journal.export([id_of(1)], MOVE)
    with pytest.raises(AlreadyMoved):
        journal.export([id_of(2), id_of(1)], MOVE)

    assert standing(journal, 2) is Ownership.ACTIVE


def test_the_file_of_a_move_is_taken_once(journal: Journal, elsewhere: Journal) -> None:
    begin(journal)
    data = journal.export([id_of(1)], MOVE)
    with pytest.raises(ImportRefused):
        journal.import_(data)
    assert standing(journal, 1) is Ownership.MOVED

    elsewhere.import_(data)
    with pytest.raises(ImportRefused):
        elsewhere.import_(data)


def test_a_lease_of_a_moved_channel_does_not_make_its_file_old(shared: Place, elsewhere: Journal) -> None:
    with shared.open() as alices, shared.open(BOB) as bobs:
        begin(alices)
        alices.leases.take([ChannelLease(id_of(1))], 60)
        data = alices.export([id_of(1)], MOVE)
        elsewhere.import_(data)
        for journal in (bobs, alices) * 3:
            shared.pass_time(60)
            assert journal.leases.take([ChannelLease(id_of(1))], 60).granted
        back = elsewhere.export([id_of(1)], MOVE)

        assert alices.import_(back) == (id_of(1),)
        assert standing(alices, 1) is Ownership.ACTIVE


def test_a_channel_comes_back_and_the_old_file_does_not(journal: Journal, elsewhere: Journal) -> None:
    begin(journal)
    data = journal.export([id_of(1)], MOVE)
    elsewhere.import_(data)
    journal.import_(elsewhere.export([id_of(1)], MOVE))

    assert (standing(journal, 1), standing(elsewhere, 1)) == (Ownership.ACTIVE, Ownership.MOVED)
    with pytest.raises(ImportRefused):
        elsewhere.import_(data)


# -------------------------------------------------------------------------------------------------------------- backups


def test_a_backup_signs_nothing_elsewhere_and_changes_nothing_here(journal: Journal, elsewhere: Journal) -> None:
    begin(journal)
    elsewhere.import_(journal.export(journal.ids(), BACKUP))

    assert [standing(elsewhere, 1), standing(elsewhere, 2)] == [Ownership.BACKUP] * 2
    assert elsewhere.transactions.outbox(ACCOUNT) == ()
    assert [standing(journal, 1), standing(journal, 2)] == [Ownership.ACTIVE] * 2
    assert journal.commit(batch(next_(1, 2, b"played on"))) == frozenset()


def test_a_backup_stays_one_whatever_becomes_of_it(journal: Journal, elsewhere: Journal) -> None:
    begin(journal)
    elsewhere.import_(journal.export([id_of(1)], BACKUP))
    assert elsewhere.commit(batch(next_(1, 2, b"collected"))) == frozenset()
    assert standing(elsewhere, 1) is Ownership.BACKUP

    with Place(":memory:").open() as third:
        third.import_(elsewhere.export([id_of(1)], MOVE))
        assert standing(third, 1) is Ownership.BACKUP


def test_a_backup_of_what_was_moved_is_a_backup(journal: Journal, elsewhere: Journal) -> None:
    begin(journal)
    journal.export([id_of(1)], MOVE)
    elsewhere.import_(journal.export([id_of(1)], BACKUP))

    assert standing(elsewhere, 1) is Ownership.BACKUP


def test_what_is_finished_is_so_everywhere(journal: Journal, elsewhere: Journal) -> None:
    begin(journal)
    journal.commit(batch(next_(1, 2, b"over", finished=True)))
    elsewhere.import_(journal.export([id_of(1)], BACKUP))

    assert standing(elsewhere, 1) is Ownership.FINISHED


@pytest.mark.parametrize("kind", [MOVE, BACKUP])
def test_nothing_newer_is_overwritten(journal: Journal, kind: ExportKind) -> None:
    """Not even in part: the channel that is not here does not come, either."""
    begin(journal)
    with Place(":memory:").open() as other:
        other.commit(batch(first(1, b"of before"), first(3)))
        data = other.export([id_of(3), id_of(1)], kind)
    before = journal.load(id_of(1))
    with pytest.raises(ImportRefused) as refused:
        journal.import_(data)

    assert (refused.value.channel_id, refused.value.ours) == (id_of(1), 2)
    assert journal.load(id_of(1)) == before
    assert journal.ids() == (id_of(1), id_of(2))


def test_a_backup_of_the_same_version_does_not_stop_a_channel(journal: Journal) -> None:
    begin(journal)
    data = journal.export([id_of(1)], BACKUP)
    with pytest.raises(ImportRefused):
        journal.import_(data)

    assert standing(journal, 1) is Ownership.ACTIVE


def test_what_is_older_is_replaced_wholly(journal: Journal, elsewhere: Journal) -> None:
    begin(journal)
    elsewhere.commit(batch(first(1, b"of before", metadata=b"other")))
    elsewhere.import_(journal.export([id_of(1)], MOVE))

    kept = known(elsewhere.load(id_of(1)))
    assert (kept.snapshot, kept.metadata) == (b"then", b"about 1")


# ---------------------------------------------------------------------------------------------------------------- bytes


def test_what_is_not_here_is_not_exported(journal: Journal) -> None:
    begin(journal)
    for kind in (MOVE, BACKUP):
        with pytest.raises(ChannelNotStored):
            journal.export([id_of(1), id_of(9)], kind)
    assert standing(journal, 1) is Ownership.ACTIVE


@pytest.fixture(scope="module")
def exported() -> bytes:
    with Place(":memory:").open() as journal:
        begin(journal)
        return journal.export(journal.ids(), MOVE)


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_file_is_refused(exported: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(exported) - 1))
    flipped = data.draw(st.integers(1, 255))
    damaged = exported[:at] + bytes([exported[at] ^ flipped]) + exported[at + 1 :]
    with Place(":memory:").open() as journal:
        with pytest.raises((MalformedBytes, UnknownVersion)):
            journal.import_(damaged)
        assert journal.ids() == ()


@pytest.mark.parametrize(
    "change",
    [
        lambda _: b"",
        lambda data: data[:-1],
        lambda data: data + b"\0",
        lambda _: b"\x91" * 100_000,
        lambda data: msgspec.msgpack.encode(["another mark", *msgspec.msgpack.decode(data)[1:]]),
        lambda data: msgspec.msgpack.encode(msgspec.msgpack.decode(data)[:3]),
    ],
)
def test_what_is_no_export_is_refused(exported: bytes, change: Callable[[bytes], bytes]) -> None:
    with Place(":memory:").open() as journal, pytest.raises(MalformedBytes):
        journal.import_(change(exported))


def test_the_file_of_an_older_program_is_taken(exported: bytes, elsewhere: Journal) -> None:
    mark, _, *rest = msgspec.msgpack.decode(exported)
    assert elsewhere.import_(msgspec.msgpack.encode([mark, 1, *rest]))


def test_what_was_put_away_is_so_everywhere(journal: Journal, elsewhere: Journal) -> None:
    journal.commit(batch(first(1, put_away=True)))
    assert journal.commit(batch(next_(1, 1, b"signed again"))) == {id_of(1)}
    elsewhere.import_(journal.export([id_of(1)], ExportKind.BACKUP))
    for each in (journal, elsewhere):
        (kept,) = each.channels()
        assert kept.ownership is Ownership.PUT_AWAY


def test_a_newer_programs_file_says_so(exported: bytes) -> None:
    mark, version, *rest = msgspec.msgpack.decode(exported)
    newer = msgspec.msgpack.encode([mark, version + 1, *rest])
    with Place(":memory:").open() as journal, pytest.raises(UnknownVersion) as unknown:
        journal.import_(newer)
    assert unknown.value.is_newer
