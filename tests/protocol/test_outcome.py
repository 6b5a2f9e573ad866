"""What is a well-formed outcome, and which two have the same totals."""

from __future__ import annotations

import pytest

from forcemove import ETHER, UINT256_MAX, ForcemoveError, InvalidValue
from forcemove.protocol import rule_errors
from forcemove.protocol.types import (
    Allocation,
    Outcome,
    address_destination,
    destination_address,
    require_same_totals,
    require_valid_outcome,
    totals,
)
from tests.expected import raising
from tests.protocol.builders import ALICE, BOB, TOKEN, allocation, outcome

ID = b"\xc1" * 32
ADJUDICATOR = b"\xad" * 20
ASSETS = [bytes((index,)) * 20 for index in range(5)]


def refusal(value: Outcome) -> ForcemoveError:
    with pytest.raises(ForcemoveError) as caught:
        require_valid_outcome(value, ID, ADJUDICATOR, ETHER, 0)
    return caught.value


@pytest.mark.parametrize("count", [1, 32])
def test_1_to_32_allocations_are_an_outcome(count: int) -> None:
    require_valid_outcome((allocation(ALICE, 1),) * count, ID, ADJUDICATOR, ETHER, 0)


@pytest.mark.parametrize("count", [0, 33])
def test_fewer_or_more_are_none(count: int) -> None:
    assert refusal((allocation(ALICE, 1),) * count) == rule_errors.AllocationCountOutOfRange(count)


def test_four_assets_are_an_outcome() -> None:
    require_valid_outcome(tuple(allocation(ALICE, 1, asset) for asset in ASSETS[:4]), ID, ADJUDICATOR, ETHER, 0)


def test_five_are_none() -> None:
    assert refusal(tuple(allocation(ALICE, 1, asset) for asset in ASSETS)) == rule_errors.TooManyAssets(5)


@pytest.mark.parametrize("order", [(1, 0), (0, 2, 1), (0, 1, 0)])
def test_assets_come_in_rising_groups(order: tuple[int, ...]) -> None:
    value = tuple(allocation(ALICE, 1, ASSETS[index]) for index in order)
    assert refusal(value) == rule_errors.AssetsNotSorted(len(order) - 1)


@pytest.mark.parametrize("destination", [bytes(32), ID, bytes(12) + ADJUDICATOR])
def test_nothing_goes_to_nobody_to_the_channel_or_to_the_adjudicator(destination: bytes) -> None:
    value = (allocation(ALICE, 1), Allocation(ETHER, destination, 1))
    assert refusal(value) == rule_errors.ForbiddenDestination(1, destination)


def test_the_total_of_an_asset_does_not_overflow() -> None:
    value = (allocation(ALICE, UINT256_MAX), allocation(BOB, UINT256_MAX, TOKEN), allocation(ALICE, 1, TOKEN))
    assert refusal(value) == rule_errors.OutcomeTotalOverflow(TOKEN)


def test_each_asset_may_reach_the_highest_total() -> None:
    require_valid_outcome(
        (allocation(ALICE, UINT256_MAX), allocation(BOB, UINT256_MAX - 1, TOKEN), allocation(ALICE, 1, TOKEN)),
        ID,
        ADJUDICATOR,
        ETHER,
        0,
    )


@pytest.mark.parametrize(
    "fields", [(bytes(19), bytes(32), 0), (ETHER, bytes(31), 0), (ETHER, bytes(32), -1), (ETHER, bytes(32), 2**256)]
)
def test_an_allocation_has_soliditys_widths(fields: tuple[bytes, bytes, int]) -> None:
    with pytest.raises(InvalidValue):
        Allocation(*fields)


def test_an_outcome_is_a_tuple() -> None:
    with pytest.raises(InvalidValue):
        require_valid_outcome([allocation(ALICE, 1)], ID, ADJUDICATOR, ETHER, 0)  # type: ignore[arg-type]  # that is the point


def test_destinations_of_addresses_and_channels_are_told_apart() -> None:
    assert destination_address(address_destination(ALICE.address)) == ALICE.address
    assert destination_address(ID) is None
    assert destination_address(bytes(11) + b"\x01" + ALICE.address) is None


def test_totals_are_by_asset() -> None:
    assert totals((*outcome(1, 2), *outcome(30, 40, asset=TOKEN))) == {ETHER: 3, TOKEN: 70}


def test_totals_may_be_redistributed() -> None:
    require_same_totals(outcome(1, 2, 3), outcome(6))


def test_a_total_may_not_change() -> None:
    before, after = (*outcome(1), *outcome(2, asset=TOKEN)), (*outcome(1), *outcome(3, asset=TOKEN))
    with raising(rule_errors.TotalChanged(TOKEN, 2, 3)):
        require_same_totals(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (outcome(1), outcome(1, asset=TOKEN)),
        (outcome(1), (*outcome(1), *outcome(0, asset=TOKEN))),
        ((*outcome(1), *outcome(0, asset=TOKEN)), outcome(1)),
    ],
)
def test_the_assets_may_not_change(before: Outcome, after: Outcome) -> None:
    with pytest.raises(rule_errors.AssetsChanged):
        require_same_totals(before, after)
