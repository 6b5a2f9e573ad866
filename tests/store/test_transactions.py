"""Transactions are kept by nonce until they are over, by the holder of the account's lease alone; anybody may wish."""

from __future__ import annotations

from pathlib import Path

import pytest

from forcemove.store import records
from forcemove.store.database import Database
from forcemove.store.errors import LeaseNotHeld, NonceTaken, NotInFlight, NotInOutbox
from forcemove.store.journal import Journal
from tests.store.places import ACCOUNT, OTHER_ACCOUNT, Place, id_of


def tx(nonce: int, body: bytes = b"body", channel_id: bytes | None = None) -> records.InFlightTransaction:
    return records.InFlightTransaction(nonce, body, channel_id)


def test_transactions_are_listed_by_account_in_the_order_of_nonces(journal: Journal) -> None:
    elsewhere = records.Account(1, ACCOUNT.address)
    journal.leases.take([ACCOUNT, OTHER_ACCOUNT, elsewhere], 60)
    journal.transactions.commit(ACCOUNT, [records.Put(tx(10)), records.Put(tx(9, b"deposit", id_of(1)))])
    journal.transactions.commit(OTHER_ACCOUNT, [records.Put(tx(9, b"other"))])
    journal.transactions.commit(elsewhere, [records.Put(tx(2**63 - 1))])

    assert journal.transactions.in_flight(ACCOUNT) == (tx(9, b"deposit", id_of(1)), tx(10))
    assert journal.transactions.in_flight(OTHER_ACCOUNT) == (tx(9, b"other"),)
    assert journal.transactions.in_flight(elsewhere) == (tx(2**63 - 1),)


def test_a_transaction_is_replaced_and_forgotten(journal: Journal) -> None:
    journal.leases.take([ACCOUNT], 60)
    journal.transactions.commit(ACCOUNT, [records.Put(tx(1)), records.Put(tx(2))])
    journal.transactions.commit(ACCOUNT, [records.Replace(tx(2, b"dearer", id_of(1)))])
    assert journal.transactions.in_flight(ACCOUNT) == (tx(1), tx(2, b"dearer", id_of(1)))

    journal.transactions.commit(ACCOUNT, [records.Forget(1)])
    assert journal.transactions.in_flight(ACCOUNT) == (tx(2, b"dearer", id_of(1)),)


def test_a_nonce_is_used_once_and_a_refused_change_undoes_all(journal: Journal) -> None:
    journal.leases.take([ACCOUNT], 60)
    journal.transactions.commit(ACCOUNT, [records.Put(tx(1, b"first"))])
    with pytest.raises(NonceTaken) as taken:
        journal.transactions.commit(ACCOUNT, [records.Put(tx(2)), records.Put(tx(1, b"second"))])
    with pytest.raises(NotInFlight):
        journal.transactions.commit(ACCOUNT, [records.Forget(1), records.Replace(tx(3))])

    assert taken.value == NonceTaken(ACCOUNT.address, 1)
    assert journal.transactions.in_flight(ACCOUNT) == (tx(1, b"first"),)


