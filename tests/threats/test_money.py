"""What is held, owed and paid: rows 6, 13, 19, 23, 30 and 31 of the list of attacks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from msgspec.structs import replace

from forcemove import ETHER, Allocation, FixedPart, VariablePart
from forcemove.protocol.encoding import fingerprint, hash_state, outcome_hash
from tests.invariants.test_payouts import check_all
from tests.parity.core_verdict import Verdict
from tests.protocol.builders import ALICE, BOB, MALLORY, allocation, chain, final, outcome, state
from tests.threats.court import ALLOWED, Court

A, B, M = ALICE.address, BOB.address, MALLORY.address


class Balances:
    """What accounts have gained since this was made."""

    def __init__(self, court: Court, *accounts: bytes, asset: bytes = ETHER) -> None:
        self._court, self._accounts, self._asset = court, accounts, asset
        self._before = self._read()

    def _read(self) -> list[int]:
        return [self._court.chain.balance(account, self._asset) for account in self._accounts]

    def gained(self) -> list[int]:
        return [after - before for after, before in zip(self._read(), self._before, strict=True)]


# ---------------------------------------------------------------------------------------------------------------- 6

ONE_ASSET, TWO_ASSETS, IN_PARTS = "one asset", "two assets", "in parts"


def pay_out(court: Court, fixed: FixedPart, how: str, by: str) -> tuple[bytes, ...]:
    """Pay everything of a channel, by concluding or after a challenge; the assets that it held."""
    token = court.tokens["TestToken"]
    assets = (ETHER,) if how == ONE_ASSET else (ETHER, token)
    for asset in assets:
        court.fund(fixed, asset=asset)
    entries = tuple(entry for asset in assets for entry in outcome(10, 10, asset=asset))
    if how == IN_PARTS:
        entries = (*entries[:1], replace(entries[1], amount=15), *entries[2:])
    if by == "conclude":
        assert court.conclude_with(fixed, *entries) == ALLOWED
        recorded = final(14, entries)
    else:
        recorded = state(11, entries)
        assert court.challenge_with(fixed, state(10, entries), recorded) == ALLOWED
        court.expire(fixed)
        assert court.transfer_all(fixed, recorded) == ALLOWED
    if how == IN_PARTS:
        _pay_the_rest(court, fixed, recorded)
    return assets


def _pay_the_rest(court: Court, fixed: FixedPart, recorded: VariablePart) -> None:
    """Bob is still owed five, which another channel brings."""
    id_, ledger = court.id_of(fixed), court.channel(nonce=99)
    assert court.deposit(A, court.id_of(ledger), ETHER, 0, 5) == ALLOWED
    assert court.conclude_with(ledger, allocation(id_, 5)) == ALLOWED
    left = tuple(replace(entry, amount=5 if place == 1 else 0) for place, entry in enumerate(recorded.outcome))
    assert court.transfer_all(fixed, recorded, left) == ALLOWED


@pytest.mark.parametrize("by", ["conclude", "transfer"])
@pytest.mark.parametrize("how", [ONE_ASSET, TWO_ASSETS, IN_PARTS])
def test_threat_06_a_paid_out_channel_is_closed_for_ever(court: Court, channel: FixedPart, how: str, by: str) -> None:
    id_ = court.id_of(channel)
    assets = pay_out(court, channel, how, by)
    entries = tuple(entry for asset in assets for entry in outcome(10, 10, asset=asset))
    closed = Verdict("ChannelClosed", (id_,))
    for asset in assets:
        assert court.is_closed(id_, asset)
        assert court.deposit(A, id_, asset, 0, 10) == closed
    for turn in (5, 11, 12, 20):
        assert court.challenge_with(channel, state(turn - 1, entries), state(turn, entries)) == closed
        assert court.challenge_with(channel, state(turn, entries)) == closed
        assert court.checkpoint_with(channel, state(turn - 1, entries), state(turn, entries)) == closed
        assert court.conclude_with(channel, *entries, turn=turn) == closed
    assert court.respond_with(channel, state(11, entries), state(12, entries)) == ("NoChallenge", (id_,))
    assert court.transfer_all(channel, final(14, entries)) == ("ChannelNotFinalized", (id_, 0))
    assert court.status(channel).is_empty


@pytest.mark.parametrize("by", ["conclude", "transfer"])
def test_threat_06_one_of_its_assets_is_enough_to_know_it(court: Court, channel: FixedPart, by: str) -> None:
    """Whatever else an outcome names beside it."""
    pay_out(court, channel, TWO_ASSETS, by)
    token = court.tokens["TestToken"]
    assert court.conclude_with(channel, allocation(A, 1, token)) == ("ChannelClosed", (court.id_of(channel),))
    mixed = (allocation(A, 0), allocation(A, 1, max(court.tokens.values())))
    assert court.challenge_with(channel, state(11, mixed)) == ("ChannelClosed", (court.id_of(channel),))


def test_threat_06_a_surplus_is_not_paid_with_a_replay(court: Court, channel: FixedPart) -> None:
    """Somebody paid in more than the outcome allocates, enough for paying it twice: the last one gets it, once."""
    court.fund(channel, 10, 35)
    gains = Balances(court, A, B)
    assert court.conclude_with(channel) == ALLOWED
    assert court.conclude_with(channel) == ("ChannelClosed", (court.id_of(channel),))
    assert gains.gained() == [10, 35]
    assert court.held(court.id_of(channel)) == 0


# --------------------------------------------------------------------------------------------------------------- 13


@pytest.mark.parametrize("by", ["conclude", "transfer"])
@pytest.mark.parametrize("held", range(22))
def test_threat_13_never_more_than_held_in_order_and_without_reverting(
    court: Court, channel: FixedPart, held: int, by: str
) -> None:
    """Another channel's hundred lie in the same contract."""
    other = court.id_of(court.channel(nonce=1))
    assert court.deposit(M, other, ETHER, 0, 100) == ALLOWED
    if held:
        assert court.deposit(A, court.id_of(channel), ETHER, 0, held) == ALLOWED
    gains = Balances(court, A, B)
    if by == "conclude":
        assert court.conclude_with(channel) == ALLOWED
    else:
        assert court.challenge_with(channel, *chain(10, 11)) == ALLOWED
        court.expire(channel)
        assert court.transfer_all(channel, state(11)) == ALLOWED
    first = min(10, held)
    assert gains.gained() == [first, held - first]  # what is beyond it goes with the last payment
    assert court.held(court.id_of(channel)) == 0
    assert court.held(other) == 100
    assert court.chain.balance(court.adjudicator) == 100 + court.held(court.id_of(channel))
    assert court.is_closed(court.id_of(channel)) == (held >= 20)


