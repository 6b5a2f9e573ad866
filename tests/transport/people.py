"""Who plays in the tests of lines and relays, at which tables, and how a story is run on real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any

from forcemove.flow.transport import Reader
from forcemove.transport.terms import TableKind, TableTerms
from tests.flow.table import KEYS, MALLORY

__all__ = ["ALICE", "BOB", "MALLORY", "new_table", "read", "run"]

ALICE, BOB = KEYS["alice"], KEYS["bob"]
_PATIENCE = 60.0
_salts = count(1)


def new_table(kind: TableKind = TableKind.GAME, *participants: bytes) -> TableTerms:
    """Another table, Alice's and Bob's unless it is said whose."""
    return TableTerms(kind, participants or (ALICE.address, BOB.address), next(_salts).to_bytes(32))


async def read(reader: Reader, number: int) -> list[bytes]:
    return [await reader.read() for _ in range(number)]


def run(
    story: Coroutine[Any, Any, None],
    patience: float = _PATIENCE,
    loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None,
) -> None:
    """In real time; a story that hangs fails, after this many seconds."""

    async def limited() -> None:
        async with asyncio.timeout(patience):
            await story

    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(limited())
