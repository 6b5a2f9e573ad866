"""Two honest players who may both send what clears a challenge: hole 35. The one whose turn it was acts, and the other
one only where a block and a half have gone by without it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import pytest

from forcemove import ChannelSetup, ManagedChannel, MemoryMessenger, Node, Phase, assemble
from forcemove.chain.rpc import as_number
from forcemove.node.events import Event, Mined, SubmissionRefused
from forcemove.protocol.machine.effects import ChooseMove, SubmitRespond
from forcemove.protocol.machine.inputs import ChallengeWanted, ConcludeWanted, MoveChosen
from forcemove_games.tic_tac_toe import GAME
from tests.expected import known
from tests.process import memory_journal
from tests.sampled import with_sample
from tests.scenarios.story import DEPOSIT, DURATION, KEYS, STAKE, Playground
from tests.simulation.chain import MemoryChain
from tests.simulation.grounds import MemoryGround

TICKS = 4
"""To a block, which takes a second of everybody's clock, as on a chain that people run for themselves."""
SEEDS = with_sample(range(20), range(6))
LONG_ENOUGH = 400
TURN = 6
"""At which whose turn it is keeps still until it is challenged."""


class Duel:
    """`now`: seconds, of both clocks. `away`: the seats whose machines are off. `events`: with the seat that is told
    them."""

    def __init__(self, seed: int) -> None:
        self.chain = chain = MemoryChain()
        playground = Playground.on(chain)
        self.ground, self.random, self.now, self.away = MemoryGround(chain), Random(seed), 1e6, set[int]()
        self.events: list[tuple[int, Event]] = []
        addresses = [key.address for key in KEYS]
        terms: dict[str, Any] = {"stake": STAKE, "deposit": DEPOSIT, "duration": DURATION}
        self.assembly = assemble(chain, playground.book, GAME, addresses, **terms)
        self.lines, self.stops_at = MemoryMessenger.table(2), TURN
        self.nodes = [Node(memory_journal(), clock=self.clock) for _ in KEYS]
        self.seats = [self._add(seat) for seat in range(2)]

    def clock(self) -> float:
        return self.now

    def _add(self, seat: int) -> ManagedChannel:
        bot = GAME.bot(seat)

        def choose(question: ChooseMove) -> MoveChosen | ConcludeWanted | None:
            if question.state.turn_num >= self.stops_at:
                return None
            move = bot.move(question.state, another_round=question.state.turn_num < TURN + 4)
            return ConcludeWanted() if move is None else MoveChosen(*move)

        report = partial(self._take_down, seat)
        return self.nodes[seat].add(ChannelSetup(self.assembly, KEYS[seat], self.lines[seat], choose, on_event=report))

    def _take_down(self, seat: int, event: Event) -> None:
        self.events.append((seat, event))

    def until(self, condition: Callable[[], bool]) -> None:
        """Tick by tick; who looks first is left to chance."""
        for tick in range(LONG_ENOUGH):
            for seat in self.random.sample(range(2), 2):
                if seat not in self.away:
                    self.nodes[seat].poll()
            if condition():
                return
            self.now += 1 / TICKS
            if tick % TICKS == 0:
                self.ground.mine(0)
        raise AssertionError(f"it never comes to that: {[each.phase for each in self.seats]}")

    def challenge(self) -> int:
        """Whose turn it was not, has challenged, and the other one has seen it and will answer; the seat of that."""
        self.until(lambda: all(each.channel.next_turn == TURN + 1 for each in self.seats))
        mover = (TURN + 1) % 2
        self.seats[1 - mover].feed(ChallengeWanted())
        self.until(lambda: all(each.phase is Phase.CHALLENGED for each in self.seats))
        self.stops_at = LONG_ENOUGH
        bot = GAME.bot(mover)
        newest = known(self.seats[mover].channel.newest)
        move = known(bot.move(newest.state, another_round=True))
        self.seats[mover].feed(MoveChosen(*move))
        return mover

    def reverted(self) -> int:
        """Transactions that were paid for in vain."""
        receipts = [
            self.ground.ask("eth_getTransactionReceipt", "0x" + transaction.hash.hex())
            for block in self.chain.node.blocks
            for transaction in block.transactions
        ]
        return sum(as_number(receipt["status"]) == 0 for receipt in receipts)

    def answered_by(self) -> list[int]:
        """The seats whose answers were mined."""
        return [
            seat
            for seat, event in self.events
            if isinstance(event, Mined) and isinstance(event.submission, SubmitRespond)
        ]


@pytest.mark.parametrize("seed", SEEDS)
def test_two_honest_players_do_not_race(seed: int) -> None:
    """Both hold the answer to a challenge; it is sent once, and nothing is paid for in vain until the end."""
    duel = Duel(seed)
    mover = duel.challenge()
    duel.until(lambda: all(each.phase is Phase.CLOSED for each in duel.seats))
    assert duel.answered_by() == [mover]
    assert duel.reverted() == 0
    assert not [event for _, event in duel.events if isinstance(event, SubmissionRefused)]


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_the_other_one_acts_where_the_first_is_dead(seed: int) -> None:
    """Anyone who had to answer has said its move, and has fallen over before its transaction left."""
    duel = Duel(seed)
    mover = duel.challenge()
    duel.nodes[mover].poll()
    duel.ground.forget()
    duel.away.add(mover)
    begun = duel.now
    duel.until(lambda: bool(duel.answered_by()))
    assert duel.answered_by() == [1 - mover]
    assert 1.5 <= duel.now - begun <= 3.5  # a block and a half, and until the next two are there
    assert duel.reverted() == 0
