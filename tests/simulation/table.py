"""One channel between an honest player in bad weather and somebody who may be anybody, as a schedule has it: made of
its seed alone, on either ground."""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from forcemove import ETHER, Adjudicator, ChannelSetup, ChooseMove, ManagedChannel, Node, SignedState, open_journal
from forcemove.arena.network import MemoryMessenger
from forcemove.errors import JournalError, LocalError, PassingError
from forcemove.node.assemble import Assembly, assemble
from forcemove.node.errors import ChannelInUse
from forcemove.node.policy import DurationTooShort, NotWorthItsDisputes
from forcemove.protocol.encoding import digest, hash_state
from forcemove.protocol.machine.channel import OVER, Phase
from forcemove.protocol.machine.inputs import ChallengeWanted, ConcludeWanted, MoveChosen
from forcemove.protocol.rules import build_support_proof
from forcemove.store.journal import Journal
from forcemove_games.tic_tac_toe import GAME
from tests.process import memory_journal
from tests.scenarios.story import ALICE, BOB, DEPOSIT, DURATION, KEYS, STAKE, Playground
from tests.simulation.grounds import Ground
from tests.simulation.liars import Fickle, telling
from tests.simulation.weather import LONGEST_FAULT, Weather

__all__ = ["TICK", "Alice", "Table"]

TICKS = 80
TICK = 30
"""Seconds on the chain, and on everybody's clock."""
_AFTER_A_TRANSACTION = 0.15
"""How likely it is that the block of a transaction is undone."""
_FORWARD = 7_200
_BACKWARD = LONGEST_FAULT * TICK
"""Seconds that Alice's clock jumps at most: back by no more than she may be away, since leases are of that clock."""


class Alice:
    """The honest player: a node on a journal in a file, behind the weather. `skew`: by how much her clock is wrong."""

    def __init__(self, table: Table, path: Path) -> None:
        self.table, self.path, self.skew = table, path, 0.0
        self.journal: Journal
        self.node: Node
        self.managed: ManagedChannel
        self.start()

    def clock(self) -> float:
        return self.table.now + self.skew

    def start(self) -> None:
        self.journal = open_journal(str(self.path), owner=secrets.token_bytes(16), clock=self.clock)
        self.table.weather.over(self.journal, self.table.pass_time)
        self.node = Node(self.journal, clock=self.clock)
        self._add()

    def _add(self) -> None:
        while not self._is_added():
            self.table.weather.change()
            self.table.liar.change()
            self.table.pass_time()

    def _is_added(self) -> bool:
        """What is not in the journal yet is new, and of a new channel the chain is asked: an endpoint that lies of
        prices keeps her from beginning. Where her clock has jumped back, the leases of her last process end later."""
        table = self.table
        try:
            self.managed = self.node.add(ChannelSetup(table.assembly, ALICE, table.lines[0], table.choose(0)))
        except (PassingError, ChannelInUse, NotWorthItsDisputes, DurationTooShort):
            return False
        return True

    def die(self) -> None:
        """Her leases end before she is back; her disk is not full at that moment."""
        self.journal.close()
        self.table.pass_time(3)
        self.start()

    def poll(self) -> None:
        with suppress(JournalError):
            self.node.poll()
        if self.managed.id not in self.node.channels:  # her clock has gone past her own lease
            self._add()


