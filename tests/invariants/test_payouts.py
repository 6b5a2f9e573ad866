"""Partial payouts, all of the small ones: what each entry is worth does not depend on who else is chosen, and no entry
is paid with another's money. The reference below is the sentence of the protocol, and knows nothing of the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain as concatenated
from itertools import combinations, islice, product
from typing import NamedTuple

import pytest

from forcemove import ETHER, Allocation, Outcome, address_destination, keccak256
from forcemove.chain.prices import OSAKA
from forcemove.protocol.codec.packed_writer import transfer_call
from forcemove.protocol.encoding import fingerprint, outcome_hash, word
from forcemove.protocol.words import EMPTY_STATUS, Status, late_key, word_key
from tests.parity import core_abi as abi
from tests.parity.core_chain import GENESIS, Chain
from tests.sampled import sampled

PAYEES = tuple(bytes((0xB0 + index,)) * 20 for index in range(4))
STATE_HASH = keccak256(b"the recorded state")


class Case(NamedTuple):
    """Entry i is `amounts[i]` of asset `assets[i]`; asset a has `held[a]`; `chosen` is empty where all are paid.
    Asset 0 is the home asset."""

    amounts: tuple[int, ...]
    assets: tuple[int, ...]
    held: tuple[int, ...]
    chosen: tuple[int, ...]


class Expected(NamedTuple):
    """What is paid for each entry, what each asset has left."""

    payments: tuple[int, ...]
    left: tuple[int, ...]


def reference(case: Case) -> Expected:
    """min(amount i, max(0, held - unpaid amounts before i)), whether or not earlier entries are chosen. Where all is
    paid an asset's last entry gets what is left, too."""
    payments = []
    for place, (amount, asset) in enumerate(zip(case.amounts, case.assets, strict=True)):
        before = sum(case.amounts[other] for other in range(place) if case.assets[other] == asset)
        worth = min(amount, max(0, case.held[asset] - before))
        payments.append(worth if place in case.chosen or not case.chosen else 0)
    left = tuple(
        held - sum(payment for payment, of in zip(payments, case.assets, strict=True) if of == asset)
        for asset, held in enumerate(case.held)
    )
    if tuple(payments) != case.amounts:
        return Expected(tuple(payments), left)
    for asset, rest in enumerate(left):
        payments[len(case.assets) - 1 - case.assets[::-1].index(asset)] += rest
    return Expected(tuple(payments), (0,) * len(left))


def subsets(places: Sequence[int]) -> Iterator[tuple[int, ...]]:
    return concatenated.from_iterable(combinations(places, size) for size in range(1, len(places) + 1))


def cases(count: int, first: int) -> Iterator[Case]:
    """All of `count` entries of which the first this many are of asset 0 and the others of asset 1."""
    assets = (0,) * first + (1,) * (count - first)
    groups = [range(first)] + ([range(first, count)] if first < count else [])
    for amounts in product(range(4), repeat=count):
        totals = [sum(amounts[place] for place in group) for group in groups]
        for held in product(*(range(total + 2) for total in totals)):
            yield Case(amounts, assets, held, ())
            for group in groups:
                for chosen in subsets(group):
                    yield Case(amounts, assets, held, chosen)


class Hashed(NamedTuple):
    """An outcome, and the status that belongs to it."""

    outcome: Outcome
    status: Status


