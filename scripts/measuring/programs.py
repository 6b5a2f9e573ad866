"""How long whole things take: queues in memory, the parity of a game with its bytecode, and commands."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from functools import partial
from pathlib import Path

import msgspec

from forcemove import ActionQueue, SignedTransport
from forcemove.flow.channel import UPDATES, Update
from forcemove.flow.transport import MemoryTransport, Transport
from scripts.measuring.cases import KEYS, Measured, Row, case, medians, timed


@case(
    Row("queue_actions_per_second", "/s", "posted, ordered, read back; in memory", 100_000, at_least=True),
    Row("signed_queue_actions_per_second", "/s", "the same, signed and verified", 6_000, at_least=True),
)
def queue(actions: int = 50_000) -> Measured:
    """Actions that go through one table's log in memory, and come back."""
    plain, signed = (
        MemoryTransport(),
        SignedTransport(MemoryTransport(), bytes(32), KEYS[0], {"alice": KEYS[0].address}),
    )
    fewer = max(actions // 5, 1)
    return {
        "queue_actions_per_second": actions / timed(lambda: asyncio.run(_post_and_read(actions, plain))),
        "signed_queue_actions_per_second": fewer / timed(lambda: asyncio.run(_post_and_read(fewer, signed))),
    }


async def _post_and_read(actions: int, transport: Transport) -> None:
    queue: ActionQueue[Update] = ActionQueue(transport, UPDATES)
    for number in range(actions):
        await queue.enqueue(Update("alice", msgspec.Raw(f'"{number:0400x}"'.encode())))
        await queue.dequeue()


@case(Row("parity_seconds", "s", "all of tic-tac-toe, and illegal neighbours, against the bytecode", 30))
def parity() -> Measured:
    """Every tic-tac-toe move and its illegal neighbours, in Python and in bytecode, on all cores."""
    from tests.parity.tic_tac_toe_space import run_parity

    return {"parity_seconds": run_parity()[1]}


@case(
    Row("help_seconds", "s", "forcemove --help", 0.2),
    Row("demo_seconds", "s", "forcemove demo", 8),
)
def commands(rounds: int = 7) -> Measured:
    """The installed command, start to end: its help, and once its demonstration."""
    return {
        **medians(rounds, lambda: {"help_seconds": timed(partial(_run, "--help"))}),
        "demo_seconds": timed(partial(_run, "demo")),
    }


def _run(*arguments: str) -> None:
    command = [str(Path(sys.executable).with_name("forcemove")), *arguments]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout[-1_000:]}{done.stderr[-1_000:]}")
