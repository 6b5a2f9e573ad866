"""A channel's money in all orders of what can be done with it: deposit, record, credit by another channel, payment of a
part, and close. The ledger below knows what is held and owed, and nothing of words, records and late money: the
bytecode and the twin, which `World` compares, do with each step what it says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from forcemove import ETHER, Outcome
from forcemove.protocol.encoding import hash_state
from forcemove.protocol.words import Holdings
from tests.invariants.test_full_channels import TOTAL, Funded
from tests.parity.core_verdict import ALLOWED, Verdict
from tests.parity.core_world import World
from tests.protocol.builders import ALICE, BOB, allocation, final, fixed_part, outcome, state

A, B = ALICE.address, BOB.address
OWED = (12, 8)
DEPOSIT, CREDIT = 11, 9
"""Two deposits are more than the total, one and a credit are exactly the total."""


@dataclass
class Ledger:
    """What is held and owed, in the protocol's words. Each step returns the error that it is refused with."""

    total: int
    held: int = 0
    owed: list[int] = field(default_factory=lambda: [*OWED])
    paid: list[int] = field(default_factory=lambda: [0, 0])
    recorded: bool = False
    full: bool = False
    ended: bool = False
    begun: bool = False
    closed: bool = False

    def deposit(self) -> str:
        if self.closed:
            return "ChannelClosed"
        if self.begun:
            return "PayoutBegun"
        if self.full:
            return "ChannelFull"
        self.held += DEPOSIT
        return ""

    def credit(self) -> str:
        """What is not taken stays with the channel that pays, which is not an error."""
        if not self.closed and not self.full:
            self.held += CREDIT
        return ""

    def record(self) -> str:
        if self.ended:
            return "ChannelFinalized"
        if self.closed:
            return "ChannelClosed"
        if not self.recorded:
            self.recorded = True
            self.full = 0 < self.total <= self.held
        return ""

    def part(self) -> str:
        """Bob's."""
        if self.closed or not self.recorded:
            return "ChannelNotFinalized"
        self.ended = True
        self._pay(1)
        return ""

    def close(self) -> str:
        if self.closed:
            return "ChannelClosed"
        if not self.ended:
            self.record()
        self.ended = True
        self._pay(0, 1)
        return ""

    def _pay(self, *places: int) -> None:
        """In order, never with what is due to somebody before; the last gets what is over."""
        before, available = 0, self.held
        for place, owed in enumerate(self.owed):
            worth = min(owed, max(0, available - before))
            before += owed
            if place in places and worth:
                self._move(place, worth)
                self.owed[place] -= worth
                self.begun, self.full = True, False
        if not any(self.owed):
            self._move(1, self.held)
            self.begun = self.closed = True
            self.recorded = self.full = self.ended = False

    def _move(self, place: int, amount: int) -> None:
        self.paid[place] += amount
        self.held -= amount


@dataclass
class Steps:
    """A channel, and what its players know of it. `turn`: of the newest state; `settled`: the hash of the state that is
    paid out; `payers`: how many channels have paid it."""

    funded: Funded
    turn: int = 10
    settled: bytes = b""
    payers: int = 0

    def deposit(self, ledger: Ledger) -> Verdict:
        return self.funded.deposit(ledger.held, DEPOSIT)

    def credit(self, ledger: Ledger) -> Verdict:
        self.payers += 1
        payer = fixed_part(nonce=self.payers, app=self.funded.world.app, asset=self.funded.asset, total=CREDIT)
        self.funded.deposit(0, CREDIT, self.funded.name(payer))
        return self.funded.conclude((allocation(self.funded.id, CREDIT, self.funded.asset),), payer)

    def record(self, ledger: Ledger) -> Verdict:
        verdict = self.funded.record(self.turn, self.turn + 1, pays=self._outcome(OWED))
        self.turn += verdict == ALLOWED
        return verdict

    def part(self, ledger: Ledger) -> Verdict:
        if ledger.recorded and not ledger.ended:
            recorded = state(self.turn, self._outcome(OWED))
            self.funded.finalize(recorded)
            self.settled = hash_state(self.funded.id, recorded).state
        return self._transfer(ledger, 1)

    def close(self, ledger: Ledger) -> Verdict:
        if ledger.ended:
            return self._transfer(ledger)
        last = final(14, self._outcome(OWED))
        self.settled = hash_state(self.funded.id, last).state
        return self.funded.conclude(last.outcome)

    def _transfer(self, ledger: Ledger, *indices: int) -> Verdict:
        owed, world = self._outcome(ledger.owed), self.funded.world
        return world.transfer(A, self.funded.id, self.settled or bytes(32), owed, indices, self.funded.asset)

    def _outcome(self, amounts: Sequence[int]) -> Outcome:
        return outcome(*amounts, asset=self.funded.asset)


STEPS = ("deposit", "record", "credit", "part", "close")


def explore(steps: Steps, ledger: Ledger, depth: int) -> int:
    """All orders of this many steps from here, with repetitions; returns how many steps that were."""
    count = 0
    for name in STEPS if depth else ():
        with steps.funded.world.trial():
            next_steps, next_ledger = replace(steps), replace(ledger, owed=[*ledger.owed], paid=[*ledger.paid])
            verdict = getattr(next_steps, name)(ledger)
            assert verdict.error == getattr(next_ledger, name)(), name
            compare(steps.funded, next_ledger)
            count += 1 + explore(next_steps, next_ledger, depth - 1)
    return count


def compare(funded: Funded, ledger: Ledger) -> None:
    held = Holdings(ledger.held, payout_begun=ledger.begun, closed=ledger.closed, full=ledger.full)
    assert funded.holdings == held
    paid = [sum(each.amount for each in funded.world.paid if each.to == to) for to in (A, B)]
    assert paid == ledger.paid


@pytest.mark.parametrize("depth", [5, pytest.param(7, marks=pytest.mark.long)])
@pytest.mark.parametrize(("total", "asset"), [(TOTAL, ""), (0, ""), (TOTAL, "TestToken")])
def test_in_all_orders_a_channel_has_what_its_ledger_says(total: int, asset: str, depth: int) -> None:
    """Five steps are enough for each to come after each other one."""
    world = World()
    funded = Funded(0, total, world.tokens[asset] if asset else ETHER, world)
    count = explore(Steps(funded), Ledger(total), depth)
    assert count == sum(len(STEPS) ** each for each in range(1, depth + 1))
