"""What an endpoint is asked in a minute while nothing happens.

What is counted is what programs run, over HTTP, at the pace and the depth of a public chain. Time is virtual, and the
endpoint answers at once: a slow one is asked less often. A batch counts as all of its requests.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack, closing, contextmanager
from textwrap import wrap
from types import SimpleNamespace
from typing import Any
from unittest import mock

from forcemove import Node, connect
from forcemove.arena.virtual_time import VirtualTimeLoop
from forcemove.chain.worker import EndpointWorker
from forcemove.sessions.defence import Defence
from forcemove.store.journal import Journal
from forcemove.workers.chain_defaults import default_confirmations, default_look_every
from forcemove_games.tic_tac_toe import GAME
from scripts.measuring.cases import Measured, case
from scripts.measuring.pages import NODE_PAGE, put
from scripts.measuring.processes import crowded_journal, drive, journal_at, stored
from tests.node.crowded import Endpoint
from tests.scenarios.story import ALICE

COUNTS, BLOCK_TIMES, CHAIN_ID = (1, 100, 1_000), (12, 2), 424_242
"""Channels; seconds from block to block; a chain that is nobody's local one."""
NODE, TABLE, WAITING = "a node that drives them", "a table that plays one of them", "a table that waits for a guest"
PROGRAMS = {NODE: (None, False), TABLE: (1, True), WAITING: (0, True)}
"""How many of the journal's channels a node drives, None for all; whether all are defended besides."""
_NAMES = {NODE: "driving", TABLE: "playing", WAITING: "waiting"}
UNITS = {"eth_getBlockByNumber": 20, "eth_call": 26, "eth_getLogs": 60, "eth_chainId": 0}  # an example of a plan's
Seconds = Sequence[Counter[str]]  # of a minute: what was asked in each, by method


@case(write=lambda found: put(NODE_PAGE, "requests", text(found)))
def requests(channels: int = COUNTS[-1]) -> Measured:
    """Requests to an endpoint in a minute while nothing happens, with one channel and up to this many."""
    found = dict[str, float]()
    for count in (each for each in COUNTS if each <= channels):
        with journal_of(count) as (url, journal):
            found |= rows_of(count, {program: counted(url, journal, program) for program in PROGRAMS})
    return found


@contextmanager
def journal_of(count: int) -> Iterator[tuple[str, Journal]]:
    """The address of a chain, and Alice's journal with `count` open channels, in which it is Bob's turn."""
    depth = default_confirmations(CHAIN_ID)
    with crowded_journal(count, "--chain-id", str(CHAIN_ID), confirmations=depth) as (chain, path):
        chain.rpc.ask("evm_mine")
        with journal_at(path) as journal:
            yield chain.endpoint, journal


def counted(url: str, journal: Journal, program: str, confirmations: int | None = None) -> dict[int, Seconds]:
    """What a program asks: in a minute without a block (0), and in one for each time from block to block."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner, ExitStack() as patched:
        loop = runner.get_loop()
        clock = SimpleNamespace(monotonic=lambda: round(loop.time(), 6))
        for module in ("forcemove.chain.rpc", "forcemove.sessions.defence"):
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
        for each in stored(journal, chain, driven):
            drive(node, each, confirmations=confirmations)
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
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        node.release()
    return {**found}


def rows_of(count: int, found: Mapping[str, Mapping[int, Seconds]]) -> dict[str, float]:
    """The rows for this many channels. `found`: what was counted, by program and by time from block to block."""
    rows = dict[str, float]()
    for program, name in _NAMES.items():
        for block_time in BLOCK_TIMES:
            totals = [each.total() for each in found[program][block_time]]
            rows[f"{name}_{count}_every_{block_time}_s_requests"] = sum(totals)
            rows[f"{name}_{count}_every_{block_time}_s_most"] = max(totals)
    asked = sum(found[TABLE][BLOCK_TIMES[0]], Counter[str]())
    return rows | {f"{method}_of_{count}_requests": asked[method] for method in UNITS}


def text(found: Measured) -> str:
    """What the page shows of the rows."""
    counts, most = " | ".join(f"{count:,}" for count in COUNTS), COUNTS[-1]
    lines = [f"| open channels | a block each | {counts} | most in a second | a day |", "|---" + "|---:" * 6 + "|"]
    for program, name in _NAMES.items():
        for block_time in BLOCK_TIMES:
            totals = [found[f"{name}_{count}_every_{block_time}_s_requests"] for count in COUNTS]
            shown = (*totals, found[f"{name}_{most}_every_{block_time}_s_most"], 60 * 24 * totals[-1])
            cells = [f"{each:,}" for each in shown]
            lines.append(f"| {program} | {block_time} s | {' | '.join(cells)} |")
    asked = {method: found[f"{method}_of_{most}_requests"] for method in UNITS if found[f"{method}_of_{most}_requests"]}
    parts = " + ".join(f"{times} \u00d7 {UNITS[method]}" for method, times in asked.items())
    units = sum(times * UNITS[method] for method, times in asked.items())
    example = "Some plans count units. With {} for a block, {} for a call, {} for logs and {} for the chain's id, "
    example = example.format(*UNITS.values()) + f"the third row costs {parts} = {units:,} units a minute, "
    return "\n".join([*lines, "", *wrap(example + f"{units * 60 * 24 / 10**6:.1f} million a day.", 120)])
