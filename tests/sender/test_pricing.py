"""Gas and its price are bounded by our own rules, whatever is said of them: hole 24."""

from __future__ import annotations

import pytest

from forcemove.sender.pricing import FeeMarket, Urgency, fitting_fees, gas_limit

GWEI, ETHER = 10**9, 10**18
GAS = 21_000


@pytest.mark.parametrize(
    ("estimates", "limit"),
    [((), 150_000), ((0,), 150_000), ((200_000,), 200_000), ((300_000,), 150_000), ((2**40, 160_000), 160_000)],
)
def test_hole_23_an_estimate_is_believed_below_three_times_our_own(estimates: tuple[int, ...], limit: int) -> None:
    assert gas_limit(100_000, estimates, 0) == limit
    assert gas_limit(100_000, estimates, 1) == 300_000


def test_where_gas_has_one_price_the_lowest_is_offered() -> None:
    fees = fitting_fees(FeeMarket(None, 2**200), [FeeMarket(None, 3 * GWEI)], GAS, Urgency(ETHER))
    assert (fees.max_fee_per_gas, fees.is_legacy) == (3 * GWEI, True)


def test_hole_24_who_says_that_there_is_no_base_fee_is_offered_what_others_say_of_it() -> None:
    fees = fitting_fees(FeeMarket(None, 2**200), [FeeMarket(GWEI, GWEI)], GAS, Urgency(ETHER))
    assert fees.max_fee_per_gas == 4 * GWEI


@pytest.mark.parametrize("other", [0, 2**256 - 1])
def test_hole_24_a_base_fee_that_is_far_off_changes_no_other_offer(other: int) -> None:
    fees = fitting_fees(FeeMarket(10 * GWEI, GWEI), [FeeMarket(other, GWEI)], GAS, Urgency(ETHER))
    assert (fees.max_fee_per_gas, fees.max_priority_fee_per_gas) == (21 * GWEI, GWEI)


def test_threat_21_near_the_end_by_one_word_alone_is_not_the_end() -> None:
    on_one_word = fitting_fees(FeeMarket(GWEI, GWEI), [], GAS, Urgency(ETHER, 1.0, 0.0, is_answer=True))
    on_all = fitting_fees(FeeMarket(GWEI, GWEI), [], GAS, Urgency(ETHER, 1.0, 1.0, is_answer=True))
    assert on_one_word.max_priority_fee_per_gas <= 3 * GWEI
    assert on_all.max_priority_fee_per_gas == ETHER // GAS


@pytest.mark.parametrize(
    ("suggested", "elsewhere", "offered"),
    [(2**200, 1, 1), (2**200, 0, 1), (2**200, 5, 2), (1, 0, 1), (1, 2**200, 1), (0, 1, 0), (2, 1, 1)],
)
def test_threat_45_a_tip_is_no_more_than_another_endpoint_finds_right(
    suggested: int, elsewhere: int, offered: int
) -> None:
    """In gwei: or half of our own bound, so that who says nothing is right keeps nothing from being mined."""
    tip = suggested if suggested == 2**200 else suggested * GWEI
    other = elsewhere if elsewhere == 2**200 else elsewhere * GWEI
    fees = fitting_fees(FeeMarket(GWEI, tip), [FeeMarket(GWEI, other)], GAS, Urgency(ETHER))
    assert fees.max_priority_fee_per_gas == offered * GWEI
