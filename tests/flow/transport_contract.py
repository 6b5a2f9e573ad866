"""What every transport promises, as tests: subclass `TransportContract` and say how a table's transports are made."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Coroutine, Sequence
from typing import Any

from forcemove.flow.transport import Reader, Transport
from forcemove.protocol.codec.limits import MAX_ACTION
from tests.flow.table import CODEC, NAMES, Said
from tests.flow.virtual_time import run_virtual


def message(client: int, number: int) -> bytes:
    """What client number `client` says; distinct for distinct numbers."""
    return CODEC.encode(Said(NAMES[client], number))


class TransportContract:
    """Subclasses are tests of one transport."""

    async def table(self, clients: int) -> Sequence[Transport]:
        """A new table: one transport for each client, of one log."""
        raise NotImplementedError

    def run(self, scenario: Coroutine[Any, Any, None]) -> None:
        """In virtual time; a transport over sockets says here how it is run."""
        run_virtual(scenario)

    async def test_what_is_posted_comes_to_everybody_the_sender_included(self) -> None:
        table = await self.table(3)
        await table[0].post(message(0, 1))
        assert [await each.reader().read() for each in table] == [message(0, 1)] * 3

    async def test_all_see_one_order(self) -> None:
        table = await self.table(3)
        readers = [each.reader() for each in table]

        async def say(client: int) -> None:
            for number in range(10):
                await table[client].post(message(client, number))
                await asyncio.sleep(0)

        async with asyncio.TaskGroup() as group:
            seen = [group.create_task(_read(reader, 30)) for reader in readers]
            for client in range(3):
                group.create_task(say(client))
        orders = [each.result() for each in seen]
        assert orders[0] == orders[1] == orders[2]
        for client in range(3):
            own = [each for each in orders[0] if each in {message(client, n) for n in range(10)}]
            assert own == [message(client, number) for number in range(10)]

    async def test_who_comes_later_reads_the_same_from_the_beginning(self) -> None:
        table = await self.table(2)
        for number in range(5):
            await table[0].post(message(0, number))
        late = table[1].reader()
        assert await _read(late, 5) == [message(0, number) for number in range(5)]
        await table[0].post(message(0, 5))
        assert await late.read() == message(0, 5)

    async def test_a_reader_begins_where_it_is_told_to(self) -> None:
        table = await self.table(2)
        for number in range(5):
            await table[0].post(message(0, number))
        assert await _read(table[1].reader(3), 2) == [message(0, 3), message(0, 4)]
        assert table[1].length() == 5

    async def test_a_poster_knows_the_length_that_its_post_has_made(self) -> None:
        table = await self.table(2)
        for number in range(3):
            await table[number % 2].post(message(number % 2, number))
            assert table[number % 2].length() == number + 1

    async def test_the_largest_messages_arrive_whole(self) -> None:
        table = await self.table(2)
        large = [_large(client, size) for client in (0, 1) for size in (1, 4_096, MAX_ACTION - 100)]
        for client, each in zip((0, 0, 0, 1, 1, 1), large, strict=True):
            await table[client].post(each)
        for transport in table:
            assert await _read(transport.reader(), 6) == large

    async def test_a_long_log_is_read_from_any_place(self) -> None:
        table = await self.table(2)
        for number in range(300):
            await table[number % 2].post(message(number % 2, number))
        whole = await _read(table[0].reader(), 300)
        assert whole == [message(number % 2, number) for number in range(300)]
        for start in (1, 149, 298, 299):
            assert await _read(table[1].reader(start), 300 - start) == whole[start:]

    async def test_many_readers_each_read_everything(self) -> None:
        table = await self.table(3)
        async with asyncio.TaskGroup() as group:
            seen = [group.create_task(_read(table[number % 3].reader(), 20)) for number in range(30)]
            for number in range(20):
                await table[0].post(message(0, number))
        assert [each.result() for each in seen] == [[message(0, number) for number in range(20)]] * 30

    async def test_readers_do_not_disturb_each_other(self) -> None:
        transport = (await self.table(1))[0]
        first, second = transport.reader(), transport.reader()
        for number in range(3):
            await transport.post(message(0, number))
        assert await _read(first, 3) == await _read(second, 3)

    async def test_a_cancelled_wait_loses_no_message(self) -> None:
        transport = (await self.table(1))[0]
        reader = transport.reader()
        for number in range(20):
            waiting = asyncio.create_task(reader.read())
            for _ in range(number % 4):
                await asyncio.sleep(0)
            if number % 2:
                await transport.post(message(0, number))
                for _ in range(number % 3):
                    await asyncio.sleep(0)
            waiting.cancel()
            [got] = await asyncio.gather(waiting, return_exceptions=True)
            if number % 2 and isinstance(got, asyncio.CancelledError):
                got = await reader.read()
            if number % 2:
                assert got == message(0, number)

    async def test_who_stops_reading_is_forgotten(self) -> None:
        transport = (await self.table(1))[0]
        reader = transport.reader()
        gone = weakref.ref(reader)
        waiting = asyncio.create_task(reader.read())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        del reader, waiting
        await asyncio.sleep(0)
        gc.collect()
        assert gone() is None

    async def test_a_reader_that_waits_hears_what_is_posted_then(self) -> None:
        table = await self.table(2)
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(table[1].reader().read())
            for _ in range(10):
                await asyncio.sleep(0)
            assert not waiting.done()
            await table[0].post(message(0, 1))
        assert waiting.result() == message(0, 1)


def _large(client: int, size: int) -> bytes:
    """A message with padding of this many characters."""
    return b'{"client_id":"%s","pad":"%s"}' % (NAMES[client].encode(), b"x" * size)


async def _read(reader: Reader, count: int) -> list[bytes]:
    return [await reader.read() for _ in range(count)]