def test_threat_13_the_largest_amounts_are_owed_and_not_paid(court: Court, channel: FixedPart) -> None:
    court.fund(channel)
    assert court.conclude_with(channel, allocation(A, 5), allocation(B, 2**256 - 6)) == ALLOWED
    assert court.held(court.id_of(channel)) == 0
    assert court.chain.balance(court.adjudicator) == 0


# --------------------------------------------------------------------------------------------------------------- 19


@pytest.mark.parametrize(("count", "first"), [(1, 1), (2, 2), (2, 1), (3, 3), (3, 2)])
def test_threat_19_every_small_partial_payout_is_what_the_reference_says(count: int, first: int) -> None:
    """All amounts below four, all holdings, all choices of entries; `tests/invariants` has more and larger ones."""
    assert check_all(count, first) > 4**count


def finalized(court: Court, fixed: FixedPart, *entries: Allocation) -> bytes:
    """With a challenge that ran out; the hash of the recorded state."""
    assert court.challenge_with(fixed, state(10, entries), state(11, entries)) == ALLOWED
    court.expire(fixed)
    return hash_state(court.id_of(fixed), state(11, entries)).state


def test_threat_19_a_later_entry_is_not_paid_with_an_earlier_ones_money(court: Court, channel: FixedPart) -> None:
    assert court.deposit(A, court.id_of(channel), ETHER, 0, 12) == ALLOWED
    owed = outcome(10, 10)
    state_hash = finalized(court, channel, *owed)
    gains = Balances(court, A, B)
    assert court.transfer(B, court.id_of(channel), state_hash, owed, [1]) == ALLOWED
    assert gains.gained() == [0, 2]
    left = (owed[0], replace(owed[1], amount=8))
    assert court.transfer(B, court.id_of(channel), state_hash, left, [1]) == ALLOWED
    assert gains.gained() == [0, 2]
    assert court.transfer(B, court.id_of(channel), state_hash, owed, [0]).error == "FingerprintMismatch"
    assert court.transfer(B, court.id_of(channel), state_hash, left, [0]) == ALLOWED
    assert gains.gained() == [10, 2]


