"""A node that is given several endpoints of a chain: while one answers nothing, everything goes through the next."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from forcemove import ChannelSetup, ChooseMove, ConcludeWanted, ManagedChannel, Node, Phase, open_journal
from forcemove.arena.network import MemoryMessenger
from forcemove.chain.chain import Chain
from forcemove.chain.errors import Unreachable
from forcemove.chain.local import AnvilChain, connect
from forcemove.errors import InvalidValue, PassingError
from forcemove.follower.errors import EndpointsDisagree
from forcemove.history.overview import ChainDepth
from forcemove.node.assemble import Assembly, assemble, reassemble
from forcemove.node.policy import ConditionsCache
from forcemove.protocol.rules import build_support_proof
from forcemove.protocol.types import ETHER
from forcemove_games.tic_tac_toe import GAME
from tests.cli.nodes import wait_until
from tests.expected import known
from tests.node.crowded import Endpoint as HttpEndpoint
from tests.node.test_node import House
from tests.scenarios.story import DEPOSIT, DURATION, KEYS, STAKE, Playground
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint


def number_of(chain: Chain) -> int | None:
    """The newest block's, unless the endpoint does not answer in time."""
    with suppress(Unreachable):
        return chain.block_number()
    return None


def leave(question: ChooseMove) -> ConcludeWanted:
    return ConcludeWanted()


class Table:
    """Channels between Alice's node, which has two endpoints, and Bob's, which has one of its own."""

    def __init__(self, folder: Path, channels: int = 1) -> None:
        playground = Playground.on(MemoryChain())
        assert isinstance(playground.chain, MemoryChain)
        self.book = playground.book
        self.endpoints = [Endpoint(playground.chain.node, str(number)) for number in range(2)]
        self.chains = [MemoryChain(each) for each in self.endpoints]
        self.troubles = list[Exception]()
        self.journals = [open_journal(str(folder / str(seat)), owner=secrets.token_bytes(16)) for seat in (0, 1)]
        self.time = 0.0
        self.nodes = [Node(each, on_error=self.troubles.append, clock=lambda: self.time) for each in self.journals]
        self.managed: list[ManagedChannel] = []
        for _ in range(channels):
            bobs, lines = self.assemble(playground), MemoryMessenger.table(2)
            first, *others = self.chains
            alices = reassemble(first, bobs.agreement, GAME, factory=self.book.factory, others=others)
            for node, each, key, line in zip(self.nodes, (alices, bobs), KEYS, lines, strict=True):
                self.managed.append(node.add(ChannelSetup(each, key, line, leave)))

    def assemble(self, playground: Playground) -> Assembly:
        terms: dict[str, Any] = {"stake": STAKE, "deposit": DEPOSIT, "duration": DURATION}
        return assemble(playground.chain, playground.book, GAME, [key.address for key in KEYS], **terms)

    def take_down(self, number: int) -> None:
        def down(method: str, *_: Any) -> Any:
            raise Unreachable(str(number), "down")

        self.endpoints[number].answer = down

    def wait(self, seconds: float) -> None:
        """Look each second for so long, and not at its end."""
        for _ in range(max(int(seconds), 1)):
            for node in self.nodes:
                node.poll()
            self.time += bool(seconds)

    def play(self) -> None:
        for _ in range(60):
            for node in self.nodes:
                node.poll()

    @property
    def phases(self) -> list[Phase]:
        return [each.phase for each in self.managed]

    def close(self) -> None:
        for journal in self.journals:
            journal.close()


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    made = Table(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("down", [(), (0,), (1,)])
def test_threat_46_a_channel_is_played_and_paid_while_an_endpoint_is_down(table: Table, down: tuple[int, ...]) -> None:
    table.nodes[0].poll()
    for each in down:
        table.take_down(each)
    table.wait(31)  # what it might deny is waited for
    table.play()
    assert table.phases == [Phase.CLOSED] * 2
    assert (len(table.troubles) > 0) == bool(down)


def test_that_nobody_has_answered_since_the_start_is_found_out_after_a_while(table: Table) -> None:
    for each in (0, 1):
        table.take_down(each)
    found = list[ChainDepth | None]()
    for seconds in (7, 2):
        table.wait(seconds)
        found.append(table.managed[0].depth)
    before, depth = found[0], known(found[1])
    assert before is None
    assert (depth.answering, depth.silent) == (0, 9)
    assert isinstance(depth.failure, Unreachable)


def test_who_answers_is_counted_and_how_long_nobody_has(table: Table) -> None:
    def shown() -> tuple[int, int]:
        depth = known(table.managed[0].depth)
        return depth.answering, depth.silent

    table.wait(0)
    assert shown() == (2, 0)
    table.take_down(1)
    table.wait(29)
    table.wait(2)
    assert shown() == (1, 0)
    table.take_down(0)
    table.wait(38)
    assert shown() == (0, 38)
    table.endpoints[1].be_honest()
    table.wait(0)
    assert shown() == (1, 0)


def test_nothing_is_paid_in_while_every_endpoint_is_down(table: Table) -> None:
    table.nodes[0].poll()
    table.take_down(0)
    table.take_down(1)
    table.play()
    table.wait(31)
    table.play()
    assert table.phases == [Phase.FUNDING] * 2
    table.endpoints[1].be_honest()
    table.play()
    assert table.phases == [Phase.CLOSED] * 2


@pytest.mark.parametrize("hanging", [0, 1])
def test_threat_46_an_endpoint_that_hangs_for_ever_holds_up_no_other(table: Table, hanging: int) -> None:
    """Not even the end of the process: its thread is left to itself."""
    hangs, asked = threading.Event(), threading.Event()

    def hang(method: str, *_: Any) -> Any:
        asked.set()
        hangs.wait()
        raise Unreachable("hanging", "it is over")

    table.endpoints[hanging].answer, table.endpoints[hanging].is_here = hang, False

    async def run() -> None:
        running = asyncio.create_task(table.nodes[0].run(look_every=0.01))
        while not asked.is_set():
            await asyncio.sleep(0.01)
        table.endpoints[1 - hanging].counts.clear()
        while table.endpoints[1 - hanging].counts.total() < 10:
            await asyncio.sleep(0.01)
        running.cancel()

    asyncio.run(asyncio.wait_for(run(), 30))
    assert not hangs.is_set()
    hangs.set()


def test_threat_46_many_new_channels_wait_for_an_endpoint_that_is_down_as_long_as_one(tmp_path: Path) -> None:
    """Each request may take as long as the endpoint is waited for, and everything else waits behind it."""
    asked = []
    for count in (1, 20):
        (folder := tmp_path / str(count)).mkdir()
        table = Table(folder, count)
        table.take_down(0)
        table.endpoints[0].counts.clear()
        table.nodes[0].poll()
        asked.append(table.endpoints[0].counts.total())
        table.close()
    assert asked[0] == asked[1]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"baseFeePerGas": "0x1"},
        {"baseFeePerGas": "0x1", "number": "soon"},
        {"baseFeePerGas": "0x1", "number": "0x5", "timestamp": "0x5"},
    ],
)
def test_threat_43_a_channel_is_not_begun_on_what_makes_no_sense(tmp_path: Path, fields: dict[str, str]) -> None:
    table = Table(tmp_path)
    new = table.assemble(Playground(table.chains[0], table.book))
    table.nodes[0]._builder._market = ConditionsCache(
        lambda: table.time
    )  # what was read for the first channel has grown old
    table.endpoints[0].replace("eth_getBlockByNumber", lambda _: fields)
    with pytest.raises(PassingError):
        table.nodes[0].add(ChannelSetup(new, KEYS[0], MemoryMessenger(), leave))
    table.endpoints[0].be_honest()
    table.time += 11
    assert table.nodes[0].add(ChannelSetup(new, KEYS[0], MemoryMessenger(), leave)).channel.last_signed is None
    table.close()