class Payer:
    """A deployed adjudicator into whose storage each case is written as a channel of its own: finalised, and holding
    what the case says."""

    def __init__(self) -> None:
        self.chain = Chain()
        self.at = self.chain.deploy("Adjudicator")
        self.assets = (ETHER, self.chain.deploy("TestToken"))
        self.chain.enrich(self.at)
        self.chain.send(self.at[::-1], "TestToken", "mint", self.assets[1], abi.address(self.at), word(10**18))
        self.count = self.total = 0
        self.outcome = cache(self._outcome)

    def _outcome(self, amounts: tuple[int, ...], assets: tuple[int, ...]) -> Hashed:
        """Few differ, and each is asked for very often."""
        outcome = tuple(
            Allocation(self.assets[asset], address_destination(PAYEES[place]), amount)
            for place, (asset, amount) in enumerate(zip(assets, amounts, strict=True))
        )
        status = Status(7, GENESIS, fingerprint(STATE_HASH, outcome_hash(outcome)))
        return Hashed(outcome, status)

    def prepare(self, case: Case) -> bytes:
        """A fresh channel; its id. Every other one that holds its total is full."""
        self.count += 1
        id_, home = keccak256(word(self.count)), self.assets[0]
        recorded, late = self.outcome(case.amounts, case.assets).status.pack(), case.held[0]
        self.total = total = sum(amount for amount, asset in zip(case.amounts, case.assets, strict=True) if asset == 0)
        if late >= total > 0 and self.count % 2:
            late -= total
            recorded |= 1 << 253 | bool(late) << 252
        self.chain.store(self.at, word_key(id_, home), recorded)
        self.chain.store(self.at, late_key(id_, home), late)
        for asset, held in zip(self.assets[1:], case.held[1:], strict=False):
            self.chain.store(self.at, word_key(id_, asset), held)
        return id_

    def status(self, id_: bytes) -> Status:
        at = id_, abi.address(self.assets[0])
        return Status.unpack(int.from_bytes(self.chain.call("Adjudicator", "statusOf", self.at, *at), "big"))

    def holdings(self, id_: bytes, asset: bytes) -> tuple[int, bool, bool]:
        stored = self.chain.call("Adjudicator", "holdingsOf", self.at, id_, abi.address(asset), word(self.total))
        return int.from_bytes(stored[:32], "big"), bool(stored[63]), bool(stored[95])

    def check(self, case: Case) -> None:
        """Pay, and compare everything that has changed."""
        id_, expected = self.prepare(case), reference(case)
        before = [self.chain.balance(payee) for payee in PAYEES]
        outcome = self.outcome(case.amounts, case.assets).outcome
        data = transfer_call(id_, self.assets[0], STATE_HASH, outcome, case.chosen, OSAKA.push)
        receipt = self.chain.transact(PAYEES[0], self.at, data)
        assert receipt.success, (case, receipt.output.hex())

        paid = [self.chain.balance(payee) - was for payee, was in zip(PAYEES, before, strict=True)]
        for log in receipt.logs:
            if log.address == self.assets[1]:
                paid[PAYEES.index(log.topics[2][12:])] += int.from_bytes(log.data, "big")
        assert tuple(paid[: len(case.amounts)]) == expected.payments, case
        pairs = zip(case.amounts, expected.payments, strict=True)
        remaining = tuple(max(0, amount - paid) for amount, paid in pairs)
        closed = not any(remaining)
        owed = EMPTY_STATUS if closed else self.outcome(remaining, case.assets).status
        assert self.status(id_) == owed, case
        begun = closed or any(expected.payments)
        for asset, left in zip(self.assets, expected.left, strict=False):
            assert self.holdings(id_, asset) == (left, begun, closed), case


def check_all(count: int, first: int, *, one_of: int = 1) -> int:
    payer = Payer()
    for case in islice(cases(count, first), 0, None, one_of):
        payer.check(case)
    return payer.count


@pytest.mark.parametrize(("count", "first"), sampled([(1, 1), (2, 2), (2, 1), (3, 3), (3, 2), (3, 1)], every=2))
def test_every_small_payout_is_the_one_that_the_protocol_says(count: int, first: int) -> None:
    assert check_all(count, first) > 4**count


def test_of_payouts_of_four_entries_one_of_eleven_is_the_one_that_the_protocol_says() -> None:
    assert check_all(4, 4, one_of=11) > 4**4


@pytest.mark.long
@pytest.mark.parametrize("first", [1, 2, 3, 4])
def test_every_payout_of_four_entries_is_the_one_that_the_protocol_says(first: int) -> None:
    assert check_all(4, first) > 4**4
