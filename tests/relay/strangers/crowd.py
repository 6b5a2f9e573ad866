"""Forty pairs that play at a relay, in a process of their own, and newcomers: how long their moves take, whatever
strangers do meanwhile."""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from multiprocessing.connection import Connection
from random import Random
from typing import Any

from forcemove import Key, TableKind, TableTerms, keccak256
from forcemove.transport.wire import Entries, Posted, Proved
from tests.forked import CONTEXT
from tests.relay.raw import Raw, post, raw_from

__all__ = ["Crowd", "Report", "Strangers", "key", "table_of"]

_THINKING = 0.2
"""Seconds that a player thinks, at most."""
_NEWCOMER_EVERY = 0.25
_MOVE = 300
"""Bytes."""
_PATIENCE = 60.0


@dataclass(frozen=True)
class Report:
    """Seconds that moves took, from one player to the other, and newcomers to their first move on disk."""

    moves: list[float]
    newcomers: list[float]
    failures: list[str]

    @property
    def p50(self) -> float:
        return statistics.median(self.moves)

    @property
    def p99(self) -> float:
        return sorted(self.moves)[int(len(self.moves) * 0.99)]

    @property
    def slowest_newcomer(self) -> float:
        return max(self.newcomers)

    def __str__(self) -> str:
        moves, slowest = len(self.moves), 1_000 * max(self.moves)
        return (
            f"{moves:6} moves, p50 {1_000 * self.p50:6.1f} ms, p99 {1_000 * self.p99:6.1f} ms, slowest {slowest:7.1f};"
            f" {len(self.newcomers):3} newcomers, slowest {1_000 * self.slowest_newcomer:7.1f} ms; {self.failures[:3]}"
        )


def key(name: str) -> Key:
    return Key(keccak256(name.encode()))


def table_of(pair: int) -> TableTerms:
    people = key(f"{pair} white").address, key(f"{pair} black").address
    return TableTerms(TableKind.CHANNEL, people, keccak256(b"crowd" + pair.to_bytes(4)))


class _Process:
    """A function that runs in a process of its own until it is told to stop."""

    def __init__(self, what: Callable[..., None], *arguments: Any) -> None:
        self._pipe, there = CONTEXT.Pipe()
        self._process = CONTEXT.Process(target=what, args=(*arguments, there), daemon=True)
        self._process.start()
        assert self._pipe.poll(_PATIENCE), "it does not begin"
        self._pipe.recv()

    def ask(self, what: str) -> Any:
        self._pipe.send(what)
        assert self._pipe.poll(_PATIENCE), "it does not answer"
        return self._pipe.recv()

    def close(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()


class Crowd(_Process):
    """The test's end of the process in which the pairs play."""

    def __init__(self, url: str, pairs: int) -> None:
        super().__init__(_play, url, pairs)

    def report(self) -> Report:
        """What has happened since the last report."""
        report: Report = self.ask("report")
        return report


class Strangers(_Process):
    """The test's end of a process in which an attack runs."""

    def __init__(self, attack: Callable[[str, str, int], Any], url: str, addresses: list[str]) -> None:
        super().__init__(_attack, attack, url, addresses)

    def count(self) -> int:
        """How often the attack was begun so far."""
        number: int = self.ask("count")
        return number


def _play(url: str, pairs: int, said: Connection) -> None:
    asyncio.run(_playing(url, pairs, said))


async def _playing(url: str, pairs: int, said: Connection) -> None:
    moves: list[float] = []
    newcomers: list[float] = []
    failures: list[str] = []
    seated = [asyncio.Event() for _ in range(pairs)]
    tasks = [asyncio.create_task(_pair(url, pair, moves, failures, seated[pair])) for pair in range(pairs)]
    await asyncio.gather(*(each.wait() for each in seated))
    tasks.append(asyncio.create_task(_arrivals(url, newcomers, failures)))
    said.send("begun")
    while True:
        while not said.poll():
            await asyncio.sleep(0.01)
        said.recv()
        said.send(Report(moves.copy(), newcomers.copy(), failures.copy()))
        for each in (moves, newcomers, failures):
            each.clear()


async def _pair(url: str, pair: int, moves: list[float], failures: list[str], seated: asyncio.Event) -> None:
    """Two players, each on a connection of its own; one moves when the other has."""
    table, random = table_of(pair), Random(pair)
    try:
        async with raw_from(url, "") as white, raw_from(url, "") as black:
            for player, name in ((white, "white"), (black, "black")):
                await _sit(player, table, key(f"{pair} {name}"))
            seated.set()
            for number in count():
                mover, other = (white, black) if number % 2 == 0 else (black, white)
                await asyncio.sleep(random.uniform(0, _THINKING))
                began = time.perf_counter()
                await mover.say(post(table, number, number.to_bytes(_MOVE)))
                await asyncio.gather(_until(mover, Posted), _read(other, number))
                moves.append(time.perf_counter() - began)
    except Exception as error:
        failures.append(f"pair {pair}: {error!r:.200}")
        seated.set()


async def _sit(player: Raw, table: TableTerms, key: Key) -> None:
    await player.say(player.proof(table, key))
    await _until(player, Proved)
    await player.opened(table.id)


async def _until(player: Raw, kind: type) -> None:
    """The mover hears its own entry, too."""
    while not isinstance(await player.next(), kind):
        pass


async def _read(player: Raw, number: int) -> None:
    while True:
        message = await player.next()
        if isinstance(message, Entries) and message.first + len(message.entries) > number:
            return


async def _arrivals(url: str, newcomers: list[float], failures: list[str]) -> None:
    """One after another, each from an address of its own: to its first move on disk."""
    for number in count():
        began = time.perf_counter()
        arriving = asyncio.create_task(_arrive(url, number))
        await asyncio.wait([arriving], timeout=10)
        if arriving.done() and arriving.exception() is None:
            newcomers.append(time.perf_counter() - began)
        else:
            failures.append(f"newcomer {number}: {arriving}"[:300])
            arriving.cancel()
        await asyncio.sleep(_NEWCOMER_EVERY)


async def _arrive(url: str, number: int) -> None:
    who = key(f"newcomer {number}")
    table = TableTerms(TableKind.GAME, (who.address,), number.to_bytes(32))
    async with raw_from(url, f"127.0.{1 + number // 250}.{1 + number % 250}") as client:
        await _sit(client, table, who)
        await client.say(post(table, 1, b"here"))
        await _until(client, Posted)


def _attack(attack: Callable[[str, str, int], Any], url: str, addresses: list[str], said: Connection) -> None:
    """Strangers have machines of their own: they take what time the relay and the players leave of this one."""
    os.nice(19)
    asyncio.run(_attacking(attack, url, addresses, said))


async def _attacking(attack: Callable[[str, str, int], Any], url: str, addresses: list[str], said: Connection) -> None:
    begun = 0

    async def again(address: str) -> None:
        """Who is cut off comes back."""
        nonlocal begun
        while True:
            begun += 1
            with suppress(Exception):
                await attack(url, address, begun)
            await asyncio.sleep(0.01)

    tasks = [asyncio.create_task(again(address)) for address in addresses]
    said.send("begun")
    while tasks:
        while not said.poll():
            await asyncio.sleep(0.01)
        said.recv()
        said.send(begun)