def test_threat_46_an_endpoint_that_is_back_is_asked_soon(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shortest challenge that a policy allows lasts a minute, of which a third is for ending the game."""
    pauses, sleep = list[float](), asyncio.sleep

    async def sleeping(seconds: float) -> None:
        pauses.append(seconds)
        await sleep(0.001)

    async def run() -> None:
        running = asyncio.create_task(table.nodes[0].run())
        while len(table.troubles) < 30:
            await sleep(0.01)
        running.cancel()

    monkeypatch.setattr("forcemove.node.node.asyncio.sleep", sleeping)
    monkeypatch.setattr("random.uniform", lambda _, most: most)
    table.take_down(0)
    table.take_down(1)
    asyncio.run(asyncio.wait_for(run(), 30))
    assert 2 < max(pauses) <= 5


# ----------------------------------------------------------------------------------------------- what is waited for


def test_threat_46_an_endpoint_that_answers_nothing_is_waited_for_once(anvil: AnvilChain) -> None:
    endpoint = HttpEndpoint(anvil.endpoint)
    chain = connect(endpoint.url, timeout=0.2)
    endpoint.counts.clear()
    endpoint.stall()
    with pytest.raises(Unreachable):
        chain.block_number()
    assert endpoint.counts.total() == 1
    endpoint.flow()
    wait_until(lambda: number_of(chain) == anvil.block_number())  # a busy machine may need longer than we wait
    endpoint.close()


@pytest.mark.parametrize("timeout", [0, -1])
def test_a_timeout_that_allows_no_answer_is_refused(timeout: float) -> None:
    with pytest.raises(InvalidValue):
        connect("http://127.0.0.1:1", timeout=timeout)


# -------------------------------------------------------------------------------------- endpoints that do not agree


@pytest.mark.parametrize("liar", [0, 1])
def test_threat_43_a_challenge_that_one_endpoint_hides_is_answered(tmp_path: Path, liar: int) -> None:
    """It shows another fork, in which there is no challenge; and what it is sent it keeps to itself."""
    playground = Playground.on(MemoryChain())
    home = House(playground, tmp_path, 1)
    home.play(until=7)
    alice, assembly = home.processes[0], home.assemblies[0]
    assert isinstance(playground.chain, MemoryChain)
    node = playground.chain.node
    endpoints = [Endpoint(node, str(number)) for number in range(2)]
    first, *others = map(MemoryChain, endpoints)
    home.assemblies[0] = reassemble(
        first, assembly.agreement, GAME, from_block=assembly.from_block, origin_hash=assembly.origin_hash, others=others
    )
    endpoints[liar].stay_at(playground.chain.block_number(), forks=True)
    alice.die()
    alice.node.poll()
    (managed,) = alice.node.channels.values()
    proof = known(build_support_proof(assembly.agreement.fixed_part, managed.channel.signed_states[:2]))
    assembly.adjudicator.send(assembly.adjudicator.challenge(assembly.agreement.fixed_part, proof), KEYS[1])
    for _ in range(6):
        alice.node.poll()
        node.mine()
    status = assembly.adjudicator.status_of(assembly.agreement.channel_id, ETHER)
    assert (status.finalizes_at, status.turn_num_record) == (0, 7)
    assert any(isinstance(each, EndpointsDisagree) for each in alice.troubles)
    home.close()
