"""A tower on each kind of chain, a real anvil among them: what answers is what the adjudicator takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from forcemove import Agreement, FixedPart, Key, SignedState, VariablePart, address_destination
from forcemove.chain.local import AnvilChain
from forcemove.protocol.types import ETHER as IN_ETHER
from forcemove.watchtower.appointment import Appointment
from tests.chain.world import World, make_world
from tests.protocol.builders import ALICE, COUNTING, DAY, chain, fixed_part, outcome, players, proof, signed, state
from tests.watchtower.keeper import ETHER, SETTINGS, Keeper


class Court:
    """One channel of a world, whose participants are this many, and a tower that serves the last one."""

    def __init__(self, world: World, folder: Path, count: int, keeper: Keeper | None = None) -> None:
        self.world, self.keys = world, players(count)
        self.fixed: FixedPart = new_channel(world, self.keys)
        destinations = tuple(address_destination(key.address) for key in self.keys)
        deposits = ((IN_ETHER, (10,) * count),)
        self.agreement = Agreement(world.domain, self.fixed, destinations, deposits, b"")
        self.outcome = outcome(*[10] * count)
        self.client: Key = self.keys[-1]
        self.keeper = keeper or Keeper(
            str(folder / "tower"),
            [world.adjudicator],
            {world.app: COUNTING},
            served={self.client.address: ETHER // 10},
            settings=SETTINGS,
        )

    def states(self, *turns: int) -> tuple[VariablePart, ...]:
        return chain(*turns, outcome_=self.outcome, num_participants=len(self.keys))

    def signed(self, *turns: int) -> tuple[SignedState, ...]:
        """As play leaves them: each signed by its mover."""
        return tuple(self.by(each, self.keys[each.turn_num % len(self.keys)]) for each in self.states(*turns))

    def by(self, state_: VariablePart, *signers: Key) -> SignedState:
        return signed(state_, *signers, keys=self.keys, fixed=self.fixed, domain=self.world.domain)

    def challenge(self, *turns: int) -> None:
        proven = proof(*self.states(*turns), keys=self.keys, fixed=self.fixed, domain=self.world.domain)
        self.world.adjudicator.send(self.world.adjudicator.challenge(self.fixed, proven), ALICE)

    def give(self, supported: Sequence[SignedState], replies: Sequence[SignedState] = ()) -> None:
        self.keeper.give(Appointment(self.agreement, 0, tuple(supported), tuple(replies)), self.client)

    @property
    def record(self) -> tuple[int, bool]:
        status = self.world.adjudicator.status_of(self.agreement.channel_id, bytes(20))
        return status.turn_num_record, status.finalizes_at != 0


def new_channel(world: World, keys: Sequence[Key]) -> FixedPart:
    return fixed_part(keys, nonce=world.channel().channel_nonce, app=world.app, duration=DAY)


@pytest.fixture
def court(world: World, tmp_path: Path, request: pytest.FixtureRequest) -> object:
    made = Court(world, tmp_path, getattr(request, "param", 2))
    yield made
    made.keeper.close()


@pytest.mark.parametrize("court", [2, 3], indirect=True)
def test_threat_22_a_stale_challenge_is_answered(court: Court) -> None:
    count = len(court.keys)
    court.give(court.signed(*range(12, 12 + count)))
    court.challenge(*range(8, 8 + count))
    court.keeper.rest()
    assert court.record == (11 + count, False)
    assert court.keeper.answers == ["SubmitCheckpoint"]


@pytest.mark.parametrize("court", [2], indirect=True)
def test_a_challenge_is_answered_with_the_next_state(court: Court) -> None:
    court.give(court.signed(10, 11))
    court.challenge(9, 10)
    court.keeper.rest()
    assert (court.record, court.keeper.answers) == ((11, False), ["SubmitRespond"])


@pytest.mark.parametrize("court", [2, 3], indirect=True)
def test_a_finished_channel_is_concluded_in_a_challenge(court: Court) -> None:
    count = len(court.keys)
    final = state(20, court.outcome, is_final=True)
    for seat in range(count):
        operation = court.world.adjudicator.deposit(court.agreement.channel_id, IN_ETHER, 10 * seat, 10)
        court.world.adjudicator.send(operation, ALICE)
    court.give([court.by(final, *court.keys)])
    court.challenge(*range(8, 8 + count))
    court.keeper.rest()
    assert court.keeper.answers == ["SubmitConclude"]
    assert court.world.adjudicator.holdings_of(court.agreement.channel_id, IN_ETHER, 0).closed


@pytest.mark.parametrize("court", [3], indirect=True)
def test_threat_34_what_goes_on_from_the_recorded_state_answers_it(court: Court) -> None:
    """Carol has never seen the predecessors of the state of turn 9: her tower has it from her without a signature."""
    old = court.signed(6, 7, 8)
    nine = SignedState(court.states(9)[0])
    court.give(old, (nine, *court.signed(10, 11)))
    court.challenge(7, 8, 9)
    court.keeper.rest()
    assert (court.record, court.keeper.answers) == ((11, False), ["SubmitCheckpoint"])


@pytest.mark.parametrize("court", [3], indirect=True)
def test_threat_34_a_reply_to_the_recorded_state_answers_it(court: Court) -> None:
    court.give(court.signed(6, 7, 8), (SignedState(court.states(10)[0]), *court.signed(11)))
    court.challenge(8, 9, 10)
    court.keeper.rest()
    assert (court.record, court.keeper.answers) == ((11, False), ["SubmitRespond"])


def test_a_tower_goes_on_after_a_restart(court: Court) -> None:
    court.give(court.signed(12, 13))
    court.keeper.die()
    court.challenge(8, 9)
    court.keeper.rest()
    assert court.record == (13, False)
    spent = ETHER // 10 - court.keeper.tower.left(court.client.address)
    assert 0 < spent < SETTINGS.max_cost
    court.keeper.die()
    assert ETHER // 10 - court.keeper.tower.left(court.client.address) == spent


def test_threat_95_a_clients_sixteen_channels_are_answered_in_one_block(anvil: AnvilChain, tmp_path: Path) -> None:
    """With the budget, and the most for one answer, that `forcemove watch` has by default."""
    world = make_world(anvil)
    courts = [Court(world, tmp_path, 2)]
    courts += [Court(world, tmp_path, 2, courts[0].keeper) for _ in range(15)]
    for each in courts:
        each.give(each.signed(12, 13))
        each.challenge(8, 9)
    anvil.rpc.ask("evm_setAutomine", False)
    try:
        courts[0].keeper.tower.poll()
        anvil.rpc.ask("evm_mine")
    finally:
        anvil.rpc.ask("evm_setAutomine", True)
    assert [each.record for each in courts] == [(13, False)] * 16
    assert courts[0].keeper.troubles == []
    courts[0].keeper.close()
