"""Whatever anybody does in whatever order: money adds up, records rise, tombstones stay, and of answering and paying
there is always exactly one.

Every operation runs on the bytecode and on the model (`World`), so both keep the invariants, or neither.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from forcemove.protocol.encoding import digest, hash_state
from forcemove.protocol.types import SupportProof, VariablePart
from forcemove.protocol.words import Mode, Status
from tests.parity.core_actor import Actor
from tests.parity.core_verdict import Verdict
from tests.parity.core_world import PEOPLE, World, cached_signature
from tests.protocol.builders import players

randoms = st.randoms(use_true_random=False)


class Histories(RuleBasedStateMachine):
    """Honest and hostile callers, recipients and tokens."""

    world: World
    actor: Actor

    @initialize(rng=randoms, blacklists=st.booleans())
    def begin(self, rng: Random, blacklists: bool) -> None:
        self.world = World()
        self.actor = Actor(rng, self.world)
        self.records: dict[bytes, int] = {}
        self.closed: set[tuple[bytes, bytes]] = set()
        if blacklists:
            self.world.blacklist(PEOPLE[0].address)

    def _does(self, name: str, rng: Random) -> None:
        self.actor.rng = rng
        self.actor.do(name)

    @rule(rng=randoms)
    def deposit(self, rng: Random) -> None:
        self._does("deposit", rng)

    @rule(rng=randoms)
    def challenge(self, rng: Random) -> None:
        self._does("challenge", rng)

    @rule(rng=randoms)
    def respond(self, rng: Random) -> None:
        self._does("respond", rng)

    @rule(rng=randoms)
    def checkpoint(self, rng: Random) -> None:
        self._does("checkpoint", rng)

    @rule(rng=randoms)
    def conclude(self, rng: Random) -> None:
        self._does("conclude", rng)

    @rule(rng=randoms)
    def transfer(self, rng: Random) -> None:
        self._does("transfer", rng)

    @rule(rng=randoms)
    def claim(self, rng: Random) -> None:
        self._does("claim", rng)

    @rule(rng=randoms)
    def wait(self, rng: Random) -> None:
        self.actor.rng = rng
        self.actor.wait()

    # ------------------------------------------------------------------------------------------------- invariants

    @invariant()
    def paid_and_held_and_claimable_is_what_was_deposited(self) -> None:
        model, world = self.world.model, self.world
        for asset, deposited in world.deposited.items():
            held = sum(holdings.amount for (_, of), holdings in model.holdings.items() if of == asset)
            claimable = sum(credit for (_, of), credit in model.credits.items() if of == asset)
            paid = sum(payment.amount for payment in world.paid if payment.asset == asset)
            assert paid + held + claimable == deposited

    @invariant()
    def the_record_never_falls(self) -> None:
        for (id_, _), status in self.world.model.statuses.items():
            assert status.turn_num_record >= self.records.get(id_, 0)
            self.records[id_] = status.turn_num_record

    @invariant()
    def a_tombstone_is_for_ever(self) -> None:
        closed = {key for key, holdings in self.world.model.holdings.items() if holdings.closed}
        assert closed >= self.closed
        self.closed = closed
        assert not {id_ for id_, _ in closed} & {id_ for id_, _ in self.world.model.statuses}

    @invariant()
    def there_is_exactly_one_of_answer_and_payment(self) -> None:
        for index, id_ in enumerate(self.actor.ids):
            status = self.world.model.status_of(id_)
            if status.finalizes_at:
                answered, paid = self._answer(index, status), self._payment(index)
                finalized = status.mode(self.world.now) is Mode.FINALIZED
                assert (answered, paid) == (("ChannelFinalized", "") if finalized else ("", "ChannelNotFinalized"))

    def _answer(self, index: int, status: Status) -> str:
        """What a later state gets that everybody has signed."""
        channel, id_ = self.actor.channels[index], self.actor.ids[index]
        outcome = self.actor.menus[index][0]
        later = VariablePart(outcome, b"later", status.turn_num_record + 1)
        hashed = digest(self.world.domain, hash_state(id_, later).state)
        signatures = tuple(cached_signature(key, hashed) for key in players(len(channel.participants)))
        return self._trial(
            lambda: self.world.checkpoint(PEOPLE[0].address, channel, SupportProof((later,), signatures, 0))
        )

    def _payment(self, index: int) -> str:
        id_ = self.actor.ids[index]
        return self._trial(lambda: self.world.transfer(PEOPLE[0].address, id_, *self.actor.owed[id_]))

    def _trial(self, operation: Callable[[], Verdict]) -> str:
        """What an operation would get; nothing has happened afterwards."""
        with self.world.trial():
            return operation().error


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=settings().max_examples // 2, stateful_step_count=30)
