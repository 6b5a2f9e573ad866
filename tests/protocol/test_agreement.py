"""What participants agree on before anybody signs."""

from __future__ import annotations

import pytest

from forcemove import ETHER, Agreement, Allocation, InvalidValue, VariablePart, address_destination, agree, channel_id
from forcemove.protocol.app import Deposits
from forcemove.protocol.rule_errors import AllocationCountOutOfRange, AssetsNotSorted, ForbiddenDestination
from forcemove_games.rock_paper_scissors import GAME
from tests.protocol.builders import ALICE, BOB, DOMAIN, MALLORY, TOKEN, fixed_part, terms

TO_BOTH = (address_destination(ALICE.address), address_destination(BOB.address))


def agreement(deposits: Deposits = ((ETHER, (50, 40)),), stake: int = 10) -> Agreement:
    return agree(DOMAIN, fixed_part(), GAME, stake, deposits, TO_BOTH)


def test_the_opening_is_what_was_agreed() -> None:
    agreed = agreement()
    outcome = (Allocation(ETHER, TO_BOTH[0], 50), Allocation(ETHER, TO_BOTH[1], 40))
    assert agreed.channel_id == channel_id(fixed_part(), DOMAIN)
    assert agreed.count == 2
    for turn in range(4):
        assert agreed.setup_state(turn) == VariablePart(outcome, GAME.initial_app_data(terms(10)), turn)


def test_each_asset_has_an_allocation_for_everybody() -> None:
    agreed = agreement(((ETHER, (50, 40)), (TOKEN, (20, 30))))
    assert [(entry.asset, entry.destination, entry.amount) for entry in agreed.outcome] == [
        (ETHER, TO_BOTH[0], 50),
        (ETHER, TO_BOTH[1], 40),
        (TOKEN, TO_BOTH[0], 20),
        (TOKEN, TO_BOTH[1], 30),
    ]


@pytest.mark.parametrize("deposits", [((ETHER, (9, 50)),), ((ETHER, (50, 9)),), ((ETHER, (50, 50)), (TOKEN, (9, 9)))])
def test_nobody_plays_for_more_than_it_pays_in(deposits: Deposits) -> None:
    with pytest.raises(InvalidValue):
        agreement(deposits)


@pytest.mark.parametrize("deposits", [((ETHER, (50,)),), ((ETHER, (50, 50, 50)),), ((ETHER, (50, 50)), (TOKEN, (50,)))])
def test_everybody_has_one_deposit_of_each_asset(deposits: Deposits) -> None:
    with pytest.raises(InvalidValue):
        agreement(deposits)


@pytest.mark.parametrize("destinations", [TO_BOTH[:1], (*TO_BOTH, TO_BOTH[0]), (TO_BOTH[0], BOB.address)])
def test_everybody_has_one_destination(destinations: tuple[bytes, ...]) -> None:
    with pytest.raises(InvalidValue):
        Agreement(DOMAIN, fixed_part(), destinations, ((ETHER, (50, 50)),), b"")


def test_assets_stand_in_rising_order() -> None:
    with pytest.raises(AssetsNotSorted):
        agreement(((TOKEN, (20, 30)), (ETHER, (50, 40))))


def test_something_is_paid_in() -> None:
    with pytest.raises(AllocationCountOutOfRange):
        agreement((), stake=0)


@pytest.mark.parametrize(
    "forbidden", [bytes(32), address_destination(DOMAIN.adjudicator), channel_id(fixed_part(), DOMAIN)]
)
def test_nothing_goes_where_it_would_vanish(forbidden: bytes) -> None:
    with pytest.raises(ForbiddenDestination):
        Agreement(DOMAIN, fixed_part(), (TO_BOTH[0], forbidden), ((ETHER, (50, 50)),), b"")


@pytest.mark.parametrize("amount", [-1, 2**256])
def test_amounts_are_what_an_outcome_can_hold(amount: int) -> None:
    with pytest.raises(InvalidValue):
        Agreement(DOMAIN, fixed_part(), TO_BOTH, ((ETHER, (amount, 50)),), b"")


def test_another_agreement_on_the_same_channel_is_another_agreement() -> None:
    elsewhere = agree(
        DOMAIN, fixed_part(), GAME, 10, ((ETHER, (50, 40)),), (TO_BOTH[0], address_destination(MALLORY.address))
    )
    assert elsewhere.channel_id == agreement().channel_id
    assert elsewhere != agreement()
    assert elsewhere.setup_state(0) != agreement().setup_state(0)
