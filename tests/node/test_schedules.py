"""Random weather: endpoints that fail and leave out logs, fees that jump, blocks that are undone, disks that are full,
processes that die, a counterparty that falls silent or challenges with old states. However it comes, an honest player
whose machine is back in time is paid what the newest state says.

A schedule is made of its seed alone. Thirty in the normal run, a thousand under --long.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from forcemove.channel.chain.errors import Unreachable
from forcemove.channel.errors import JournalError, LocalError
from forcemove.channel.node.assemble import assemble
from forcemove.channel.node.driven import Driven
from forcemove.channel.node.memory import MemoryLine
from forcemove.channel.node.node import Node
from forcemove.channel.protocol.channel import OVER, Phase
from forcemove.channel.protocol.effects import ChooseMove
from forcemove.channel.protocol.encoding import digest, hash_state
from forcemove.channel.protocol.inputs import ChallengeWanted, ConcludeWanted, MoveChosen
from forcemove.channel.protocol.rules import build_support_proof
from forcemove.channel.protocol.state import SignedState
from forcemove.channel.store.errors import JournalUnwritable
from forcemove.channel.store.journal import Journal
from forcemove.channel.store.opening import open_journal
from forcemove.channel.store.records import Batch
from forcemove.games.tic_tac_toe import GAME
from tests.scenarios.story import ALICE, BOB, DEPOSIT, DURATION, KEYS, STAKE, Playground
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint

TICKS = 80
TICK = 30
"""Seconds on the chain, and on everybody's clock."""
LONGEST_FAULT = 10
"""Ticks: well within a challenge."""
GWEI = 10**9


class Weather:
    """One endpoint of Alice's that does what the schedule says, a disk that is full when it says so."""

    def __init__(self, chain: MemoryChain, random: Random) -> None:
        self.node, self.random = chain.node, random
        self.endpoint = Endpoint(chain.node)
        self.endpoint.answer = self._answer
        self.is_full = False
        self._until: dict[str, int] = {}
        self.tick = 0

    def has(self, fault: str) -> bool:
        return self._until.get(fault, 0) > self.tick

    def change(self) -> None:
        """Begin a fault now and then; each ends in time."""
        self.tick += 1
        if self.random.random() < 0.15:
            fault = self.random.choice(("down", "flaky", "blind", "full", "dear"))
            self._until[fault] = self.tick + self.random.randint(1, LONGEST_FAULT)
        self.node.base_fee = 40 * GWEI if self.has("dear") else GWEI

    def calm(self) -> None:
        self._until.clear()
        self.node.base_fee = GWEI

    def _answer(self, method: str, *params: Any) -> Any:
        if self.has("down") or (self.has("flaky") and self.random.random() < 0.3):
            raise Unreachable("memory", "bad weather")
        found = self.node.ask(method, *params)
        return [] if method == "eth_getLogs" and self.has("blind") else found


class Alice:
    """The honest player: a node on a journal in a file, behind the weather."""

    def __init__(self, table: Table, path: Path) -> None:
        self.table, self.path = table, path
        self.journal: Journal
        self.node: Node
        self.driven: Driven
        self.start()

    def start(self) -> None:
        table = self.table
        self.journal = open_journal(str(self.path), owner=secrets.token_bytes(16), clock=lambda: table.now)
        commit = self.journal.commit

        def committing(batch: Batch) -> frozenset[bytes]:
            if table.weather.has("full"):
                raise JournalUnwritable(str(self.path), "disk full")
            return commit(batch)

        self.journal.commit = committing  # type: ignore[method-assign]
        self.node = Node(self.journal, clock=lambda: table.now)
        while not self._is_added():
            table.weather.change()
            table.pass_time()

    def _is_added(self) -> bool:
        """What is not in the journal yet is new, and of a new channel the chain is asked."""
        table = self.table
        try:
            self.driven = self.node.add(table.assembly, ALICE, table.lines[0], table.choose(0))
        except Unreachable:
            return False
        return True

    def die(self) -> None:
        """Its leases end before it is back; its disk is not full at that moment."""
        self.journal.close()
        self.table.pass_time(3)
        self.start()

    def poll(self) -> None:
        with suppress(JournalError):
            self.node.poll()


