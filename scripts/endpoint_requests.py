#!/usr/bin/env python3
"""Counts what an endpoint is asked in a minute while nothing happens, and writes the table of the page on nodes.

    scripts/endpoint_requests.py --print    only print it

What is counted is what programs run, over HTTP, at the pace and the depth of a public chain. Time is virtual, and the
endpoint answers at once: a slow one is asked less often. A batch counts as all of its requests.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import wrap
from types import SimpleNamespace
from typing import Any
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("ETH_HASH_BACKEND", "pysha3")  # as the command line sets it

from forcemove.arena.network import MemoryMessenger  # noqa: E402
from forcemove.arena.virtual_time import VirtualTimeLoop  # noqa: E402
from forcemove.chain.local import AnvilChain, connect  # noqa: E402
from forcemove.chain.worker import EndpointWorker  # noqa: E402
from forcemove.node.assemble import reassemble  # noqa: E402
from forcemove.node.node import Node  # noqa: E402
from forcemove.node.policy import default_confirmations, default_look_every  # noqa: E402
from forcemove.node.setup import ChannelSetup  # noqa: E402
from forcemove.protocol.codec.msgpack_codec import CHANNELS  # noqa: E402
from forcemove.store.journal import Journal  # noqa: E402
from forcemove.store.opening import open_journal  # noqa: E402
from forcemove.tables.defence import Defence  # noqa: E402
from forcemove_games.tic_tac_toe import GAME  # noqa: E402
from tests.node.crowded import Endpoint  # noqa: E402
from tests.scenarios.story import ALICE, Playground  # noqa: E402
from tests.simulation import crowd  # noqa: E402

PAGE = ROOT / "docs" / "operators" / "node.md"
BEGIN, END = "<!-- requests: scripts/endpoint_requests.py writes this -->", "<!-- /requests -->"
COUNTS, BLOCK_TIMES, CHAIN_ID = (1, 100, 1_000), (12, 2), 424_242
"""Channels; seconds from block to block; a chain that is nobody's local one."""
NODE, TABLE, WAITING = "a node that drives them", "a table that plays one of them", "a table that waits for a guest"
PROGRAMS = {NODE: (None, False), TABLE: (1, True), WAITING: (0, True)}
"""How many of the journal's channels a node drives, None for all; whether all are defended besides."""
UNITS = {"eth_getBlockByNumber": 20, "eth_call": 26, "eth_getLogs": 60, "eth_chainId": 0}  # an example of a plan's
Seconds = Sequence[Counter[str]]  # of a minute: what was asked in each, by method


@contextmanager
def journal_of(count: int) -> Iterator[tuple[str, Journal]]:
    """The address of a chain, and Alice's journal with `count` open channels, in which it is Bob's turn."""
    with TemporaryDirectory() as folder, AnvilChain("--chain-id", str(CHAIN_ID)) as chain:
        playground, first = Playground.on(chain), chain.block_number()
        agreements = crowd.agreements(playground, count, 86_400)
        crowd.fund(chain, agreements)
        for _ in range(depth := default_confirmations(CHAIN_ID)):
            chain.rpc.ask("evm_mine")
        with open_journal(str(Path(folder) / "journal"), owner=secrets.token_bytes(16)) as journal:
            crowd.write(journal, [crowd.played(each, 4) for each in agreements], playground, first, depth)
            yield chain.endpoint, journal


def counted(url: str, journal: Journal, program: str, confirmations: int | None = None) -> dict[int, Seconds]:
    """What a program asks: in a minute without a block (0), and in one for each time from block to block."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner, ExitStack() as patched:
        loop = runner.get_loop()
        clock = SimpleNamespace(monotonic=lambda: round(loop.time(), 6))
        for module in ("forcemove.chain.rpc", "forcemove.tables.defence"):
            patched.enter_context(mock.patch(f"{module}.time", clock))
        patched.enter_context(mock.patch.object(EndpointWorker, "begin", _waiting(EndpointWorker.begin)))
        return runner.run(_run(url, journal, program, confirmations))


def _waiting(begin: Callable[..., Future[Any]]) -> Callable[..., Future[Any]]:
    """The same, and virtual time stands still while an endpoint is asked."""
    return lambda *args: wait([begin(*args)]).done.pop()


async def _run(url: str, journal: Journal, program: str, confirmations: int | None) -> dict[int, Seconds]:
    node, (driven, defends) = Node(journal, policy=None, clock=asyncio.get_running_loop().time), PROGRAMS[program]
    with closing(Endpoint(url)) as endpoint, connect(url) as miner, connect(endpoint.url) as chain:
        chain.expect(CHAIN_ID)
        for kept in journal.channels()[:driven]:
            assembly = reassemble(chain, CHANNELS.decode(kept.snapshot).agreement, GAME, from_block=1)
            node.add(ChannelSetup(assembly, ALICE, MemoryMessenger(), lambda _: None, confirmations=confirmations))
        tasks = [asyncio.create_task(node.run(look_every=default_look_every(CHAIN_ID)))]
        await asyncio.sleep(0.25)  # a node looks at whole seconds, a defence reads its journal between them
        if defends:
            tasks.append(asyncio.create_task(Defence(journal, node, [chain], [GAME], ALICE, print).run()))
        await asyncio.sleep(45.25)
        found: dict[int, list[Counter[str]]] = {}
        for block_time in (0, *BLOCK_TIMES):
            for second in range(60):
                endpoint.counts.clear()
                if block_time and second % block_time == 0:
                    miner.rpc.ask("evm_mine")
                await asyncio.sleep(1)
                found.setdefault(block_time, []).append(Counter(endpoint.counts))
        for each in tasks:
            each.cancel()
        await asyncio.wait(tasks)
        node.release()
    return {**found}


def text(found: Mapping[int, Mapping[str, Mapping[int, Seconds]]]) -> str:
    """What the page shows of the counts, by number of channels and program."""
    counts = " | ".join(f"{count:,}" for count in found)
    lines = [f"| open channels | a block each | {counts} | most in a second | a day |", "|---" + "|---:" * 6 + "|"]
    for program in PROGRAMS:
        for block_time in BLOCK_TIMES:
            minutes = [each[program][block_time] for each in found.values()]
            totals, most = [sum(map(Counter.total, each)) for each in minutes], max(map(Counter.total, minutes[-1]))
            cells = [*map("{:,}".format, totals), f"{most}", f"{60 * 24 * totals[-1]:,}"]
            lines.append(f"| {program} | {block_time} s | {' | '.join(cells)} |")
    asked = sum(found[max(found)][TABLE][BLOCK_TIMES[0]], Counter[str]())
    parts = " + ".join(f"{asked[each]} \u00d7 {UNITS[each]}" for each in sorted(asked, key=list(UNITS).index))
    units = sum(asked[each] * UNITS[each] for each in asked)
    example = "Some plans count units. With {} for a block, {} for a call, {} for logs and {} for the chain's id, "
    example = example.format(*UNITS.values()) + f"the third row costs {parts} = {units:,} units a minute, "
    return "\n".join([*lines, "", *wrap(example + f"{units * 60 * 24 / 10**6:.1f} million a day.", 120)])


def main() -> None:
    """See the head of this file."""
    found = {}
    for count in COUNTS:
        with journal_of(count) as (url, journal):
            found[count] = {program: counted(url, journal, program) for program in PROGRAMS}
    shown = text(found)
    print(shown)
    if "--print" not in sys.argv[1:]:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n{shown}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
