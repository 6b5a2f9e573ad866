"""The cost of a node: a turn with a journal over one without, many idle channels over few, and requests.

Nodes run on SQLite files, and on the tests' node in memory, whose requests are counted, or on an anvil.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from coincurve import PrivateKey  # noqa: E402

from forcemove.arena.network import MemoryMessenger  # noqa: E402
from forcemove.chain.chain import Chain  # noqa: E402
from forcemove.chain.local import AnvilChain  # noqa: E402
from forcemove.node.assemble import Assembly, assemble  # noqa: E402
from forcemove.node.node import Node  # noqa: E402
from forcemove.node.policy import Policy  # noqa: E402
from forcemove.node.setup import ChannelSetup  # noqa: E402
from forcemove.protocol.codec.wire import decode_message, encode_message  # noqa: E402
from forcemove.protocol.encoding import digest  # noqa: E402
from forcemove.protocol.machine.channel import Channel, Phase  # noqa: E402
from forcemove.protocol.machine.effects import ChooseMove, Effect, SendState  # noqa: E402
from forcemove.protocol.machine.inputs import ContractsGenuine, HoldingsSeen, Input, MoveChosen  # noqa: E402
from forcemove.protocol.machine.machine import step  # noqa: E402
from forcemove.protocol.types import ETHER  # noqa: E402
from forcemove.store.opening import open_journal  # noqa: E402
from forcemove_games.rock_paper_scissors import GAME  # noqa: E402
from scripts.bare_signing import bare_recover, bare_sign, recoverable  # noqa: E402
from scripts.commit_ratio import timed  # noqa: E402
from tests.scenarios.story import KEYS, Playground  # noqa: E402
from tests.simulation.chain import MemoryChain  # noqa: E402
from tests.simulation.faults import Endpoint  # noqa: E402

__all__ = [
    "begin",
    "channel_cost_growth",
    "durable_turn_bare_ratio",
    "durable_turn_ratio",
    "opened",
    "play_two_turns",
    "requests_per_block",
    "requests_per_block_of_two",
    "requests_per_turn",
    "signed_last",
]

STAKE = 1
DEPOSIT = 10**15
ROUNDS = 25
"""How many turns of each channel are timed."""
TOGETHER = 100
_PRIVATE_KEYS = tuple(PrivateKey(key.secret) for key in KEYS)
FEW, MANY = 10, 1_000
_BLOCKS = 31


@dataclass
class Nodes:
    """Alice's and Bob's nodes, with the same channels. They play to turn `until`; `ready`: by channel and turn, the
    moves that are made without asking a player."""

    assemblies: list[Assembly]
    nodes: list[Node]
    until: int = 4
    ready: dict[bytes, dict[int, MoveChosen]] = field(default_factory=dict)

    def choose(self, seat: int, id_: bytes = b"") -> Callable[[ChooseMove], MoveChosen | None]:
        bot = GAME.bot(seat)

        def chosen(question: ChooseMove) -> MoveChosen | None:
            if question.state.turn_num >= self.until:
                return None
            if id_ in self.ready:
                return self.ready[id_][question.state.turn_num + 1]
            move = bot.move(question.state, another_round=True)
            return None if move is None else MoveChosen(*move)

        return chosen

    def open(self, lines: Sequence[tuple[MemoryMessenger, ...]]) -> None:
        """Open all channels, until every one is funded."""
        for seat, node in enumerate(self.nodes):
            for assembly, table in zip(self.assemblies, lines, strict=True):
                chosen = self.choose(seat, assembly.agreement.channel_id)
                node.add(ChannelSetup(assembly, KEYS[seat], table[seat], chosen, max_cost=10**18))
        while sum(node.poll() for node in self.nodes) or not all(map(_is_funded, self.nodes)):
            pass

    @property
    def turns(self) -> int:
        """All turns of all channels, as Alice knows them."""
        return sum(each.channel.next_turn for each in self.nodes[0].channels.values())


def _is_funded(node: Node) -> bool:
    """Whether all its channels are played: deposits that the chain has not taken yet cost it more than idle ones."""
    return all(each.phase is Phase.PLAYING for each in node.channels.values())


@contextmanager
def opened(count: int, chain: Chain, *others: Chain, turns: int = 0) -> Iterator[Nodes]:
    """So many channels, open and funded. `others`: the same chain through other endpoints. `turns`: how many are to be
    played with moves that are there before."""
    book, addresses = Playground.on(chain).book, [key.address for key in KEYS]
    terms: dict[str, Any] = {"stake": STAKE, "deposit": DEPOSIT, "duration": 86_400, "others": others}
    assemblies = [assemble(chain, book, GAME, addresses, **terms) for _ in range(count)]
    with TemporaryDirectory() as folder:
        journals = [open_journal(str(Path(folder) / str(seat)), owner=os.urandom(16)) for seat in range(2)]
        nodes = Nodes(assemblies, [Node(journal, policy=Policy(multiple=0)) for journal in journals])
        for assembly in assemblies if turns else ():
            nodes.ready[assembly.agreement.channel_id] = _moves(nodes, assembly, turns)
        nodes.open([MemoryMessenger.table(2) for _ in range(count)])
        yield nodes
        for journal in journals:
            journal.close()


def durable_turn_ratio() -> float:
    """The time of a turn of one of a hundred channels, committed to disk and sent, over that of the same turn in
    memory."""
    with opened(TOGETHER, MemoryChain()) as nodes:
        before = nodes.turns
        begin(nodes, 2 * ROUNDS)
        begun = time.perf_counter()
        while sum(node.step() for node in nodes.nodes):
            pass
        durable = (time.perf_counter() - begun) / (nodes.turns - before)
        return durable / _turn_in_memory(nodes)


def durable_turn_bare_ratio(rounds: int = ROUNDS) -> float:
    """The time of a turn of one of a hundred channels, with all that both nodes do for it, over that of one bare
    signature and one bare recovery of the same digests: the median of the rounds, of two turns of each channel. As in
    `turn_ratio`, the moves are there: what a player thinks is not part of a turn."""
    with opened(TOGETHER, MemoryChain(), turns=2 * (rounds + 1)) as nodes:
        begin(nodes, 2 * (rounds + 1))
        play_two_turns(nodes)
        return median(_round(nodes) for _ in range(rounds))


def _moves(nodes: Nodes, assembly: Assembly, turns: int) -> dict[int, MoveChosen]:
    """The moves of bots that have played this many turns of this channel in memory."""
    table = _Table(nodes, assembly)
    nodes.until = 4 + turns
    table.open()
    nodes.until = 4
    return table.moves


def begin(nodes: Nodes, turns: int) -> None:
    """Make the first move in every channel, of this many turns that are to be played."""
    nodes.until = 4 + turns
    for node in nodes.nodes:
        for driven in node.channels.values():
            _move(nodes, driven.channel, driven.feed)


def play_two_turns(nodes: Nodes) -> None:
    """Two turns of each channel, on disk."""
    for node in nodes.nodes:
        node.step()


def _round(nodes: Nodes) -> float:
    before = nodes.turns
    durable = timed(lambda: play_two_turns(nodes))
    if nodes.turns - before != 2 * TOGETHER:
        raise SystemExit("not every channel has played two turns: what was measured is worthless")
    ready = [each for driven in nodes.nodes[0].channels.values() for each in signed_last(driven.channel)]
    bare = timed(lambda: [(bare_sign(secret, digest_), bare_recover(digest_, ours)) for secret, digest_, ours in ready])
    return durable / bare


def signed_last(channel: Channel) -> list[tuple[PrivateKey, bytes, bytes]]:
    """The keys, digests and signatures of the last two turns."""
    found = []
    for each in channel.accepted[-2:]:
        ((seat, signature),) = each.signed.signatures.items()
        found.append((_PRIVATE_KEYS[seat], digest(channel.agreement.domain, each.hashes.state), recoverable(signature)))
    return found


def _move(nodes: Nodes, channel: Channel, feed: Callable[[Input], None]) -> None:
    """Make the move that was kept back."""
    newest = channel.newest
    if newest is None or not channel.is_our_turn:
        return
    move = nodes.choose(channel.index, channel.agreement.channel_id)(ChooseMove(newest.state, None))
    if move is not None:
        feed(move)


def _turn_in_memory(nodes: Nodes) -> float:
    """The machine alone, with the same messages, for a channel of the same players."""
    until, seconds, turns = nodes.until, 0.0, 0
    for _ in range(10):
        table = _Table(nodes, nodes.assemblies[0])
        nodes.until = 4
        table.open()
        nodes.until = until
        begun, before = time.perf_counter(), table.channels[0].next_turn
        table.play()
        seconds += time.perf_counter() - begun
        turns += table.channels[0].next_turn - before
    return seconds / turns


class _Table:
    """One channel of the same players in memory, and the `moves` that were made in it, by turn."""

    def __init__(self, nodes: Nodes, assembly: Assembly) -> None:
        agreement = assembly.agreement
        self.id, self.moves = agreement.channel_id, dict[int, MoveChosen]()
        self.channels = [Channel(agreement, seat) for seat in (0, 1)]
        self.choosers = [nodes.choose(seat) for seat in (0, 1)]
        self.nodes = nodes

    def open(self) -> None:
        for happens in (ContractsGenuine(), HoldingsSeen(ETHER, 2 * DEPOSIT)):
            for seat in (0, 1):
                self.feed(seat, happens)

    def play(self) -> None:
        for seat in (0, 1):
            _move(self.nodes, self.channels[seat], lambda move, seat=seat: self.feed(seat, move))  # type: ignore[misc]

    def feed(self, seat: int, happens: Input) -> None:
        todo: list[tuple[int, Input]] = [(seat, happens)]
        while todo:
            seat, happens = todo.pop(0)
            if isinstance(happens, MoveChosen):
                self.moves[self.channels[seat].next_turn] = happens
            self.channels[seat], effects = step(self.channels[seat], happens, 1, KEYS[seat], GAME)
            todo += [each for effect in effects if (each := self._follow(seat, effect)) is not None]

    def _follow(self, seat: int, effect: Effect) -> tuple[int, Input] | None:
        match effect:
            case SendState(signed):
                return 1 - seat, decode_message(encode_message(self.id, signed))[1]
            case ChooseMove():
                move = self.choosers[seat](effect)
                return None if move is None else (seat, move)
            case _:
                return None


def channel_cost_growth() -> float:
    """The cost of a new block for a node with a thousand idle channels, over that with ten: CPU time of our own
    process, medians."""
    with AnvilChain() as chain, opened(FEW, chain) as few, opened(MANY, chain) as many:
        costs: list[tuple[float, float]] = []
        for _ in range(_BLOCKS):
            chain.rpc.ask("evm_mine")
            costs.append((_block_cost(few), _block_cost(many)))
    return median(cost for _, cost in costs) / median(cost for cost, _ in costs)


def _block_cost(nodes: Nodes) -> float:
    """The cost of one new block."""
    begun = time.process_time()
    nodes.nodes[0].poll()
    return time.process_time() - begun


def requests_per_block(endpoints: int = 1) -> float:
    """The requests of a node with a thousand idle channels, to all its endpoints together."""
    node = MemoryChain().node
    asked = [Endpoint(node) for _ in range(endpoints)]
    with opened(MANY, *map(MemoryChain, asked)) as nodes:
        node.mine()
        for each in asked:
            each.counts.clear()
        nodes.nodes[0].poll()
        return float(sum(each.counts.total() for each in asked))


def requests_per_block_of_two() -> float:
    """The same with two endpoints."""
    return requests_per_block(2)


def requests_per_turn() -> float:
    """The requests of two nodes that run by themselves and play one channel, while no block is made."""
    endpoint = Endpoint(MemoryChain().node)
    with opened(1, MemoryChain(endpoint)) as nodes:
        before = nodes.turns
        nodes.until = 4 + 40
        for node in nodes.nodes:
            for driven in node.channels.values():
                _move(nodes, driven.channel, driven.feed)
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


if __name__ == "__main__":
    rows = (
        durable_turn_ratio,
        durable_turn_bare_ratio,
        channel_cost_growth,
        requests_per_block,
        requests_per_block_of_two,
        requests_per_turn,
    )
    for row in rows:
        print(f"{row.__name__:26} {row():8.2f}")
