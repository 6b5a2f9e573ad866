"""The cost of channels in which nothing happens, of adding new ones, and of opening a large journal again.

The idle channels were played to the middle of a game, and it is the counterparty's turn. Every number of them has a
process of its own, which resumes them from a journal (SQLite) on an anvil. Measured are that process's CPU time, in
medians, and by how much its memory has grown; that on Linux alone.
"""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from forcemove import Chain, Node
from forcemove.chain.local import AnvilChain, connect
from forcemove.node.assemble import reassemble
from forcemove.store.records import Batch, ChannelUpdate, HistoryRow
from forcemove_games.tic_tac_toe import GAME
from scripts.measuring.cases import Measured, Row, case, timed
from scripts.measuring.pages import NODE_PAGE, Line, picture, put
from scripts.measuring.processes import crowded_journal, drive_all, journal_at, process, stored
from tests.scenarios.story import Playground
from tests.simulation import crowd

COUNTS = (1, 10, 100, 1_000, 10_000)
PICTURE = NODE_PAGE.with_name("cost.svg")
_SHOWN = ("block_ms", "listening_ms", "memory_MiB", "block_requests", "resumed_s")
_BLOCKS = 11
_WARM_UP = 3
_DURATION = 3_600
_LAST_TURN = 8
_BLOCK_SECONDS = 12
_SILENCE = 600.0
"""Seconds from greeting to greeting, of channels that have waited for long."""


def _write(found: Measured) -> None:
    """The table and the picture of the page on nodes."""
    put(NODE_PAGE, "idle", table(found))
    PICTURE.write_text(charts(found), encoding="utf-8")


@case(
    Row(
        "1000_idle_minute_cpu_s",
        "s",
        "CPU time of a minute of `run`, 1,000 idle channels, a block each 12 seconds",
        0.1,
    ),
    Row("10000_idle_minute_cpu_s", "s", "the same with 10,000", 0.2),
    Row("1000_idle_resumed_channel_cpu_ms", "ms", "CPU time: one of 1,000 channels read from the journal again", 0.3),
    write=_write,
)
def idle(channels: int = COUNTS[-1]) -> Measured:
    """A node whose channels wait for their counterparties, from one channel to this many.

    `block`: CPU time for a block without changes, `listening`: of a second in which it waits for messages, `memory`:
    what the channels have added, `resumed`: CPU time until all are read from the chain, `resumed_channel`: of one of
    them that is added again, `minute`: with a block each twelve seconds, where all have waited for long.
    """
    found = dict[str, float]()
    for count in (each for each in COUNTS if each <= channels):
        with (
            crowded_journal(count, duration=_DURATION, last_turn=_LAST_TURN) as (chain, path),
            process(_measure, count, path, chain.endpoint) as received,
        ):
            found |= {f"{count}_idle_{name}": value for name, value in received().items()}
    return found


def _measure(count: int, path: Path, url: str, send: Callable[[Measured], None]) -> None:
    gc.collect()
    gc.freeze()  # as the page for programs says
    chain = connect(url)
    with journal_at(path) as journal:
        before, begun, node = _memory(), time.process_time(), Node(journal, lease=_DURATION)
        drive_all(node, stored(journal, chain))
        while node.poll():
            pass
        started = time.process_time() - begun
        blocks = [_block(chain, node) for _ in range(_BLOCKS)]
        requests, listening = _requests_of_a_block(chain, node), asyncio.run(_cpu_a_second(node, 5, look_every=60))
        memory = _memory() - before
        node.release()
        again = Node(journal)
        resume = timed(lambda: drive_all(again, stored(journal, chain), silence=_SILENCE), time.process_time)
        chain.rpc.ask("evm_setIntervalMining", _BLOCK_SECONDS)
        send(
            {
                "block_ms": statistics.median(blocks) * 1e3,
                "listening_ms": listening * 1e3,
                "memory_MiB": memory / 2**20,
                "block_requests": requests,
                "resumed_s": started,
                "resumed_channel_cpu_ms": resume * 1e3 / count,
                "minute_cpu_s": 60 * asyncio.run(_cpu_a_second(again, 2 * _BLOCK_SECONDS)),
            }
        )


