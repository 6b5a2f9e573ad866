#!/usr/bin/env python3
"""Measures what a node costs whose channels wait for their counterparties: CPU a minute of `Node.run`, and what a
restart costs: adding each channel again, and opening a large journal.

The chain is an anvil in a process of its own, with a block each twelve seconds. CPU is that of all our threads.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from forcemove.arena.network import MemoryMessenger  # noqa: E402
from forcemove.chain.chain import Chain  # noqa: E402
from forcemove.chain.local import AnvilChain, connect  # noqa: E402
from forcemove.node.assemble import Assembly, reassemble  # noqa: E402
from forcemove.node.metadata import METADATA  # noqa: E402
from forcemove.node.node import Node  # noqa: E402
from forcemove.node.setup import ChannelSetup  # noqa: E402
from forcemove.protocol.codec.msgpack_codec import CHANNELS  # noqa: E402
from forcemove.store.journal import Journal  # noqa: E402
from forcemove.store.opening import open_journal  # noqa: E402
from forcemove.store.records import Batch, ChannelUpdate, HistoryRow  # noqa: E402
from forcemove_games.tic_tac_toe import GAME  # noqa: E402
from tests.scenarios.story import ALICE, Playground  # noqa: E402
from tests.simulation import crowd  # noqa: E402

BLOCK_SECONDS = 12
BLOCKS = 2
_DURATION = 86_400
_LAST_TURN = 4
"""Alice's: the next turn is not hers."""
_SILENCE = 600.0
"""Seconds from greeting to greeting, of channels that have waited for long."""


def idle(count: int) -> dict[str, float]:
    """The rows for this many channels."""
    with AnvilChain() as chain, TemporaryDirectory() as folder:
        playground, first_block = Playground.on(chain), chain.block_number()
        agreements = crowd.agreements(playground, count, _DURATION)
        crowd.fund(chain, agreements)
        path = str(Path(folder) / "journal")
        with open_journal(path, owner=os.urandom(16)) as journal:
            matches = [crowd.played(each, _LAST_TURN) for each in agreements]
            crowd.write(journal, matches, playground, first_block)
        with open_journal(path, owner=os.urandom(16)) as journal:
            node = Node(journal)
            resume = _timed(lambda: _resume(node, journal, connect(chain.endpoint)))
            chain.rpc.ask("evm_setIntervalMining", BLOCK_SECONDS)
            cpu = asyncio.run(_cpu_a_minute(node))
        return {f"resume_ms_of_{count}": resume / count * 1e3, f"idle_cpu_a_minute_of_{count}": cpu}


def _resume(node: Node, journal: Journal, chain: Chain) -> None:
    """Drive all channels of the journal again, as a service does."""
    assemblies: list[Assembly] = []
    for stored in journal.channels():
        about = METADATA.decode(stored.metadata)
        agreement = CHANNELS.decode(stored.snapshot).agreement
        assemblies.append(reassemble(chain, agreement, GAME, from_block=about.from_block))
    node.reserve(assemblies, ALICE)
    for each in assemblies:
        node.add(ChannelSetup(each, ALICE, MemoryMessenger(), lambda _: None, silence=_SILENCE))


async def _cpu_a_minute(node: Node) -> float:
    """CPU seconds of a minute, once all was read."""
    running = asyncio.create_task(node.run())
    while not all(each.chain.time and each.channel.holdings for each in node.channels.values()):
        await asyncio.sleep(0.5)
    await asyncio.sleep(3)
    begun, cpu = time.monotonic(), time.process_time()
    await asyncio.sleep(BLOCKS * BLOCK_SECONDS)
    used = (time.process_time() - cpu) / (time.monotonic() - begun) * 60
    running.cancel()
    return used


def opening(megabytes: int) -> dict[str, float]:
    """The row for a journal of this size, most of it histories of channels that are over."""
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "journal")
        with open_journal(path, owner=os.urandom(16)) as journal:
            for number in range(1, megabytes + 1):
                history = HistoryRow(1, os.urandom(2**20))
                update = ChannelUpdate(number.to_bytes(32), 0, b"", b"", finished=True, history=history)
                journal.commit(Batch((update,)))
                while journal.gather_history():
                    pass
        return {f"open_{megabytes}_MiB_s": _timed(lambda: open_journal(path, owner=os.urandom(16)).close())}


def _timed(part: Callable[[], object]) -> float:
    """CPU seconds."""
    begun = time.process_time()
    part()
    return time.process_time() - begun


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Measure what idle channels and a restart cost.")
    parser.add_argument("--channels", type=int, nargs="*", default=[1_000, 10_000], metavar="N")
    parser.add_argument("--megabytes", type=int, default=1_024, metavar="N", help="of a journal; 0 for none")
    options = parser.parse_args()
    for count in options.channels:
        for name, value in idle(count).items():
            print(f"{name:30} {value:8.3f}", flush=True)
    if options.megabytes:
        for name, value in opening(options.megabytes).items():
            print(f"{name:30} {value:8.3f}", flush=True)


if __name__ == "__main__":
    main()
