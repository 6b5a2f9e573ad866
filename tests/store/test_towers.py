"""What a watchtower was given and has spent: by its account, and changed by the holder of the account's lease alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forcemove import UINT256_MAX, InvalidValue
from forcemove.store.errors import JournalDamaged, LeaseNotHeld
from forcemove.store.journal import Journal
from forcemove.store.records import Account, AppointmentRecord, Spent
from tests.store.places import ACCOUNT, OTHER_ACCOUNT, Place, id_of, snapshots, written_by_an_older_program

CLIENT, OTHER = b"\xc1" * 20, b"\xc2" * 20


def given(number: int, client: bytes = CLIENT, body: bytes = b"proof") -> AppointmentRecord:
    return AppointmentRecord(id_of(number), client, body)


def test_appointments_are_kept_by_account_channel_and_client(journal: Journal) -> None:
    elsewhere = Account(1, ACCOUNT.address)
    journal.leases.take([ACCOUNT, OTHER_ACCOUNT, elsewhere], 60)
    for each in (given(2), given(1, OTHER), given(1), given(1, body=b"better")):
        journal.towers.keep(ACCOUNT, each)
    journal.towers.keep(OTHER_ACCOUNT, given(1, body=b"others"))
    journal.towers.keep(elsewhere, given(3))

    assert journal.towers.appointments(ACCOUNT) == (given(1, body=b"better"), given(1, OTHER), given(2))
    assert journal.towers.appointments(OTHER_ACCOUNT) == (given(1, body=b"others"),)
    assert journal.towers.appointments(elsewhere) == (given(3),)


def test_a_channel_is_forgotten_with_all_its_clients(journal: Journal) -> None:
    journal.leases.take([ACCOUNT, OTHER_ACCOUNT], 60)
    for each in (given(1), given(1, OTHER), given(2)):
        journal.towers.keep(ACCOUNT, each)
        journal.towers.keep(OTHER_ACCOUNT, each)
    journal.towers.forget(ACCOUNT, id_of(1))

    assert journal.towers.appointments(ACCOUNT) == (given(2),)
    assert len(journal.towers.appointments(OTHER_ACCOUNT)) == 3


def test_what_a_nonce_has_cost_is_kept_once_and_given_back(journal: Journal) -> None:
    journal.leases.take([ACCOUNT, OTHER_ACCOUNT], 60)
    for each in (Spent(7, CLIENT, 5), Spent(6, OTHER, UINT256_MAX), Spent(7, OTHER, 6), Spent(8, CLIENT, 0)):
        journal.towers.charge(ACCOUNT, each)
    journal.towers.charge(OTHER_ACCOUNT, Spent(9, CLIENT, 1))
    assert journal.towers.spent(ACCOUNT) == (Spent(6, OTHER, UINT256_MAX), Spent(7, OTHER, 6), Spent(8, CLIENT, 0))

    journal.towers.give_back(ACCOUNT, 7)
    assert journal.towers.spent(ACCOUNT) == (Spent(6, OTHER, UINT256_MAX),)
    assert journal.towers.spent(OTHER_ACCOUNT) == (Spent(9, CLIENT, 1),)


def test_threat_48_only_the_holder_of_the_lease_changes_anything(alices: Journal, bobs: Journal) -> None:
    alices.leases.take([ACCOUNT], 60)
    alices.towers.keep(ACCOUNT, given(1))
    alices.towers.charge(ACCOUNT, Spent(1, CLIENT, 5))
    changes: tuple[Callable[[], None], ...] = (
        lambda: bobs.towers.keep(ACCOUNT, given(1, body=b"Bob's")),
        lambda: bobs.towers.forget(ACCOUNT, id_of(1)),
        lambda: bobs.towers.charge(ACCOUNT, Spent(1, CLIENT, 0)),
        lambda: bobs.towers.give_back(ACCOUNT, 0),
    )
    for change in changes:
        with pytest.raises(LeaseNotHeld):
            change()
    assert bobs.towers.appointments(ACCOUNT) == (given(1),)
    assert bobs.towers.spent(ACCOUNT) == (Spent(1, CLIENT, 5),)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE appointments SET body = channel_id",
        "UPDATE appointments SET client = body",
        "UPDATE spent SET wei = '4'",
        "UPDATE spent SET client = account",
    ],
)
def test_what_was_changed_on_disk_is_not_believed(shared: Place, statement: str) -> None:
    with shared.open() as journal:
        journal.leases.take([ACCOUNT], 60)
        journal.towers.keep(ACCOUNT, given(1))
        journal.towers.charge(ACCOUNT, Spent(1, CLIENT, 5))
    shared.run(statement)
    read = "appointments" if "appointments" in statement else "spent"
    with shared.open() as journal, pytest.raises(JournalDamaged):
        getattr(journal.towers, read)(ACCOUNT)


def test_a_journal_from_before_there_were_towers_has_room_for_them(shared: Place) -> None:
    written_by_an_older_program(shared, 1)
    with shared.open() as journal:
        journal.leases.take([ACCOUNT], 60)
        journal.towers.keep(ACCOUNT, given(1))
        assert journal.towers.appointments(ACCOUNT) == (given(1),)
        assert snapshots(journal) == {1: (1, b"kept")}


@pytest.mark.parametrize(
    "make",
    [
        lambda: AppointmentRecord(b"", CLIENT, b""),
        lambda: AppointmentRecord(id_of(1), b"", b""),
        lambda: Spent(-1, CLIENT, 0),
        lambda: Spent(0, b"", 0),
        lambda: Spent(0, CLIENT, UINT256_MAX + 1),
    ],
)
def test_what_cannot_be_kept_is_not_built(make: object) -> None:
    with pytest.raises(InvalidValue):
        make()  # type: ignore[operator]