def _block(chain: Chain, node: Node) -> float:
    chain.rpc.ask("evm_mine")
    return timed(node.poll, time.process_time)


def _requests_of_a_block(chain: Chain, node: Node) -> int:
    """Each request of a batch is one."""
    answered, ask_some = list[object](), chain.rpc.request_some

    def counting(requests: Sequence[tuple[str, tuple[object, ...]]]) -> list[object]:
        answers = ask_some(requests)
        answered.extend(answers)
        return answers

    with mock.patch.object(chain.rpc, "request_some", counting):
        _block(chain, node)
    return len(answered)


async def _cpu_a_second(node: Node, seconds: float, look_every: float = 1.0) -> float:
    """CPU seconds a second of a node that runs by itself, once all was read."""
    running = asyncio.create_task(node.run(look_every=look_every))
    while not all(each.is_up_to_date for each in node.channels.values()):
        await asyncio.sleep(0.5)
    await asyncio.sleep(_WARM_UP)
    begun, at = time.process_time(), time.perf_counter()
    await asyncio.sleep(seconds)
    share = (time.process_time() - begun) / (time.perf_counter() - at)
    running.cancel()
    return share


def _memory() -> int:
    """The bytes of this process that are in memory now. (The kernel's own largest number is also that of the parent
    process.)"""
    gc.collect()
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()


@case()
def adding(channels: int = 1_000) -> Measured:
    """New channels that are added to a node at once."""
    with AnvilChain() as chain, TemporaryDirectory() as folder, journal_at(folder, "journal") as journal:
        block, agreements = chain.block_number(), crowd.agreements(Playground.on(chain), channels, _DURATION)
        began, node = chain.block_hash(block), Node(journal)
        assemblies = [reassemble(chain, each, GAME, from_block=block, origin_hash=began) for each in agreements]
        with mock.patch.object(chain.rpc, "ask", wraps=chain.rpc.ask) as asked:
            seconds = timed(lambda: drive_all(node, assemblies))
        node.release()
    return {"adding_s": seconds, "adding_ms": seconds / channels * 1e3, "adding_requests": asked.call_count}


@case(Row("opening_s", "s", "CPU time: a journal of 1 GiB opened", 0.3))
def opening(megabytes: int = 1_024) -> Measured:
    """A large journal that is opened again."""
    with TemporaryDirectory() as folder:
        with journal_at(folder, "journal") as journal:
            for number in range(1, megabytes + 1):
                history = HistoryRow(1, os.urandom(2**20))
                update = ChannelUpdate(number.to_bytes(32), 0, b"", b"", finished=True, history=history)
                journal.commit(Batch((update,)))
                while journal.gather_history():
                    pass
        return {"opening_s": timed(lambda: journal_at(folder, "journal").close(), time.process_time)}


# -------------------------------------------------------------------------------------------------------------- showing


def table(found: Measured) -> str:
    """The costs in Markdown."""
    rows = [
        "| idle channels | CPU a block | a channel of it | CPU a second, listening | memory | a channel of it | "
        "requests a block | CPU until all are read |",
        "|" + "---:|" * 8,
    ]
    for count in COUNTS:
        block, listening, memory, requests, resumed = (found[f"{count}_idle_{name}"] for name in _SHOWN)
        rows.append(
            f"| {count:,} | {_number(block)} ms | {_number(block * 1e3 / count)} µs | {_number(listening)} ms | "
            f"{_number(memory)} MiB | {_number(memory * 2**10 / count)} KiB | {requests} | {_number(resumed)} s |"
        )
    return "\n".join(rows)


def _number(value: float) -> str:
    """A number with two digits."""
    return f"{float(f'{value:.2g}'):,g}"


def charts(found: Measured) -> str:
    """The costs of a channel as a picture."""
    lines = (
        Line(title, [found[f"{count}_idle_{name}"] / count * factor for count in COUNTS])
        for title, name, factor in (
            ("a new block", "block_ms", 1_000),
            ("a second of listening", "listening_ms", 1_000),
            ("memory", "memory_MiB", 2**10),
        )
    )
    *time_, memory = lines
    return picture(COUNTS, (("CPU time of a channel (µs)", time_), ("memory of a channel (KiB)", [memory])))