class Table:
    """`now`: seconds, of everybody whose clock is right. `is_silent`: whether the other player is away."""

    def __init__(
        self, ground: Ground, playground: Playground, folder: Path, seed: int, *, with_liar: bool = False
    ) -> None:
        """`playground`: made on the ground's chain before that became a ground. `with_liar`: Alice has two endpoints,
        and the one that the weather is over lies besides."""
        self.ground, self.chain, self.random, self.now = ground, ground.chain, Random(seed), 1e6
        self.is_silent = self.was_challenged = False
        self.weather = Weather(ground, self.random)
        self.liar = Fickle(Random(f"liar {seed}"))
        self.assembly, theirs = self._assemble(playground)
        if with_liar:
            self._let_lie(first=bool(seed % 2))
        self.adjudicator = theirs.adjudicator
        self.lines = MemoryMessenger.table(2)
        self.before, self.first_block = self.chain.balance(ALICE.address), ground.height + 1
        self.pass_time()
        self.alice = Alice(self, folder / "alice")
        self._journal = memory_journal()
        self._bob = Node(self._journal, clock=lambda: self.now)
        self._bobs = self._bob.add(ChannelSetup(theirs, BOB, self.lines[1], self.choose(1)))

    def _assemble(self, playground: Playground) -> tuple[Assembly, Assembly]:
        """The same channel as Alice and as Bob see it."""
        through = self.ground.through(self.weather.answer)
        terms: dict[str, Any] = {"stake": STAKE, "deposit": DEPOSIT, "duration": DURATION}
        ours = assemble(through, playground.book, GAME, [key.address for key in KEYS], **terms)
        return ours, replace(ours, adjudicator=Adjudicator(self.chain, ours.adjudicator.address))

    def _let_lie(self, *, first: bool) -> None:
        address = self.assembly.adjudicator.address
        lying = Adjudicator(self.ground.through(telling(self.weather.answer, self.liar)), address)
        honest = Adjudicator(self.ground.through(self.ground.ask), address)
        one, other = (lying, honest) if first else (honest, lying)
        self.assembly = replace(self.assembly, adjudicator=one, others=(other,))

    def choose(self, seat: int) -> Any:
        bot = GAME.bot(seat)

        def chosen(question: ChooseMove) -> MoveChosen | ConcludeWanted:
            move = bot.move(question.state, another_round=question.state.turn_num < 60)
            return ConcludeWanted() if move is None else MoveChosen(*move)

        return chosen

    def pass_time(self, ticks: int = 1) -> None:
        for _ in range(ticks):
            self.now += TICK
            self.ground.mine(TICK)

    def poll(self) -> None:
        self.alice.poll()
        if not self.is_silent:
            self._bob.poll()

    # ------------------------------------------------------------------------------------------------------ the weather

    def storm(self) -> None:
        """All the ticks of the schedule."""
        for _ in range(TICKS):
            self.weather.change()
            self.liar.change()
            self._happen()
            self.poll()
            self.pass_time()

    def _happen(self) -> None:
        if self.ground.has_transactions() and self.random.random() < _AFTER_A_TRANSACTION:
            self.reorganise(self.random.randint(1, 2), again=0.8)
        chance = self.random.random()
        if chance < 0.04 and not self.weather.has("full"):
            self.alice.die()
        elif chance < 0.06:
            self.weather.replace_the_endpoint()
        elif chance < 0.08:
            self.reorganise(self.random.randint(1, 3), again=0.8)
        elif chance < 0.10:
            self.ground.forget()
        elif chance < 0.13:
            self.challenge_with_old_states()
        elif chance < 0.15:
            self.is_silent = not self.is_silent
        elif chance < 0.17:
            self.alice.skew += self.random.uniform(-_BACKWARD, _FORWARD)

    def reorganise(self, blocks: int, *, again: float) -> None:
        """Without the newest blocks; what was in them waits again, each with this likelihood."""
        blocks = min(blocks, self.ground.height - self.first_block)
        gone = self.ground.undo(blocks)
        for each in gone:
            if self.random.random() < again:
                self.ground.again(each)
        for _ in range(blocks + 1):
            self.ground.mine(1)

    def challenge_with_old_states(self) -> None:
        """With the opening's, which both have signed."""
        channel = self._bobs.channel
        if channel.next_turn < 6 or channel.phase(self.chain.now()) is not Phase.PLAYING:
            return
        fixed_part = self.assembly.agreement.fixed_part
        proof = build_support_proof(fixed_part, [self._opening(turn) for turn in (2, 3)])
        assert proof is not None
        with suppress(Exception):  # the chain may know of something newer
            self.chain.broadcast(self.adjudicator.sign(self.adjudicator.challenge(fixed_part, proof), BOB))
            self.was_challenged = True

    def _opening(self, turn: int) -> SignedState:
        state = self.assembly.agreement.setup_state(turn)
        to_sign = digest(self.assembly.agreement.domain, hash_state(self.assembly.agreement.channel_id, state).state)
        return SignedState(state, {turn % 2: KEYS[turn % 2].sign(to_sign)})

    # ------------------------------------------------------------------------------------------------------- afterwards

    def clear_up(self) -> None:
        """The weather is fine again, and the game comes to its end; Alice does not wait forever."""
        self.weather.calm()
        self.liar.be_honest()
        for tick in range(600):
            self.poll()
            managed = self.alice.managed
            if self._is_over(managed):
                return
            if tick % 20 == 19 and managed.phase not in OVER:
                with suppress(LocalError):
                    managed.feed(ChallengeWanted())
            self.pass_time()
        raise AssertionError(f"it never ends: {self.alice.managed.phase} {self.alice.managed.error}")

    def _is_over(self, managed: ManagedChannel) -> bool:
        """What Bob has never paid in cannot be paid out, and where nobody has paid in anything nothing is due."""
        is_empty = not any(held for _, held in managed.channel.holdings)
        nobody_came = managed.phase is Phase.PREFUND and self.is_silent
        return managed.phase is Phase.CLOSED or (managed.phase is Phase.FINALIZED and is_empty) or nobody_came

    def require_paid(self) -> None:
        """Alice has what the newest state says, less her gas; and nothing is left."""
        newest = self.alice.managed.channel.newest
        spent = self.ground.gas_paid(ALICE.address, self.first_block)
        paid = self.chain.balance(ALICE.address) - self.before + spent + DEPOSIT
        if newest is None or newest.state.turn_num < 2:
            assert paid == DEPOSIT
            return
        assert paid >= newest.state.outcome[0].amount
        assert self.adjudicator.holdings_of(self.assembly.agreement.channel_id, ETHER, 0).amount == 0

    def close(self) -> None:
        self.alice.journal.close()
        self._journal.close()
