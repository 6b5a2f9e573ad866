"""The cost of a node: a turn with a journal over one without, many idle channels over few, and requests.

Nodes run on SQLite files, and on the tests' node in memory, whose requests are counted, or on an anvil.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from typing import Any

from coincurve import PrivateKey

from forcemove import Assembly, Chain, Channel, MemoryMessenger, Node, Phase, assemble
from forcemove.chain.local import AnvilChain
from forcemove.node.policy import Policy
from forcemove.protocol.encoding import digest
from forcemove_games.rock_paper_scissors import GAME
from scripts.measuring import cases
from scripts.measuring.processes import drive, journal_at
from scripts.measuring.signing import bare_recover, bare_sign, recoverable
from tests.scenarios.story import Playground
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint

TOGETHER = 100
_FIRST = cases.OPENED + 1
"""The turn that is made as soon as a channel is open."""
_IN_MEMORY = 10
_PRIVATE_KEYS = tuple(PrivateKey(key.secret) for key in cases.KEYS)
FEW, MANY = 10, 1_000


@dataclass
class Nodes:
    """Alice's and Bob's nodes, with the same channels."""

    assemblies: list[Assembly]
    nodes: list[Node]
    bots: cases.Bots = field(default_factory=lambda: cases.Bots(_FIRST))

    def open(self, lines: Sequence[tuple[MemoryMessenger, ...]]) -> None:
        """Open all channels, until every one is funded."""
        for seat, node in enumerate(self.nodes):
            for assembly, table in zip(self.assemblies, lines, strict=True):
                chooser = self.bots.chooser(seat, assembly.agreement.channel_id)
                drive(node, assembly, cases.KEYS[seat], messenger=table[seat], choose=chooser, max_cost=10**18)
        while sum(node.poll() for node in self.nodes) or not all(map(_is_funded, self.nodes)):
            pass

    def begin(self, turns: int) -> None:
        """Make the first move in every channel, of this many turns that are to be played."""
        self.bots.until = _FIRST + turns
        for node in self.nodes:
            for driven in node.channels.values():
                chooser = self.bots.chooser(driven.channel.index, driven.channel.agreement.channel_id)
                cases.go_on(driven.channel, chooser, driven.feed)

    @property
    def turns(self) -> int:
        """All turns of all channels, as Alice knows them."""
        return sum(each.channel.next_turn for each in self.nodes[0].channels.values())


def _is_funded(node: Node) -> bool:
    """Whether all its channels are played: deposits that the chain has not taken yet cost it more than idle ones."""
    return all(each.phase is Phase.PLAYING for each in node.channels.values())


@contextmanager
def opened(count: int, chain: Chain, *others: Chain, turns: int = 0) -> Iterator[Nodes]:
    """This many channels, open and funded. `others`: the same chain through other endpoints. `turns`: how many are to
    be played with moves that are there before."""
    book = Playground.on(chain).book
    terms: dict[str, Any] = {"stake": 1, "deposit": 10**15, "duration": 86_400, "others": others}
    assemblies = [assemble(chain, book, GAME, cases.ADDRESSES, **terms) for _ in range(count)]
    with TemporaryDirectory() as folder, ExitStack() as stack:
        journals = [stack.enter_context(journal_at(folder, str(seat))) for seat in range(2)]
        nodes = Nodes(assemblies, [Node(journal, policy=Policy(multiple=0)) for journal in journals])
        for each in assemblies if turns else ():
            nodes.bots.ready[each.agreement.channel_id] = (table := cases.Table(each.agreement)).moves
            table.play(_FIRST + turns)
        nodes.open([MemoryMessenger.table(2) for _ in range(count)])
        yield nodes


# ------------------------------------------------------------------------------------------------------------ the turns


@cases.case(
    cases.Row("durable_turn_ratio", "x", "a turn of one of 100 channels, on disk before it is sent / in memory", 1.9),
    cases.Row(
        "durable_turn_bare_ratio", "x", "the same, what both sides do / the turn's bare signature and recovery", 4
    ),
)
def turns(rounds: int = 25) -> cases.Measured:
    """A turn of one of a hundred channels with a journal, over one in memory, and over its bare signature and recovery.

    What a player thinks is in the first comparison on both sides. In the second the moves are there, as in
    `turn_ratio`; a round has two turns of each channel.
    """
    with opened(TOGETHER, MemoryChain()) as nodes:
        before = nodes.turns
        nodes.begin(2 * rounds)
        durable = cases.timed(lambda: _play_all(nodes)) / (nodes.turns - before)
        ratio = durable / _turn_in_memory(nodes.assemblies[0], _FIRST + 2 * rounds)
    with opened(TOGETHER, MemoryChain(), turns=2 * (rounds + 1)) as nodes:
        nodes.begin(2 * (rounds + 1))
        play_two_turns(nodes)
        return {"durable_turn_ratio": ratio, **cases.medians(rounds, lambda: _bare_ratio(nodes))}


def _play_all(nodes: Nodes) -> None:
    while sum(node.step() for node in nodes.nodes):
        pass


def play_two_turns(nodes: Nodes) -> None:
    """Two turns of each channel, on disk."""
    for node in nodes.nodes:
        node.step()


def _bare_ratio(nodes: Nodes) -> cases.Measured:
    before = nodes.turns
    durable = cases.timed(lambda: play_two_turns(nodes))
    cases.require(nodes.turns - before == 2 * TOGETHER, "not every channel has played two turns")
    ready = [each for driven in nodes.nodes[0].channels.values() for each in signed_last(driven.channel)]
    bare = cases.timed(
        lambda: [(bare_sign(secret, digest_), bare_recover(digest_, ours)) for secret, digest_, ours in ready]
    )
    return {"durable_turn_bare_ratio": durable / bare}


def signed_last(channel: Channel) -> list[tuple[PrivateKey, bytes, bytes]]:
    """The keys, digests and signatures of the last two turns."""
    found = []
    for each in channel.accepted[-2:]:
        ((seat, signature),) = each.signed.signatures.items()
        found.append((_PRIVATE_KEYS[seat], digest(channel.agreement.domain, each.hashes.state), recoverable(signature)))
    return found


def _turn_in_memory(assembly: Assembly, until: int) -> float:
    """Seconds of a turn of the machine alone, with the same messages, for a channel of the same players."""
    seconds, turns = 0.0, 0
    for _ in range(_IN_MEMORY):
        table = cases.Table(assembly.agreement)
        before = table.channels[0].next_turn
        seconds += cases.timed(lambda: table.play(until))  # noqa: B023  # is called at once
        turns += table.channels[0].next_turn - before
    return seconds / turns


# -------------------------------------------------------------------------------------------------------- idle channels


@cases.case(cases.Row("channel_cost_growth", "x", "a node's CPU time for a block, 1,000 idle channels / 10", 2))
def growth(rounds: int = 31) -> cases.Measured:
    """A new block for a node with a thousand idle channels, over one with ten: this process's CPU time, medians."""
    with AnvilChain() as chain, opened(FEW, chain) as few, opened(MANY, chain) as many:

        def block() -> cases.Measured:
            chain.rpc.ask("evm_mine")
            return {
                "few": cases.timed(few.nodes[0].poll, time.process_time),
                "many": cases.timed(many.nodes[0].poll, time.process_time),
            }

        costs = cases.medians(rounds, block)
    return {"channel_cost_growth": costs["many"] / costs["few"]}