def bad_indices(count: int) -> Iterator[list[int]]:
    for places in product(range(count + 2), repeat=2):
        if not (places[0] < places[1] < count):
            yield list(places)


def test_threat_19_an_index_names_one_entry_once(court: Court, channel: FixedPart) -> None:
    token = court.tokens["TestToken"]
    court.fund(channel)
    court.fund(channel, asset=token)
    owed = (*outcome(10, 10), *outcome(10, 10, asset=token))
    state_hash = finalized(court, channel, *owed)
    expected = {"IndicesNotIncreasing", "IndexOutOfRange"}
    for indices in bad_indices(len(owed)):
        assert court.transfer(A, court.id_of(channel), state_hash, owed, indices).error in expected, indices
    for indices in ([0, 2], [1, 3], [0, 1, 2]):
        verdict = court.transfer(A, court.id_of(channel), state_hash, owed, indices)
        assert verdict == ("IndexOfAnotherAsset", (indices[-1],))
    assert court.transfer(A, court.id_of(channel), state_hash, owed, [2, 3]) == ALLOWED


# --------------------------------------------------------------------------------------------------------------- 23


@pytest.mark.parametrize("proof", ["0 and 1", "1 by both", "0 by both"])
def test_threat_23_who_funds_alone_gets_it_back(court: Court, channel: FixedPart, proof: str) -> None:
    """The prefund states are signed by all before anybody pays: that is all that it takes."""
    assert court.deposit(A, court.id_of(channel), ETHER, 0, 10) == ALLOWED
    gains = Balances(court, A, B)
    states = {"0 and 1": chain(0, 1), "1 by both": chain(1), "0 by both": chain(0)}[proof]
    assert court.challenge_with(channel, *states) == ALLOWED
    court.expire(channel)
    assert court.transfer_all(channel, states[-1]) == ALLOWED
    assert gains.gained() == [10, 0]


def test_threat_23_who_comes_late_pays_into_no_abandoned_channel(court: Court, channel: FixedPart) -> None:
    assert court.deposit(A, court.id_of(channel), ETHER, 0, 10) == ALLOWED
    assert court.challenge_with(channel, *chain(0, 1)) == ALLOWED
    court.expire(channel)
    assert court.transfer_all(channel, state(1)) == ALLOWED
    assert court.deposit(B, court.id_of(channel), ETHER, 10, 10) == ("PayoutBegun", (court.id_of(channel),))


# --------------------------------------------------------------------------------------------------------------- 30


