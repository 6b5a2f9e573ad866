"""A node, and a watchtower, that ask endpoints of which some lie, while a counterparty's stale challenge runs. On a
chain in this process, by a clock of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from forcemove.node.assemble import reassemble
from forcemove.node.events import Sent
from forcemove.protocol.machine.channel import Phase
from forcemove.protocol.rules import build_support_proof
from forcemove.sender.sender import Sender
from forcemove_games.tic_tac_toe import GAME
from tests.expected import known
from tests.liars.proxy import Tell
from tests.node.test_node import House
from tests.scenarios.story import ALICE, BOB, DEPOSIT, Playground, Story
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint
from tests.simulation.liars import telling
from tests.simulation.node import MemoryNode
from tests.watchtower.keeper import ETHER, TOWER, Keeper, stale

__all__ = ["BLOCK", "AmongLiars", "LAST", "NodeAmongLiars", "TowerAmongLiars", "honest"]

BLOCK = 12
"""Seconds, on the chain and on everybody's clock."""
LAST = 7
"""The newest turn before the challenge."""
_LONG_ENOUGH = 400
_BASE_FEE = 10**9
"""Wei: as much as an honest tip. Where prices are low, a tip that is too high costs most."""


def honest(ask: Any, method: str, *params: Any) -> Any:
    """What the node itself says."""
    return ask(method, *params)


class _Liars:
    """The endpoints of one node, each of which tells what it tells."""

    def __init__(self, node: MemoryNode, tells: Sequence[Tell], make: Callable[[str], Endpoint]) -> None:
        self.node, self._tells = node, tells
        self.endpoints = [make(str(number)) for number in range(len(tells))]
        self.chains = [MemoryChain(each) for each in self.endpoints]

    def lie(self) -> None:
        """From now on."""
        for endpoint, tell in zip(self.endpoints, self._tells, strict=True):
            if tell is not honest:
                endpoint.answer = telling(self.node.ask, tell)

    def be_honest(self) -> None:
        """From now on."""
        for each in self.endpoints:
            each.be_honest()


class AmongLiars:
    """`now`: seconds, of everybody's clock. `skew`: seconds by which the system's clock is ahead of the chain's."""

    def __init__(self, node: MemoryNode, tells: Sequence[Tell], monkeypatch: pytest.MonkeyPatch) -> None:
        self.node, self.now, self.skew = node, 0.0, 0
        self.liars = _Liars(node, tells, self.make_endpoint)
        self.first_block = 0
        for part in ("node.workers", "watchtower.budgeted_sender"):
            sender = partial(Sender, clock=lambda: self.now)
            monkeypatch.setattr(f"forcemove.{part}.Sender", sender)
        for part in ("node.workers", "watchtower.tower"):
            # As on a chain whose clock is not moved by hand.
            monkeypatch.setattr(f"forcemove.{part}.own_clock", lambda _: lambda: node.next_time + self.skew)

    def make_endpoint(self, name: str) -> Endpoint:
        """One of those that are asked."""
        return Endpoint(self.node, name)

    def begin(self) -> None:
        """Count gas from here on, mine a block each tick, and lie."""
        self.first_block, self.node.is_mining = len(self.node.blocks), False
        self.node.base_fee = _BASE_FEE
        self.node.mine()
        self.liars.lie()

    def pass_block(self) -> None:
        """One block, and its time."""
        self.now += BLOCK
        self.node.next_time += BLOCK - 1
        self.node.mine()

    def gas_paid(self, account: bytes) -> int:
        """By this account since `begin`, in wei."""
        mined = [each for block in self.node.blocks[self.first_block :] for each in block.transactions]
        receipts = [
            self.node.ask("eth_getTransactionReceipt", "0x" + e.hash.hex()) for e in mined if e.sender == account
        ]
        return sum(each["gasUsed"] * each["effectiveGasPrice"] for each in receipts)


