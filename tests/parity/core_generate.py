"""Random channels, states and pairs of states, near the border of what is valid. All randomness comes from one
`random.Random`, which Hypothesis drives and shrinks and which a seed drives in the long run."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from msgspec.structs import replace

from forcemove import Domain, VariablePart, channel_id, keccak256, word
from forcemove.protocol.types import (
    ETHER,
    MAX_ALLOCATIONS,
    MAX_AMOUNT,
    MAX_PARTICIPANTS,
    UINT48_MAX,
    UINT256_MAX,
    Allocation,
    FixedPart,
    Outcome,
    address_destination,
    totals,
)
from tests.protocol.builders import players

ASSETS = (ETHER, *(bytes((index,)) * 20 for index in (1, 7, 8, 0xFF)))
_AMOUNTS = (0, 1, 2, 3, 10, 2**128, 2**254, 2**255, UINT256_MAX)


class Pair(NamedTuple):
    """Two states of one channel, which may or may not be a valid step."""

    fixed_part: FixedPart
    from_: VariablePart
    to: VariablePart


class Generator:
    """Values for one deployment: `domain` is that of the contract under test, `app` the app of its channels."""

    def __init__(self, rng: Random, domain: Domain, app: bytes) -> None:
        self.rng = rng
        self.domain = domain
        self.app = app

    def fixed_part(self) -> FixedPart:
        keys = players(self.rng.choice((2, 2, 2, 3, 4, 5, MAX_PARTICIPANTS)))
        nonce = self.rng.choice((0, 1, 2**64 - 1, self.rng.getrandbits(64)))
        duration = self.rng.choice((60, 86_400, 31_536_000, self.rng.randint(60, 31_536_000)))
        return FixedPart(tuple(key.address for key in keys), nonce, self.app, duration, self.rng.choice(ASSETS[:3]))

    def funded(self, fixed_part: FixedPart, outcome: Outcome) -> FixedPart:
        """With the total of this outcome, at times with another, or none."""
        funded = totals(outcome).get(fixed_part.asset, 0)
        total = self.rng.choice((0, funded, funded, funded, funded + 1))
        return replace(fixed_part, total=min(total, MAX_AMOUNT))

    def destination(self) -> bytes:
        rng = self.rng
        kind = rng.randrange(4)
        if kind < 2:
            return address_destination(rng.choice(players(5)).address)
        return address_destination(rng.randbytes(20)) if kind == 2 else keccak256(rng.randbytes(2))

    def amount(self) -> int:
        return self.rng.choice((*_AMOUNTS[:6], self.rng.randrange(100)))

    def outcome(self, max_entries: int = 5) -> Outcome:
        """A valid one."""
        assets = sorted(self.rng.choice(ASSETS[:4]) for _ in range(self.rng.randint(1, max_entries)))
        return tuple(Allocation(asset, self.destination(), self.amount()) for asset in assets)

    def state(self, fixed_part: FixedPart) -> VariablePart:
        """A valid one, of a turn near a border."""
        n = len(fixed_part.participants)
        turn = self.rng.choice((0, n - 1, n, 2 * n - 2, 2 * n - 1, 2 * n, 2 * n + 1, 100, UINT48_MAX - 1, UINT48_MAX))
        if self.rng.random() < 0.1:
            return VariablePart(self.outcome(), b"", turn, True)
        return VariablePart(self.outcome(), word(self.rng.randrange(4)), turn, evidence=self._evidence())

    def _evidence(self) -> bytes:
        return self.rng.choice((b"", b"", b"", b"why", bytes(33), bytes(8_160)))

    def successor(self, fixed_part: FixedPart, from_: VariablePart) -> VariablePart:
        """A valid next state, where there is one."""
        turn = min(from_.turn_num + 1, UINT48_MAX)
        if from_.is_final or self.rng.random() < 0.2:
            return VariablePart(from_.outcome, b"", turn, True)
        if turn < 2 * len(fixed_part.participants):
            return replace(from_, turn_num=turn)
        count = int.from_bytes(from_.app_data, "big") + 1
        return VariablePart(self._redistributed(from_.outcome), word(count), turn, evidence=self._evidence())

    def _redistributed(self, outcome: Outcome) -> Outcome:
        """The same assets and totals, one entry split or two joined; or nothing changed."""
        index = self.rng.randrange(len(outcome))
        entry = outcome[index]
        kind = self.rng.randrange(3)
        if kind == 0:
            part = self.rng.randint(0, entry.amount)
            halves = replace(entry, amount=part), replace(entry, amount=entry.amount - part)
            return (*outcome[:index], *halves, *outcome[index + 1 :])
        if kind == 1 and index + 1 < len(outcome) and outcome[index + 1].asset == entry.asset:
            joined = replace(entry, amount=entry.amount + outcome[index + 1].amount)
            return (*outcome[:index], joined, *outcome[index + 2 :])
        return outcome

    def pair(self) -> Pair:
        """A valid step with up to two things changed."""
        fixed_part = self.fixed_part()
        from_ = self.state(fixed_part)
        fixed_part = self.funded(fixed_part, from_.outcome)
        to = self.successor(fixed_part, from_)
        for _ in range(self.rng.choice((0, 1, 1, 1, 2))):
            if self.rng.random() < 0.3:
                from_ = self.mutated(fixed_part, from_)
            else:
                to = self.mutated(fixed_part, to)
        return Pair(fixed_part, from_, to)

    # --------------------------------------------------------------------------------------------------- mutations

    def mutated(self, fixed_part: FixedPart, state: VariablePart) -> VariablePart:
        """The state with one thing changed."""
        rng = self.rng
        kind = rng.randrange(9)
        if kind == 0:
            return replace(state, turn_num=max(0, min(UINT48_MAX, state.turn_num + rng.choice((-2, -1, 1, 2)))))
        if kind == 1:
            return replace(state, is_final=not state.is_final)
        if kind == 2:
            return replace(state, app_data=self._mutated_data(state.app_data))
        if kind == 3:
            return replace(state, evidence=self._mutated_data(state.evidence))
        outcome = state.outcome
        for _ in range(rng.choice((1, 1, 2))):
            outcome = self.mutated_outcome(fixed_part, outcome)
        return replace(state, outcome=outcome)

    def _mutated_data(self, data: bytes) -> bytes:
        rng = self.rng
        return rng.choice((b"", word(rng.randrange(4)), data + b"\0", data[:-1], bytes(8_192), bytes(8_193)))

    def mutated_outcome(self, fixed_part: FixedPart, outcome: Outcome) -> Outcome:
        """The outcome with one thing changed, or another."""
        if not outcome:
            return self.outcome()
        rng = self.rng
        index = rng.randrange(len(outcome))
        entry = outcome[index]

        def entry_with(**changes: Any) -> Outcome:
            return (*outcome[:index], replace(entry, **changes), *outcome[index + 1 :])

        nowhere = (bytes(32), address_destination(self.domain.adjudicator), channel_id(fixed_part, self.domain))
        variants: tuple[Callable[[], Outcome], ...] = (
            lambda: entry_with(amount=max(0, min(UINT256_MAX, entry.amount + rng.choice((-1, 1))))),
            lambda: entry_with(amount=rng.choice(_AMOUNTS)),
            lambda: entry_with(asset=rng.choice(ASSETS)),
            lambda: entry_with(destination=self.destination()),
            lambda: entry_with(destination=rng.choice(nowhere)),
            lambda: outcome[:index] + outcome[index + 1 :],
            lambda: (*outcome, Allocation(rng.choice(ASSETS), self.destination(), self.amount())),
            lambda: tuple(rng.sample(outcome, len(outcome))),
            lambda: (entry,) * rng.choice((1, MAX_ALLOCATIONS - 1, MAX_ALLOCATIONS, MAX_ALLOCATIONS + 1)),
            lambda: tuple(Allocation(asset, self.destination(), 1) for asset in ASSETS),
            lambda: (),
        )
        return rng.choice(variants)()
