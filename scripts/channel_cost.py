#!/usr/bin/env python3
"""Measures what a channel costs a node, from 1 to 10,000 idle ones, and draws it for the page on nodes.

    scripts/channel_cost.py                   measure (some minutes), write the picture and the table of the page
    scripts/channel_cost.py --most 100        only print what up to this many channels cost
    scripts/channel_cost.py --adding 1000     only print what it costs to add this many new ones

Every number of channels has a process of its own, which resumes them from a journal (SQLite) on an anvil. They were
played to the middle of a game, and it is the counterparty's turn. Measured is the process's own CPU time, medians, and
by how much its memory has grown; that on Linux alone. The picture is written as SVG text: two charts are less of it
than of a library.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import resource
import secrets
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("ETH_HASH_BACKEND", "pysha3")  # as the command line sets it

from forcemove.arena.network import MemoryMessenger  # noqa: E402
from forcemove.chain.chain import Chain  # noqa: E402
from forcemove.chain.local import AnvilChain, connect  # noqa: E402
from forcemove.node.assemble import reassemble  # noqa: E402
from forcemove.node.metadata import METADATA  # noqa: E402
from forcemove.node.node import Node  # noqa: E402
from forcemove.node.setup import ChannelSetup  # noqa: E402
from forcemove.protocol.codec.msgpack_codec import CHANNELS  # noqa: E402
from forcemove.store.journal import Journal  # noqa: E402
from forcemove.store.opening import open_journal  # noqa: E402
from forcemove_games.tic_tac_toe import GAME  # noqa: E402
from scripts.cost_chart import Line, picture  # noqa: E402
from tests.scenarios.story import ALICE, Playground  # noqa: E402
from tests.simulation import crowd  # noqa: E402

COUNTS = (1, 10, 100, 1_000, 10_000)
BLOCKS = 11
LISTENING_SECONDS = 5.0
DURATION = 3_600
LAST_TURN = 8
PAGE = ROOT / "docs" / "operators" / "node.md"
PICTURE = PAGE.with_name("cost.svg")
BEGIN, END = "<!-- cost: scripts/channel_cost.py writes this -->", "<!-- /cost -->"


@dataclass(frozen=True)
class Cost:
    """The cost of a node that has this many `channels`. `block`: CPU seconds for a new block without changes.
    `listening`: CPU seconds a second for the transports while there is no block. `memory`: bytes that the channels have
    added. `starting`: seconds from the journal until all channels are read from the chain. `requests`: for a block."""

    channels: int
    block: float
    listening: float
    memory: int
    starting: float
    requests: int


# ------------------------------------------------------------------------------------------------------------ measuring


def measure(count: int) -> Cost:
    """The cost, measured in a process of its own."""
    with AnvilChain() as chain, TemporaryDirectory() as folder:
        playground, path = Playground.on(chain), str(Path(folder) / "journal")
        first_block = chain.block_number()
        agreements = crowd.agreements(playground, count, DURATION)
        crowd.fund(chain, agreements)
        with open_journal(path, owner=secrets.token_bytes(16)) as journal:
            crowd.write(journal, [crowd.played(each, LAST_TURN) for each in agreements], playground, first_block)
        here, there = get_context("spawn").Pipe()
        process = get_context("spawn").Process(target=_measure, args=(count, path, chain.endpoint, there.send))
        process.start()
        there.close()
        cost: Cost = here.recv()
        process.join()
        return cost


def _measure(count: int, path: str, url: str, say: Callable[[Cost], None]) -> None:
    chain, journal = connect(url), open_journal(path, owner=secrets.token_bytes(16))
    before, begun = _memory(), time.perf_counter()
    node = _resumed(journal, chain)
    while node.poll():
        pass
    starting = time.perf_counter() - begun
    blocks = [_block(chain.rpc.ask, node) for _ in range(BLOCKS)]
    requests = _requests_of_a_block(chain, node)
    say(Cost(count, statistics.median(blocks), _listening(node), _memory() - before, starting, requests))


def _resumed(journal: Journal, chain: Chain) -> Node:
    """All channels of a journal on a node."""
    node, assemblies = Node(journal, lease=DURATION), []
    for kept in journal.channels():
        agreement, about = CHANNELS.decode(kept.snapshot).agreement, METADATA.decode(kept.metadata)
        assemblies.append(reassemble(chain, agreement, GAME, from_block=about.from_block))
    node.reserve(assemblies, ALICE)
    for each in assemblies:
        node.add(ChannelSetup(each, ALICE, MemoryMessenger(), lambda _: None))
    return node


def _block(ask: Callable[[str], object], node: Node) -> float:
    ask("evm_mine")
    begun = time.process_time()
    node.poll()
    return time.process_time() - begun


def _requests_of_a_block(chain: Chain, node: Node) -> int:
    answered, ask_some = list[object](), chain.rpc.request_some

    def counting(requests: Sequence[tuple[str, tuple[object, ...]]]) -> list[object]:
        answers = ask_some(requests)
        answered.extend(answers)
        return answers

    chain.rpc.request_some = counting  # type: ignore[method-assign]  # each request of a batch is counted
    _block(chain.rpc.ask, node)
    return len(answered)


def _listening(node: Node) -> float:
    """The CPU time of the node while it runs by itself, without looking at a chain."""

    async def run() -> float:
        running = asyncio.create_task(node.run(look_every=10 * LISTENING_SECONDS))
        await asyncio.sleep(1)
        begun, at = time.process_time(), time.perf_counter()
        await asyncio.sleep(LISTENING_SECONDS)
        share = (time.process_time() - begun) / (time.perf_counter() - at)
        running.cancel()
        return share

    return asyncio.run(run())


def _memory() -> int:
    """The bytes of this process that are in memory now. (The kernel's own largest number is also that of the parent
    process.)"""
    gc.collect()
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()


def adding(count: int) -> str:
    """The cost of adding this many new channels to a node, as text."""
    with AnvilChain() as chain, TemporaryDirectory() as folder:
        playground, key, asked = Playground.on(chain), ALICE, list[str]()
        block = chain.block_number()
        began, agreements = chain.block_hash(block), crowd.agreements(playground, count, DURATION)
        assemblies = [reassemble(chain, each, GAME, from_block=block, origin_hash=began) for each in agreements]
        with open_journal(str(Path(folder) / "journal"), owner=secrets.token_bytes(16)) as journal:
            node, answers = Node(journal), chain.rpc.ask

            def counting(method: str, *params: object) -> object:
                asked.append(method)
                return answers(method, *params)

            chain.rpc.ask = counting  # type: ignore[method-assign]  # what is asked is counted, and answered
            begun = time.perf_counter()
            node.reserve(assemblies, key)
            for each in assemblies:
                node.add(ChannelSetup(each, key, MemoryMessenger(), lambda _: None))
            seconds = time.perf_counter() - begun
            node.release()
    return f"{count:,} new channels: {seconds:.2f} s, {seconds / count * 1e3:.2f} ms each; {len(asked):,} requests"


# -------------------------------------------------------------------------------------------------------------- showing


def table(costs: Sequence[Cost]) -> str:
    """The costs in Markdown."""
    rows = [
        "| idle channels | CPU a block | a channel of it | CPU a second, listening | memory | a channel of it | "
        "requests a block | resumed in |",
        "|" + "---:|" * 8,
    ]
    for each in costs:
        count, block, listening, memory, starting, requests = astuple(each)
        rows.append(
            f"| {count:,} | {_number(block * 1e3)} ms | {_number(block * 1e6 / count)} µs | "
            f"{_number(listening * 1e3)} ms | {_number(memory / 2**20)} MiB | {_number(memory / 2**10 / count)} KiB | "
            f"{requests} | {_number(starting)} s |"
        )
    return "\n".join(rows)


def _number(value: float) -> str:
    """A number with two digits."""
    return f"{float(f'{value:.2g}'):,g}"


def charts(costs: Sequence[Cost]) -> str:
    """The costs as a picture."""
    counts = [each.channels for each in costs]
    time_ = (
        Line("a new block", [each.block / each.channels * 1e6 for each in costs]),
        Line("a second of listening", [each.listening / each.channels * 1e6 for each in costs]),
    )
    memory = (Line("memory", [each.memory / each.channels / 2**10 for each in costs]),)
    return picture(counts, (("CPU time of a channel (µs)", time_), ("memory of a channel (KiB)", memory)))


def shown(page: str, costs: Sequence[Cost]) -> str:
    """The page with this table between its markers."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"the page has no place for the table: {BEGIN} and {END}")
    return f"{before}{begin}\n\n{table(costs)}\n\n{end}{after}"


def main() -> None:
    """See the head of this file."""
    parser = argparse.ArgumentParser(description="Measure and draw what a channel costs a node.")
    parser.add_argument("--most", type=int, help="measure no more channels than these, and only print")
    parser.add_argument("--adding", type=int, help="measure what it costs to add this many, and only print that")
    arguments = parser.parse_args()
    most = arguments.most
    if arguments.adding is not None:
        print(adding(arguments.adding))
        return
    costs = []
    for count in COUNTS:
        if most is None or count <= most:
            print(f"{count:,} channels ...", file=sys.stderr, flush=True)
            costs.append(measure(count))
    print(table(costs))
    if most is None:
        PICTURE.write_text(charts(costs), encoding="utf-8")
        PAGE.write_text(shown(PAGE.read_text(encoding="utf-8"), costs), encoding="utf-8")


if __name__ == "__main__":
    main()