@cases.case(
    cases.Row("requests_per_block", "", "of a node with 1,000 idle channels", 4),
    cases.Row("requests_per_block_of_two", "", "the same with two endpoints, to both together", 8),
    cases.Row("requests_per_turn", "", "of two nodes that play one channel on a quiet chain", 0.2),
)
def node_requests(channels: int = MANY) -> cases.Measured:
    """Requests of nodes: for a block, and for a turn while no block is made."""
    return {
        "requests_per_block": requests_per_block(1, channels),
        "requests_per_block_of_two": requests_per_block(2, channels),
        "requests_per_turn": _requests_per_turn(),
    }


def requests_per_block(endpoints: int, channels: int) -> float:
    """The requests of a node with idle channels, to all its endpoints together."""
    node = MemoryChain().node
    asked = [Endpoint(node) for _ in range(endpoints)]
    with opened(channels, *map(MemoryChain, asked)) as nodes:
        node.mine()
        for each in asked:
            each.counts.clear()
        nodes.nodes[0].poll()
        return float(sum(each.counts.total() for each in asked))


def _requests_per_turn() -> float:
    """Of two nodes that run by themselves."""
    endpoint = Endpoint(MemoryChain().node)
    with opened(1, MemoryChain(endpoint)) as nodes:
        before = nodes.turns
        nodes.begin(40)
        endpoint.counts.clear()
        asyncio.run(_run(nodes, before + 40))
        return sum(endpoint.counts.values()) / (nodes.turns - before)


async def _run(nodes: Nodes, turns: int) -> None:
    tasks = [asyncio.create_task(node.run()) for node in nodes.nodes]
    while nodes.turns < turns:
        await asyncio.sleep(0.01)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