class NodeAmongLiars(AmongLiars):
    """Alice's node has started again, on endpoints of which some lie; Bob is silent, and has challenged with the
    opening's states. Her player plays on whenever it is asked."""

    def __init__(
        self,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        tells: Sequence[Tell],
        *,
        challenged: bool = True,
        around: Callable[[House], None] = lambda _: None,
    ) -> None:
        """`around`: what is to be as bad as a test wants it from her start on."""
        playground = Playground.on(MemoryChain())
        assert isinstance(playground.chain, MemoryChain)
        super().__init__(playground.chain.node, tells, monkeypatch)
        self.before = [playground.chain.balance(each.address) for each in (ALICE, BOB)]
        self.home = home = House(playground, folder, 1)
        home.stops_at = LAST
        home.play()
        spent = self.gas_paid(ALICE.address), self.gas_paid(BOB.address)
        self.alice, self.bob = home.processes
        self.adjudicator = home.assemblies[0].adjudicator
        around(home)
        self._restart()
        self._spent = spent
        if challenged:
            self.challenge()

    def _restart(self) -> None:
        assembly = self.home.assemblies[0]
        first, *others = self.liars.chains
        self.home.assemblies[0] = reassemble(
            first,
            assembly.agreement,
            GAME,
            from_block=assembly.from_block,
            origin_hash=assembly.origin_hash,
            others=others,
        )
        self.id, self.agreement = assembly.agreement.channel_id, assembly.agreement
        self.begin()
        self.alice.die()
        self.now = self.bob.now = self.alice.now
        self.alice.told.clear()
        self.home.stops_at = 10**6

    def challenge(self) -> None:
        """With the opening's states, in the next block."""
        (driven,) = self.alice.node.channels.values()
        proof = known(build_support_proof(self.agreement.fixed_part, driven.channel.signed_states[:2]))
        operation = self.adjudicator.challenge(self.agreement.fixed_part, proof)
        self.adjudicator.chain.broadcast(self.adjudicator.sign(operation, BOB))
        self.node.mine()

    def tick(self, *, with_bob: bool = False) -> None:
        """A block later everybody looks."""
        self.alice.node.poll()
        if with_bob:
            self.bob.node.poll()
        self.pass_block()
        self.alice.now = self.bob.now = self.now

    @property
    def is_answered(self) -> bool:
        """On the chain as it is."""
        status = self.adjudicator.status_of(self.id, bytes(20))
        return status.finalizes_at == 0 and status.turn_num_record >= LAST

    @property
    def cost(self) -> int:
        """Alice's gas since the challenge, wei."""
        return self.gas_paid(ALICE.address)

    @property
    def charged(self) -> int:
        """She pays herself."""
        return self.cost

    @property
    def signed(self) -> set[tuple[int, bool]]:
        """What Alice has sent away with her signature since she has started again: turns, and whether it was final.
        Never two states for one turn. What is in them is drawn by lot."""
        sent = [
            each.signed.state for each in self.alice.events if isinstance(each, Sent) and 0 in each.signed.signatures
        ]
        assert len(set(sent)) == len({each.turn_num for each in sent})
        return {(each.turn_num, each.is_final) for each in sent}

    @property
    def troubles(self) -> Sequence[Exception]:
        """What Alice's node has told."""
        return self.alice.troubles

    def end(self) -> None:
        """All say the truth, and Bob is back: the channel ends, and each has what is owed, less gas."""
        self.liars.be_honest()
        for _ in range(_LONG_ENOUGH):
            self.tick(with_bob=True)
            if self.alice.phases == self.bob.phases == {Phase.CLOSED}:
                break
        assert [each.phases for each in (self.alice, self.bob)] == [{Phase.CLOSED}] * 2
        self._require_paid()

    def _require_paid(self) -> None:
        (driven,) = self.alice.node.channels.values()
        newest = known(driven.channel.newest)
        for key, before, spent, owed in zip((ALICE, BOB), self.before, self._spent, newest.state.outcome, strict=True):
            gas = spent + self.gas_paid(key.address)
            assert self.adjudicator.chain.balance(key.address) == before - gas - DEPOSIT + owed.amount
        assert self.home.held() == 0

    def close(self) -> None:
        """Its journals."""
        self.home.close()


class TowerAmongLiars(AmongLiars):
    """A tower has started again on endpoints of which some lie; Alice is away, and Bob has challenged with the
    opening's states."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, tells: Sequence[Tell], *, challenged: bool = True
    ) -> None:
        self.story: Story = Playground.on(MemoryChain()).story(GAME)
        self.story.play_until(LAST)
        super().__init__(self.story.chain.node, tells, monkeypatch)  # type: ignore[attr-defined]
        self.keeper = Keeper.of(self.story, folder, *self.liars.chains)
        self.keeper.give_newest(self.story)
        self.begin()
        self.keeper.die()
        self.now = self.keeper.now
        if challenged:
            self.challenge()

    def challenge(self) -> None:
        """With the opening's states, in the next block."""
        story = self.story
        operation = story.adjudicator.challenge(story.agreement.fixed_part, story.proof(stale(story)))
        story.chain.broadcast(story.adjudicator.sign(operation, BOB))
        self.node.mine()

    def tick(self) -> None:
        """A block later it looks."""
        self.keeper.tower.poll()
        self.pass_block()
        self.keeper.now = self.now

    @property
    def is_answered(self) -> bool:
        """On the chain as it is."""
        return self.story.record == (LAST, False)

    @property
    def cost(self) -> int:
        """The tower's gas since the challenge, wei."""
        return self.gas_paid(TOWER.address)

    signed: frozenset[object] = frozenset()
    """A tower has no state to sign."""

    @property
    def troubles(self) -> Sequence[Exception]:
        """What the tower has told."""
        return self.keeper.troubles

    def end(self) -> None:
        """All say the truth: it has answered."""
        self.liars.be_honest()
        for _ in range(_LONG_ENOUGH):
            self.tick()
            if self.is_answered and not self.keeper.is_waiting:
                break
        assert self.is_answered
        for _ in range(10):
            self.tick()

    @property
    def charged(self) -> int:
        """What its client has paid, wei."""
        return ETHER - self.keeper.tower.left(ALICE.address)

    def close(self) -> None:
        """Its journal."""
        self.keeper.close()