def test_the_outbox_is_read_again_where_anything_was_written_since(
    alices: Journal, bobs: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def waiting() -> list[bytes]:
        return [each.request.body for each in alices.transactions.outbox(ACCOUNT)]

    assert waiting() == []
    bobs.transactions.add_to_outbox([records.OutboxRequest(ACCOUNT, b"another's")])
    assert waiting() == [b"another's"]
    alices.transactions.add_to_outbox([records.OutboxRequest(ACCOUNT, b"ours")])
    assert waiting() == [b"another's", b"ours"]
    alices.leases.take([ACCOUNT], 60)
    alices.transactions.commit(ACCOUNT, [records.Dismiss(alices.transactions.outbox(ACCOUNT)[0].number)])
    assert waiting() == [b"ours"]

    if Path(alices.where).is_file():
        monkeypatch.delattr(Database, "reading")
    assert waiting() == [b"ours"]


def test_wishes_wait_in_their_order_and_become_transactions(alices: Journal, bobs: Journal) -> None:
    wanted = [records.OutboxRequest(ACCOUNT, b"%d" % number, id_of(number)) for number in range(3)]
    bobs.transactions.add_to_outbox(wanted)
    bobs.transactions.add_to_outbox([records.OutboxRequest(OTHER_ACCOUNT, b"other")])
    alices.leases.take([ACCOUNT], 60)
    requests = alices.transactions.outbox(ACCOUNT)
    assert [each.request for each in requests] == wanted

    alices.transactions.commit(
        ACCOUNT, [records.Assign(requests[0].number, tx(7, b"signed", id_of(0))), records.Dismiss(requests[1].number)]
    )
    assert alices.transactions.in_flight(ACCOUNT) == (tx(7, b"signed", id_of(0)),)
    assert alices.transactions.outbox(ACCOUNT) == requests[2:]
    assert len(alices.transactions.outbox(OTHER_ACCOUNT)) == 1


def test_a_wish_becomes_one_transaction(journal: Journal) -> None:
    journal.transactions.add_to_outbox(
        [records.OutboxRequest(ACCOUNT, b"deposit"), records.OutboxRequest(OTHER_ACCOUNT, b"other")]
    )
    journal.leases.take([ACCOUNT], 60)
    (request,) = journal.transactions.outbox(ACCOUNT)
    (other,) = journal.transactions.outbox(OTHER_ACCOUNT)
    journal.transactions.commit(ACCOUNT, [records.Assign(request.number, tx(1))])

    for number in (request.number, other.number):
        with pytest.raises(NotInOutbox):
            journal.transactions.commit(ACCOUNT, [records.Assign(number, tx(2))])
        with pytest.raises(NotInOutbox):
            journal.transactions.commit(ACCOUNT, [records.Dismiss(number)])
    assert journal.transactions.in_flight(ACCOUNT) == (tx(1),)


def test_a_wish_stays_when_its_nonce_is_taken(journal: Journal) -> None:
    journal.transactions.add_to_outbox([records.OutboxRequest(ACCOUNT, b"deposit")])
    journal.leases.take([ACCOUNT], 60)
    (request,) = journal.transactions.outbox(ACCOUNT)
    with pytest.raises(NonceTaken):
        journal.transactions.commit(ACCOUNT, [records.Put(tx(1)), records.Assign(request.number, tx(1))])

    assert journal.transactions.outbox(ACCOUNT) == (request,)
    assert journal.transactions.in_flight(ACCOUNT) == ()


def test_numbers_of_wishes_are_not_used_again(journal: Journal) -> None:
    journal.leases.take([ACCOUNT], 60)
    numbers = []
    for _ in range(3):
        journal.transactions.add_to_outbox([records.OutboxRequest(ACCOUNT, b"deposit")])
        (request,) = journal.transactions.outbox(ACCOUNT)
        journal.transactions.commit(ACCOUNT, [records.Dismiss(request.number)])
        numbers.append(request.number)

    assert numbers == sorted(set(numbers))


def test_only_the_holder_of_the_lease_changes_transactions(shared: Place, alices: Journal, bobs: Journal) -> None:
    with pytest.raises(LeaseNotHeld):
        alices.transactions.commit(ACCOUNT, [records.Put(tx(1))])
    alices.leases.take([ACCOUNT], 60)
    alices.transactions.commit(ACCOUNT, [records.Put(tx(1))])
    with pytest.raises(LeaseNotHeld):
        bobs.transactions.commit(ACCOUNT, [records.Put(tx(2))])

    shared.pass_time(60)
    bobs.leases.take([ACCOUNT], 60)
    bobs.transactions.commit(ACCOUNT, [records.Put(tx(2))])
    with pytest.raises(LeaseNotHeld):  # paused past its lease, and unaware
        alices.transactions.commit(ACCOUNT, [records.Put(tx(3))])
    assert alices.transactions.in_flight(ACCOUNT) == (tx(1), tx(2))


def test_a_released_lease_changes_nothing(journal: Journal) -> None:
    journal.leases.take([ACCOUNT], 60)
    journal.leases.release([ACCOUNT])
    with pytest.raises(LeaseNotHeld):
        journal.transactions.commit(ACCOUNT, [records.Put(tx(1))])
