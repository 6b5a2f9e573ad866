"""The picture of a channel's life: every step in it happens, and no other does, when two clients play all stories."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, pairwise

import pytest
from msgspec.structs import replace

from forcemove import Assembly, ChannelSetup, ChooseMove, Key, MemoryMessenger, Phase, local_keys
from forcemove.arena.local_table import LocalTable, local_table
from forcemove.protocol.machine.inputs import ChallengeWanted, ConcludeWanted, Input, MoveChosen
from forcemove_games.tic_tac_toe import GAME, rules
from scripts.diagrams import LIFE
from tests.process import Process

Edge = tuple[Phase, Phase]


class Seat:
    """A client that makes its moves when the story wants them."""

    def __init__(self, local: LocalTable, index: int, nonce: int, line: MemoryMessenger) -> None:
        adjudicator = local.adjudicator
        self.phases = [Phase.CHECKING]
        self.plays = True
        agreed = local.channels[0].channel.agreement
        agreement = replace(agreed, fixed_part=replace(agreed.fixed_part, channel_nonce=nonce))
        key: Key = local_keys()[index]
        setup = ChannelSetup(Assembly(GAME, adjudicator, agreement), key, line, self._choose, block_time=0)
        self.client = Process(setup)
        self._note_phases()

    def _note_phases(self) -> None:
        """After every input."""
        client, apply = self.client.managed.client, self.client.managed.client.apply

        def noting(input_: Input, now: int) -> None:
            apply(input_, now)
            self.phases.append(client.channel.phase(now))

        client.apply = noting  # type: ignore[method-assign]

    def _choose(self, question: ChooseMove) -> MoveChosen | None:
        return MoveChosen(*rules.legal_moves(question.state)[0]) if self.plays else None

    def move(self) -> None:
        """The move that was not made when it was asked for."""
        newest = self.client.channel.newest
        assert newest is not None
        self.client.feed(MoveChosen(*rules.legal_moves(newest.state)[0]))

    @property
    def steps(self) -> set[Edge]:
        """From which phase to which other the client has gone."""
        return {(before, after) for before, after in pairwise(self.phases) if before is not after}


class Stage:
    """Alice and Bob in one channel."""

    def __init__(self, local: LocalTable, nonce: int) -> None:
        self.lines = MemoryMessenger.table(2)
        self.chain = local.chain
        self.alice, self.bob = (Seat(local, index, nonce, line) for index, line in enumerate(self.lines))

    def poll(self, *seats: Seat) -> None:
        """One poll of each, in this order."""
        for seat in seats:
            seat.client.poll()

    def settle(self, *seats: Seat) -> None:
        """Poll these, or both, until nothing changes any more."""
        while any(seat.client.poll() for seat in seats or (self.alice, self.bob)):
            pass

    def play(self) -> None:
        """Play until it is Bob's turn and Bob makes no move."""
        self.bob.plays = False
        self.settle()
        assert self.alice.client.phase is Phase.PLAYING
        assert self.bob.client.channel.is_our_turn


def concluded(stage: Stage) -> None:
    stage.play()
    stage.bob.client.feed(ConcludeWanted())
    stage.settle()


def left_before_all_had_deposited(stage: Stage) -> None:
    stage.poll(stage.alice, stage.bob, stage.alice)
    for seat in (stage.bob, stage.alice):
        seat.client.feed(ConcludeWanted())
    stage.settle()


def answered(stage: Stage) -> None:
    stage.play()
    stage.alice.client.feed(ChallengeWanted())
    stage.settle()
    stage.bob.move()
    stage.settle()


def answered_with_the_final_state(stage: Stage) -> None:
    stage.play()
    stage.alice.client.feed(ChallengeWanted())
    stage.settle()
    stage.bob.client.feed(ConcludeWanted())
    stage.settle()


def unanswered(stage: Stage) -> None:
    stage.play()
    stage.alice.client.feed(ChallengeWanted())
    stage.settle(stage.alice)
    stage.chain.travel_to(stage.chain.now() + stage.alice.client.channel.agreement.fixed_part.challenge_duration)
    stage.settle(stage.alice)


def challenged_with_the_final_state(stage: Stage) -> None:
    stage.play()
    stage.bob.client.feed(ConcludeWanted())
    stage.bob.client.feed(ChallengeWanted())
    stage.poll(stage.bob)
    stage.settle()


def challenged_with_the_opening(stage: Stage) -> None:
    stage.poll(stage.alice, stage.bob)
    stage.bob.client.feed(ChallengeWanted())
    stage.settle()


def challenged_while_funding(stage: Stage) -> None:
    stage.poll(stage.alice, stage.bob, stage.alice, stage.bob, stage.alice)
    stage.lines[1].receive()  # Alice's confirmation is lost
    stage.bob.client.feed(ChallengeWanted())
    stage.settle()


STORIES = (
    concluded,
    left_before_all_had_deposited,
    answered,
    answered_with_the_final_state,
    unanswered,
    challenged_with_the_final_state,
    challenged_with_the_opening,
    challenged_while_funding,
)


@pytest.fixture(scope="module")
def stages() -> Iterator[Stage]:
    """New channels on one chain."""

    def nobody(question: ChooseMove) -> None:
        raise AssertionError(question)

    local = local_table(GAME, nobody, nobody, stake=10**17)
    return (Stage(local, nonce) for nonce in count(1))


@pytest.mark.virtual_time
async def test_the_picture_of_a_channels_life_is_what_clients_live_through(stages: Iterator[Stage]) -> None:
    lived: dict[Edge, str] = {}
    for story in STORIES:
        stage = next(stages)
        story(stage)
        for step in stage.alice.steps | stage.bob.steps:
            lived.setdefault(step, story.__name__)

    assert lived.keys() == {(step.from_phase, step.to_phase) for step in LIFE}, lived