def test_threat_30_nobody_is_paid_where_money_would_vanish(court: Court, channel: FixedPart) -> None:
    """To nobody, to the adjudicator, or from a channel to itself."""
    court.fund(channel)
    own, adjudicator = court.id_of(channel), bytes(12) + court.adjudicator
    for place, to in product(range(2), (bytes(32), own, adjudicator)):
        entries = outcome(10, 10, to=(to, BOB) if place == 0 else (ALICE, to))
        refused = Verdict("ForbiddenDestination", (place, to))
        assert court.conclude_with(channel, *entries) == refused
        assert court.challenge_with(channel, state(11, entries)) == refused
        assert court.checkpoint_with(channel, state(10, entries), state(11, entries)) == refused
    assert court.challenge_with(channel, *chain(10, 11), by=BOB) == ALLOWED
    for to in (bytes(32), own, adjudicator):
        response = state(12, outcome(20, 0, to=(ALICE, to)))
        assert court.respond_with(channel, state(11), response) == ("ForbiddenDestination", (1, to))


def test_threat_30_the_same_asset_stands_in_one_group(court: Court, channel: FixedPart) -> None:
    """Else its holdings would be counted once for each group."""
    token = court.tokens["TestToken"]
    court.fund(channel)
    court.fund(channel, asset=token)
    entries = (allocation(A, 10), allocation(A, 20, token), allocation(B, 20))
    assert court.conclude_with(channel, *entries) == ("AssetsNotSorted", (2,))
    assert court.challenge_with(channel, state(11, entries)) == ("AssetsNotSorted", (2,))


def test_threat_30_a_payment_into_a_closed_channel_stays_owed(court: Court, channel: FixedPart) -> None:
    closed = court.channel(nonce=1)
    court.fund(closed)
    assert court.conclude_with(closed) == ALLOWED

    court.fund(channel)
    entries = outcome(8, 12, to=(court.id_of(closed), BOB))
    gains = Balances(court, B)
    assert court.conclude_with(channel, *entries) == ALLOWED
    assert gains.gained() == [12]
    assert court.held(court.id_of(closed)) == 0
    assert court.held(court.id_of(channel)) == 8
    assert not court.is_closed(court.id_of(channel))
    left = (entries[0], replace(entries[1], amount=0))
    state_hash = hash_state(court.id_of(channel), final(14, entries)).state
    assert court.status(channel).fingerprint == fingerprint(state_hash, outcome_hash(left))


def test_threat_30_a_payment_into_a_living_channel_arrives(court: Court, channel: FixedPart) -> None:
    court.fund(channel)
    target = court.id_of(court.channel(nonce=1))
    assert court.conclude_with(channel, *outcome(8, 12, to=(target, BOB))) == ALLOWED
    assert court.held(target) == 8
    assert court.is_closed(court.id_of(channel))


# --------------------------------------------------------------------------------------------------------------- 31


@pytest.mark.parametrize("by", ["conclude", "transfer"])
@pytest.mark.parametrize("paid", ["ether", "token"])
def test_threat_31_nothing_is_deposited_once_payment_has_begun(
    court: Court, channel: FixedPart, paid: str, by: str
) -> None:
    """In none of its assets, not even in one of which nothing was there to be paid."""
    id_, token = court.id_of(channel), court.tokens["TestToken"]
    assert court.deposit(A, id_, ETHER if paid == "ether" else token, 0, 5) == ALLOWED
    entries = (*outcome(10, 10), *outcome(10, 10, asset=token))
    if by == "conclude":
        assert court.conclude_with(channel, *entries) == ALLOWED
    else:
        state_hash = finalized(court, channel, *entries)
        first = 0 if paid == "ether" else 2
        assert court.transfer(A, id_, state_hash, entries, [first]) == ALLOWED
    begun = Verdict("PayoutBegun", (id_,))
    for asset in (ETHER, token):
        assert court.deposit(B, id_, asset, 0, 10) == begun
        assert court.deposit(B, id_, asset, 5, 10) == begun


def test_threat_31_before_the_first_payment_a_finalised_channel_can_still_be_funded(
    court: Court, channel: FixedPart
) -> None:
    state_hash = finalized(court, channel, *outcome())
    court.fund(channel)
    gains = Balances(court, A, B)
    assert court.transfer(A, court.id_of(channel), state_hash, outcome()) == ALLOWED
    assert gains.gained() == [10, 10]
