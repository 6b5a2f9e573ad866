"""A client that crashes comes back to its game with its secret and the log alone, wherever it was."""

from __future__ import annotations

import asyncio
import json
from collections import Counter

import pytest

from forcemove.flow.steps import run
from forcemove.flow.transport import MemoryTransport, Reader, Transport
from forcemove_games.discard_sra.flow import discard
from forcemove_games.discard_sra.table import DiscardTable, open_queue
from tests.flow.table import signed
from tests.flow.virtual_time import run_virtual
from tests.games.discard_sra.tables import HOUR, best, table_of
from tests.games.sra.shuffled import ALICE, BOB


class Crash(Exception):
    """The power is off."""


class Failing:
    """A line on which its client's power goes off at one of its actions: before it posts, when it has posted, or when
    it has read. `at`: which of these moments, counted from 0; -1 for never. `moments`: how many there were."""

    def __init__(self, inner: Transport, at: int) -> None:
        self._inner, self._at = inner, at
        self.moments = 0
        self.unsent = b""

    def moment(self) -> None:
        self.moments += 1
        if self.moments == self._at + 1:
            raise Crash

    async def post(self, message: bytes) -> None:
        self.unsent = message
        self.moment()
        self.unsent = b""
        await self._inner.post(message)
        self.moment()

    def reader(self, start: int = 0) -> Reader:
        return _FailingReader(self._inner.reader(start), self)

    def length(self) -> int:
        return self._inner.length()


class _FailingReader:
    def __init__(self, inner: Reader, line: Failing) -> None:
        self._inner, self._line = inner, line

    async def read(self) -> bytes:
        message = await self._inner.read()
        self._line.moment()
        return message


async def sitting(line: Transport, seat: int, number: int, late: bytes = b"") -> DiscardTable:
    """A client that has nothing but its secret and the log. `late`: what comes into the log when it has looked."""
    table = table_of(seat, number)
    transport = signed(line, table.name)
    queue = await open_queue(transport, table.name)
    if late:
        await line.post(late)
    await run(discard(best, within=HOUR), queue, table)
    return table


async def messages(log: MemoryTransport) -> Counter[str]:
    """What was said, with each client's number for it. What a client had read by then is a matter of time."""
    entries = [json.loads(await log.message(index)) for index in range(log.length())]
    return Counter(json.dumps((sequence, message)) for _, sequence, _, _, _, message in entries)


def game_with_a_crash(
    crashing: int, at: int, number: int = 1, *, is_late: bool = False
) -> tuple[int, Counter[str], tuple[DiscardTable, ...]]:
    """How many moments there were, what is on the log in the end, and both tables. `is_late`: what was being posted
    comes into the log all the same, after its client is back."""

    async def scenario() -> tuple[int, Counter[str], tuple[DiscardTable, ...]]:
        log = MemoryTransport()
        line = Failing(log, at)
        other = asyncio.create_task(sitting(log, 1 - crashing, number))
        try:
            table = await sitting(line, crashing, number)
        except Crash:
            table = await sitting(log, crashing, number, line.unsent if is_late else b"")
        return line.moments, await messages(log), (table, await other)

    return run_virtual(scenario())


def crash_and_come_back(crashing: int, at: list[int] | None) -> None:
    """The same is said as without the crash, byte for byte: nothing is said twice, and nothing else."""
    moments, undisturbed, (table, _) = game_with_a_crash(crashing, -1)
    assert table.result is not None
    for moment in range(moments) if at is None else [round(share * (moments - 1) / 100) for share in at]:
        _, said, tables = game_with_a_crash(crashing, moment)
        assert said == undisturbed
        assert [each.result for each in tables] == [table.result] * 2


@pytest.mark.parametrize(("crashing", "at"), [(ALICE, [4, 21, 60]), (BOB, [9, 47, 97])])
def test_who_crashes_comes_back_to_the_game(crashing: int, at: list[int]) -> None:
    """In the shuffle, in the deal, in turns and in the audit."""
    crash_and_come_back(crashing, at)


@pytest.mark.parametrize(("crashing", "at"), [(ALICE, [4, 21, 60]), (BOB, [9, 47, 97])])
def test_what_comes_into_the_log_late_is_recognised_as_our_own(crashing: int, at: list[int]) -> None:
    """It was on its way when the client was killed: it is not said twice, and nobody is accused of it."""
    moments, undisturbed, _ = game_with_a_crash(crashing, -1)
    for share in at:
        nearby = round(share * (moments - 1) / 100)
        for moment in range(nearby, min(nearby + 3, moments)):  # a moment in three is before a post
            _, said, tables = game_with_a_crash(crashing, moment, is_late=True)
            assert said == undisturbed
            assert tables[0].result == tables[1].result is not None


@pytest.mark.long
@pytest.mark.parametrize("crashing", [ALICE, BOB])
def test_who_crashes_comes_back_from_every_action(crashing: int) -> None:
    crash_and_come_back(crashing, None)