class Table:
    """One channel between Alice and somebody who may be anybody."""

    def __init__(self, playground: Playground, folder: Path, seed: int) -> None:
        assert isinstance(playground.chain, MemoryChain)
        self.chain, self.random, self.now = playground.chain, Random(seed), 0.0
        self.chain.node.is_mining = False
        self.weather = Weather(self.chain, self.random)
        through = Playground(MemoryChain(self.weather.endpoint), playground.book)
        addresses = [key.address for key in KEYS]
        terms: dict[str, Any] = {"stake": STAKE, "deposit": DEPOSIT, "duration": DURATION}
        self.assembly = assemble(through.chain, playground.book, GAME, addresses, **terms)
        theirs = type(self.assembly)(
            GAME,
            type(self.assembly.adjudicator)(self.chain, self.assembly.adjudicator.address),
            self.assembly.agreement,
            from_block=self.assembly.from_block,
        )
        self.lines = MemoryLine.table(2)
        self.before = self.chain.balance(ALICE.address)
        self.first_block = len(self.chain.node.blocks)
        self.alice = Alice(self, folder / "alice")
        self.journal = open_journal(":memory:", owner=secrets.token_bytes(16))
        self.bob = Node(self.journal, clock=lambda: self.now)
        self.bobs = self.bob.add(theirs, BOB, self.lines[1], self.choose(1))
        self.is_silent = False

    def choose(self, seat: int) -> Any:
        bot = GAME.bot(seat)

        def chosen(question: ChooseMove) -> MoveChosen | ConcludeWanted:
            move = bot.move(question.state, another_round=question.state.turn_num < 60)
            return ConcludeWanted() if move is None else MoveChosen(*move)

        return chosen

    def pass_time(self, ticks: int = 1) -> None:
        for _ in range(ticks):
            self.now += TICK
            self.chain.node.next_time += TICK
            self.chain.node.mine()

    # ------------------------------------------------------------------------------------------------------ the weather

    def storm(self) -> None:
        """All the ticks of the schedule."""
        for _ in range(TICKS):
            self.weather.change()
            self._happen()
            self.alice.poll()
            if not self.is_silent:
                self.bob.poll()
            self.pass_time()

    def _happen(self) -> None:
        chance = self.random.random()
        if chance < 0.04 and not self.weather.has("full"):
            self.alice.die()
        elif chance < 0.08:
            self._reorganise()
        elif chance < 0.10:
            self.chain.node.waiting.clear()
        elif chance < 0.13:
            self.challenge_with_old_states()
        elif chance < 0.15:
            self.is_silent = not self.is_silent

    def _reorganise(self) -> None:
        """At most three blocks; most of what was in them waits again."""
        node = self.chain.node
        height = max(len(node.blocks) - 1 - self.random.randint(1, 3), self.first_block)
        back = len(node.blocks) - 1 - height
        gone = node.revert_to(height)
        node.waiting += [each for each in gone if self.random.random() < 0.8]
        for _ in range(back + 1):
            node.mine()

    def challenge_with_old_states(self) -> None:
        """With the opening's, which both have signed."""
        channel = self.bobs.channel
        if channel.next_turn < 6 or channel.phase(self.chain.now()) is not Phase.PLAYING:
            return
        agreement, adjudicator = self.assembly.agreement, self.bobs.performer._adjudicator
        proof = build_support_proof(agreement.fixed_part, [self._opening(turn) for turn in (2, 3)])
        assert proof is not None
        with suppress(Exception):  # the chain may know of something newer
            adjudicator.chain.broadcast(adjudicator.sign(adjudicator.challenge(agreement.fixed_part, proof), BOB))

    def _opening(self, turn: int) -> SignedState:
        state = self.assembly.agreement.setup_state(turn)
        to_sign = digest(self.assembly.agreement.domain, hash_state(self.assembly.agreement.channel_id, state).state)
        return SignedState(state, {turn % 2: KEYS[turn % 2].sign(to_sign)})

    # ------------------------------------------------------------------------------------------------------- afterwards

    def clear_up(self) -> None:
        """The weather is fine again, and the game comes to its end; Alice does not wait for ever."""
        self.weather.calm()
        for tick in range(600):
            self.alice.poll()
            if not self.is_silent:
                self.bob.poll()
            driven = self.alice.driven
            is_empty = not any(held for _, held in driven.channel.holdings)
            if driven.phase is Phase.CLOSED or (driven.phase is Phase.FINALIZED and is_empty):
                return  # what Bob has never paid in cannot be paid out
            if driven.phase is Phase.PREFUND and self.is_silent:
                return  # nobody has paid in anything
            if tick % 20 == 19 and driven.phase not in OVER:
                with suppress(LocalError):
                    driven.feed(ChallengeWanted())
            self.pass_time()
        raise AssertionError(f"it never ends: {self.alice.driven.phase} {self.alice.driven.trouble}")

    def require_paid(self) -> None:
        """Alice has what the newest state says, less her gas; and nothing is left."""
        driven = self.alice.driven
        newest = driven.channel.newest
        paid = self.chain.balance(ALICE.address) - self.before + self._gas() + DEPOSIT
        if newest is None or newest.state.turn_num < 2:
            assert paid == DEPOSIT
            return
        assert paid >= newest.state.outcome[0].amount
        held = self.bobs.performer._adjudicator.holdings_of(self.assembly.agreement.channel_id, bytes(20)).held
        assert held == 0

    def _gas(self) -> int:
        node, total = self.chain.node, 0
        for block in node.blocks[self.first_block :]:
            for each in block.transactions:
                if each.sender == ALICE.address:
                    receipt = node.ask("eth_getTransactionReceipt", "0x" + each.hash.hex())
                    total += receipt["gasUsed"] * receipt["effectiveGasPrice"]
        return total

    def close(self) -> None:
        self.alice.journal.close()
        self.journal.close()


@pytest.fixture
def table(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Table]:
    made = Table(Playground.on(MemoryChain()), tmp_path, request.param)
    yield made
    made.close()


SEEDS = [seed if seed < 30 else pytest.param(seed, marks=pytest.mark.long) for seed in range(1000)]


@pytest.mark.parametrize("table", SEEDS, indirect=True, ids=lambda seed: f"seed {seed}")
def test_in_any_weather_an_honest_player_is_paid_what_is_owed(table: Table) -> None:
    table.storm()
    table.clear_up()
    table.require_paid()


@pytest.mark.parametrize("table", range(2), indirect=True)
def test_the_loss_of_who_stays_away_beyond_the_clock_is_found(table: Table) -> None:
    """The test can fail: Alice's machine is not back in time."""
    table.weather.calm()
    while table.alice.driven.channel.next_turn < 40:
        table.alice.poll()
        table.bob.poll()
        table.pass_time()
    newest = table.alice.driven.channel.newest
    assert newest is not None
    owed = newest.state.outcome[0].amount
    opening = table.assembly.agreement.outcome[0].amount
    table.challenge_with_old_states()
    table.pass_time(DURATION // TICK + 2)
    table.is_silent = True
    table.clear_up()
    if owed > opening:
        with pytest.raises(AssertionError):
            table.require_paid()
    else:
        assert owed <= opening
