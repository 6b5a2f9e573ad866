"""Receipts: what a tower has said it has taken, and how one that does nothing is shown up."""

from __future__ import annotations

import pytest
from msgspec import structs

from forcemove.errors import InvalidValue
from forcemove.protocol.machine.record import Record, fold_all
from forcemove.protocol.rule_errors import WrongSigner
from forcemove.watchtower.appointment import RECEIPTS, Appointment, AppointmentReceipt, is_neglected, verify_receipt
from forcemove.watchtower.errors import OtherReceipt
from forcemove_games.tic_tac_toe import GAME
from tests.expected import raising
from tests.scenarios.story import ALICE, BOB, DURATION, Playground, Story
from tests.simulation.chain import MemoryChain
from tests.watchtower.keeper import OTHER_TOWER, TOWER, Keeper, finished, newest, stale

MARGIN = DURATION // 2


@pytest.fixture
def story() -> Story:
    made = Playground.on(MemoryChain()).story(GAME)
    made.play_until(6)
    return made


def record_of(story: Story) -> Record:
    """What anybody can read of the channel."""
    logs = [each.log for each in story.adjudicator.logs(story.agreement.channel_id, 0)]
    return fold_all(logs, story.agreement.domain, story.chain.next_time())


def shown_up(story: Story, receipt: AppointmentReceipt, given: Appointment, margin: int = MARGIN) -> bool:
    now = story.chain.next_time()
    return is_neglected(receipt, TOWER.address, ALICE.address, given, record_of(story), now=now, margin=margin)


def test_a_receipt_says_what_was_taken_for_whom_and_when(story: Story, keeper: Keeper) -> None:
    given = newest(story)
    receipt = keeper.give(given)
    assert (receipt.channel_id, receipt.client, receipt.turn_num) == (given.agreement.channel_id, ALICE.address, 6)
    assert story.chain.now() <= receipt.time <= story.chain.next_time()
    verify_receipt(receipt, TOWER.address, ALICE.address, given, now=story.chain.next_time())
    assert RECEIPTS.decode(RECEIPTS.encode(receipt)) == receipt


@pytest.mark.parametrize(
    "lie",
    [
        {"channel_id": bytes(32)},
        {"client": BOB.address},
        {"turn_num": 7},
        {"accepted": bytes(32)},
        {"time": 0},
    ],
)
def test_what_the_tower_has_not_signed_is_no_receipt(story: Story, keeper: Keeper, lie: dict[str, object]) -> None:
    receipt = keeper.give_newest(story)
    with pytest.raises(WrongSigner):
        verify_receipt(structs.replace(receipt, **lie), TOWER.address, ALICE.address, newest(story))
    with pytest.raises(WrongSigner):
        verify_receipt(receipt, OTHER_TOWER.address, ALICE.address, newest(story))


def test_a_receipt_for_something_else_is_no_receipt_for_this(story: Story, keeper: Keeper) -> None:
    """A tower that signs that it has taken less than it was given is found out at once."""
    early = structs.replace(newest(story), supported=tuple(stale(story)))
    receipt = keeper.give(early)
    with pytest.raises(OtherReceipt) as raised:
        verify_receipt(receipt, TOWER.address, ALICE.address, newest(story))
    assert raised.value == OtherReceipt("turn_num")
    with pytest.raises(OtherReceipt) as raised:
        verify_receipt(receipt, TOWER.address, ALICE.address, structs.replace(early, from_block=0))
    assert raised.value == OtherReceipt("accepted")
    with pytest.raises(OtherReceipt) as raised:
        verify_receipt(receipt, TOWER.address, BOB.address, early)
    assert raised.value == OtherReceipt("client")


def test_a_receipt_from_the_future_is_refused(story: Story, keeper: Keeper) -> None:
    receipt = keeper.give_newest(story)
    with raising(OtherReceipt("time")):
        verify_receipt(receipt, TOWER.address, ALICE.address, newest(story), now=receipt.time - 1)


@pytest.mark.parametrize("what", ["the newest state", "the final state"])
def test_a_tower_that_gives_a_receipt_and_does_nothing_is_shown_up(story: Story, keeper: Keeper, what: str) -> None:
    given = finished(story) if what == "the final state" else newest(story)
    receipt = keeper.give(given)
    story.challenge(1, *stale(story))
    assert not shown_up(story, receipt, given)
    story.expire()
    assert shown_up(story, receipt, given)


def test_a_tower_that_has_answered_is_not_shown_up(story: Story, keeper: Keeper) -> None:
    receipt = keeper.give_newest(story)
    keeper.face_stale_challenge(story)
    story.mine()
    assert not shown_up(story, receipt, newest(story))


def test_a_tower_that_had_no_answer_is_not_shown_up(story: Story, keeper: Keeper) -> None:
    """The channel ends with just the state that it was given."""
    receipt = keeper.give_newest(story)
    story.challenge(1, *story.bob.states[-2:])
    story.expire()
    assert not shown_up(story, receipt, newest(story))


def test_a_tower_that_was_asked_too_late_is_not_shown_up(story: Story, keeper: Keeper) -> None:
    story.challenge(1, *stale(story))
    story.chain.travel_to(story.finalizes_at - 10)
    keeper.rest()
    receipt = keeper.give_newest(story)
    story.expire()
    assert not shown_up(story, receipt, newest(story))
    assert shown_up(story, receipt, newest(story), margin=5)


def test_a_forged_receipt_shows_nobody_up(story: Story, keeper: Keeper) -> None:
    receipt = keeper.give(structs.replace(newest(story), supported=tuple(stale(story))))
    story.challenge(1, *stale(story))
    story.expire()
    with pytest.raises(WrongSigner):
        shown_up(story, structs.replace(receipt, turn_num=6), newest(story))
    with pytest.raises(OtherReceipt):
        shown_up(story, receipt, newest(story))


@pytest.mark.parametrize("bad", [{"channel_id": b""}, {"client": b""}, {"turn_num": 2**48}, {"time": -1}])
def test_what_is_no_receipt_is_not_built(story: Story, keeper: Keeper, bad: dict[str, object]) -> None:
    with pytest.raises(InvalidValue):
        structs.replace(keeper.give_newest(story), **bad)
