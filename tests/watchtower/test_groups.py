"""Appointments that come together: one commit for all, and each for itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from forcemove.errors import JournalUnavailable, MalformedBytes
from forcemove.store.errors import JournalUnwritable
from forcemove.store.records import Account, AppointmentRecord
from forcemove.watchtower.acceptance import STORED_APPOINTMENTS
from forcemove.watchtower.appointment import (
    APPOINTMENTS,
    Appointment,
    AppointmentReceipt,
    sign_appointment,
    verify_receipt,
)
from forcemove.watchtower.errors import NothingNewer, NotServed, TooManyChannels
from tests.scenarios.story import ALICE, MALLORY, Story
from tests.watchtower.keeper import SETTINGS, TOWER, Keeper, newest, stale, three_stories


@pytest.fixture(scope="module")
def stories() -> list[Story]:
    return three_stories()


@pytest.fixture
def keeper(stories: Sequence[Story], tmp_path: Path) -> Iterator[Keeper]:
    made = Keeper.of(stories[0], tmp_path)
    yield made
    made.close()


@pytest.fixture
def commits(keeper: Keeper) -> list[int]:
    """How many appointments each commit has had."""
    counts, keep = list[int](), keeper.journal.towers.keep

    def counted(account: Account, *appointments: AppointmentRecord) -> None:
        counts.append(len(appointments))
        keep(account, *appointments)

    keeper.journal.towers.keep = counted  # type: ignore[method-assign]
    return counts


def body(given: Appointment) -> bytes:
    return sign_appointment(given, TOWER.address, ALICE)


def earlier(story: Story) -> Appointment:
    return structs.replace(newest(story), supported=tuple(stale(story)))


def kept(keeper: Keeper) -> list[int]:
    """The turns up to which the appointments in the journal answer."""
    rows = keeper.journal.towers.appointments(keeper.tower._name)
    return [APPOINTMENTS.decode(STORED_APPOINTMENTS.decode(each.body).signed.content).turn_num for each in rows]


def kinds(found: Sequence[AppointmentReceipt | Exception]) -> list[type]:
    return [type(each) for each in found]


def test_all_that_come_together_are_in_one_commit(
    stories: Sequence[Story], keeper: Keeper, commits: Sequence[int]
) -> None:
    given = [newest(each) for each in stories]
    found = keeper.tower.accept_all(map(body, given))
    for receipt, each in zip(found, given, strict=True):
        assert isinstance(receipt, AppointmentReceipt)
        verify_receipt(receipt, TOWER.address, ALICE.address, each)
    assert commits == [3]
    assert kept(keeper) == [6, 6, 6]
    assert len(keeper.tower.channels) == 3
    assert keeper.tower.accept_all(map(body, given)) == found
    assert commits == [3]


def test_one_that_is_refused_takes_no_other_with_it(
    stories: Sequence[Story], keeper: Keeper, commits: Sequence[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rubbish, a stranger's, and one at which the tower itself makes a mistake."""
    mistaken = stories[1].agreement.channel_id

    def require_proved(appointment: Appointment, *_: object) -> None:
        if appointment.agreement.channel_id == mistaken:
            raise RecursionError("an appointment that nobody thought of")

    monkeypatch.setattr("forcemove.watchtower.tower.require_proved", require_proved)
    stranger = sign_appointment(newest(stories[0]), TOWER.address, MALLORY)
    first, odd, last = (body(newest(each)) for each in stories)
    found = keeper.tower.accept_all([b"rubbish", first, stranger, odd, last])
    assert kinds(found) == [MalformedBytes, AppointmentReceipt, NotServed, RecursionError, AppointmentReceipt]
    assert commits == [2]
    assert set(keeper.tower.channels) == {stories[0].agreement.channel_id, stories[2].agreement.channel_id}


@pytest.mark.parametrize("is_later_first", [False, True])
def test_within_a_group_nothing_newer_is_replaced(
    stories: Sequence[Story], keeper: Keeper, is_later_first: bool
) -> None:
    both = [body(earlier(stories[0])), body(newest(stories[0]))]
    found = keeper.tower.accept_all(both[::-1] if is_later_first else both)
    assert kinds(found) == [AppointmentReceipt, NothingNewer if is_later_first else AppointmentReceipt]
    assert kept(keeper) == [6]
    assert keeper.guard.channels_of == {ALICE.address: 1}


def test_a_group_has_no_more_channels_than_a_client_may_have(stories: Sequence[Story], tmp_path: Path) -> None:
    keeper = Keeper.of(stories[0], tmp_path, name="small", settings=replace(SETTINGS, max_channels=2))
    older, *others = [body(earlier(stories[0])), *(body(newest(each)) for each in stories)]
    found = keeper.tower.accept_all([older, *others])
    assert kinds(found) == [AppointmentReceipt] * 3 + [TooManyChannels]
    assert kept(keeper) == [6, 6]
    keeper.close()


def test_a_group_that_cannot_be_written_down_is_refused_whole(stories: Sequence[Story], keeper: Keeper) -> None:
    keep = keeper.journal.towers.keep

    def full(account: Account, *appointments: AppointmentRecord) -> None:
        raise JournalUnwritable(keeper.journal_at, "disk full")

    keeper.journal.towers.keep = full  # type: ignore[method-assign]
    bodies = [body(newest(each)) for each in stories]
    with pytest.raises(JournalUnavailable):
        keeper.tower.accept_all(bodies)
    assert (keeper.tower.channels, kept(keeper), keeper.guard.channels_of.total()) == ((), [], 0)
    keeper.journal.towers.keep = keep  # type: ignore[method-assign]
    assert kinds(keeper.tower.accept_all(bodies)) == [AppointmentReceipt] * 3


def test_what_is_kept_is_bytes(stories: Sequence[Story], keeper: Keeper) -> None:
    """Decoded states take ten times as much memory as their bytes."""
    keeper.tower.accept(body(newest(stories[0])))
    (watched,) = keeper.watched
    (accepted,) = watched.accepted.values()
    assert isinstance(accepted.signed.content, bytes)
    assert accepted.appointment is not accepted.appointment
    assert accepted.appointment == newest(stories[0])
