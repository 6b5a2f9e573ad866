"""Connections of strangers at a real relay: those on which nothing is asked are closed, those that are too many are
refused, and no files left is survived."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path

import aiohttp
import pytest

from forcemove.relay.limits import Limits
from forcemove.transport import errors, offers, wire
from tests.certificate import tls_options
from tests.relay.admission.test_frames import frame
from tests.relay.process import RelayProcess, running_relay
from tests.relay.raw import Raw, count_connections, post, raw, raw_from
from tests.transport.offered import new_offer
from tests.transport.people import ALICE, new_table, run

OTHER = "127.0.0.2"
HEADER_SECONDS = Limits().header_seconds
UPGRADE = (
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
HALF_A_FRAME = b"\x82\xff" + (65_000).to_bytes(8) + bytes(4) + bytes(40_000)


def many_frames() -> bytes:
    """Of requests that count for much, more than a relay handles in one turn of its loop; some 75,000 bytes."""
    requests = wire.SendBuffer()
    for _ in range(180):
        requests.add(wire.encode(wire.WithdrawOffer(b"", bytes(32), bytes(64))))
    return frame(requests.take(), bytes(4)) * 4


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RelayProcess]:
    options = ("--header-seconds", "0.5", "--idle-seconds", "0.5", "--stall", "0.5")
    with running_relay(tmp_path_factory.mktemp("relay"), *options) as relay:
        yield relay


Socket = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _opened(relay: RelayProcess, said: bytes, address: str = "127.0.0.1") -> Socket:
    reader, writer = await asyncio.open_connection("127.0.0.1", relay.port, local_addr=(address, 0))
    writer.write(said)
    return reader, writer


async def _begun(relay: RelayProcess, address: str = "127.0.0.1") -> Socket:
    """A WebSocket on which half a frame was sent."""
    reader, writer = await _opened(relay, UPGRADE, address)
    assert b"101 Switching" in await reader.readuntil(b"\r\n\r\n")
    writer.write(HALF_A_FRAME)
    return reader, writer


async def _end(socket: Socket) -> bytes:
    """What comes until the connection ends, however it does."""
    reader, writer = socket
    heard = b""
    with contextlib.suppress(ConnectionError):
        while more := await reader.read(2**16):
            heard += more
    writer.close()
    return heard


async def _seated(client: Raw) -> bytes:
    """At a table of its own, whose id is returned."""
    table = new_table()
    await client.say(client.proof(table, ALICE))
    await client.hear(wire.Proved)
    return table.id


# ------------------------------------------------------------------------------------------- nothing is asked on them


@pytest.mark.parametrize(
    "said",
    [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: "],
    ids=["nothing", "half a line", "half a header"],
)
async def test_threat_59_who_does_not_ask_for_a_websocket_is_cut_off(impatient: RelayProcess, said: bytes) -> None:
    assert await _end(await _opened(impatient, said)) == b""


async def test_threat_59_a_body_that_does_not_come_is_not_waited_for(impatient: RelayProcess) -> None:
    heard = await _end(await _opened(impatient, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"))
    assert b" 405 " in heard.partition(b"\r\n")[0]


async def test_threat_59_who_asks_nothing_is_sent_away_and_who_waits_for_something_stays(
    impatient: RelayProcess,
) -> None:
    async with AsyncExitStack() as stack:
        silent, asked, seated, hosting = [await stack.enter_async_context(raw(impatient.url)) for _ in range(4)]
        table = await _seated(seated)
        offer = new_offer()
        signed = offers.SignedOffer.sign(offer, ALICE)
        await hosting.say(wire.MakeOffer(b"", offers.OFFERS.encode(offer), signed.signature.compact))
        await asked.say(wire.Open(bytes(32), 0, None))
        assert await silent.closed() == aiohttp.WSCloseCode.OK
        assert await asked.closed() == aiohttp.WSCloseCode.OK
        await asyncio.sleep(1)  # twice as long as the others had
        for client in (seated, hosting):
            assert not client.socket.closed
            await client.say(wire.Open(table, 0, None))
            while not isinstance(await client.next(), wire.Opened):
                pass


async def test_threat_59_a_frame_that_does_not_come_to_its_end_is_not_waited_for(impatient: RelayProcess) -> None:
    await _end(await _begun(impatient))
    async with raw(impatient.url) as slow:
        await _seated(slow)
        transport = slow.transport()
        transport.write(HALF_A_FRAME)
        await slow.closed()


# --------------------------------------------------------------------------------------------------------- too many


async def test_threat_59_who_connects_too_often_is_refused_and_others_are_not(tmp_path: Path) -> None:
    with running_relay(tmp_path, "--connects-per-second", "0.2", "--header-seconds", "2") as relay:
        for _ in range(5):
            async with raw(relay.url):
                pass
        with pytest.raises((aiohttp.ClientError, ConnectionError)):
            async with raw(relay.url):
                raise AssertionError("it was the sixth")
        async with raw_from(relay.url, OTHER):
            pass


async def test_threat_59_handshakes_that_do_not_end_keep_nobody_out(tmp_path: Path) -> None:
    """A hundred that begin one and say no more; only this many go on at once."""

    with running_relay(tmp_path, *tls_options(tmp_path)) as relay:
        begun = [await _opened(relay, b"\x16\x03\x01\x02\x00", OTHER) for _ in range(100)]
        async with asyncio.timeout(HEADER_SECONDS - 1), raw(relay.url):
            pass
        for _, writer in begun:
            writer.close()


async def test_threat_59_unread_bytes_are_bounded_by_address(tmp_path: Path) -> None:
    with running_relay(tmp_path, "--unread-bytes", "200000") as relay:
        readers = [await _begun(relay, OTHER) for _ in range(5)]
        ends = [asyncio.create_task(_end(reader)) for reader in readers]
        done, waiting = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        while len(done) < 3:
            done, waiting = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED, timeout=0.01)
        async with raw(relay.url) as client:
            table = new_table()
            await client.say(client.proof(table, ALICE), post(table, 1, bytes(30_000)))
            await client.hear(wire.Proved)
            await client.hear(wire.Posted)
        assert waiting
        for task in waiting:
            task.cancel()


async def _leave_unread(relay: RelayProcess, address: str) -> None:
    """Send more than the relay reads at once, and go: orderly, so that it has all been received."""
    reader, writer = await _opened(relay, UPGRADE, address)
    await reader.readuntil(b"\r\n\r\n")
    writer.write(many_frames())
    writer.write_eof()
    await _end((reader, writer))


async def test_threat_59_unread_bytes_of_who_has_gone_are_counted_while_they_are_kept(tmp_path: Path) -> None:
    """The relay reads them half a minute later, and has them in memory until then."""

    bounds = ("--unread-bytes", "200000", "--messages-per-second", "1", "--stall", "1000")
    with running_relay(tmp_path, *bounds) as relay:
        await _leave_unread(relay, OTHER)
        async with asyncio.timeout(30):  # in 45 seconds it would be closed for a ping that is not answered
            await _end(await _begun(relay, OTHER))


async def test_threat_59_unread_bytes_are_counted_no_more_when_they_are_forgotten(tmp_path: Path) -> None:
    with running_relay(tmp_path, "--unread-bytes", "200000") as relay:
        for _ in range(10):
            await _leave_unread(relay, OTHER)
            while await count_connections(relay.url):
                await asyncio.sleep(0.01)
        async with raw(relay.url) as client:
            table = new_table()
            await client.say(client.proof(table, ALICE), post(table, 1, bytes(30_000)))
            await client.hear(wire.Proved)
            await client.hear(wire.Posted)


async def test_threat_59_tables_are_bounded_by_address(tmp_path: Path) -> None:
    with running_relay(tmp_path, "--tables-per-hour", "2") as relay:
        async with raw(relay.url) as client, raw_from(relay.url, OTHER) as other:
            tables = [new_table() for _ in range(3)]
            await client.say(*(client.proof(table, ALICE) for table in [*tables, tables[0]]))
            said = [await client.next() for _ in range(4)]
            assert [type(each) for each in said] == [wire.Proved, wire.Proved, wire.RequestRefused, wire.Proved]
            assert isinstance(said[2], wire.RequestRefused)
            assert said[2].reason == errors.Reason.TOO_MANY_TABLES.value
            await _seated(other)


# ------------------------------------------------------------------------------------------------------ behind a proxy


async def test_threat_59_a_named_proxy_is_believed_and_no_other(tmp_path: Path) -> None:
    with running_relay(tmp_path, "--proxy", OTHER, "--per-address", "1") as relay:
        async with AsyncExitStack() as stack:

            async def connect(through: str, client: str) -> None:
                connector = aiohttp.TCPConnector(local_addr=(through, 0))
                session = await stack.enter_async_context(aiohttp.ClientSession(connector=connector))
                headers = {"X-Forwarded-For": client}
                await stack.enter_async_context(session.ws_connect(relay.url, headers=headers))

            await connect(OTHER, "192.0.2.1")
            await connect(OTHER, "192.0.2.2")
            await connect("127.0.0.3", "192.0.2.3")
            for through, client in ((OTHER, "192.0.2.1"), ("127.0.0.3", "192.0.2.4")):
                with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                    await connect(through, client)
                assert refused.value.status == 503


# ------------------------------------------------------------------------------------------------------ no files left


def test_threat_59_who_has_gone_leaves_nothing_behind_that_would_have_to_be_done(tmp_path: Path) -> None:
    async def story(relay: RelayProcess) -> None:
        async with raw(relay.url) as mallory:
            await mallory.say(*[wire.ListOffers(b"", None)] * 1_000)
            await mallory.hear(wire.OffersListed)
            mallory.hang_up()
        async with asyncio.timeout(10):
            while await count_connections(relay.url):
                await asyncio.sleep(0.02)

    with running_relay(tmp_path, "--messages-per-second", "50") as relay:  # so all of it takes three minutes
        run(story(relay))


def test_threat_59_no_files_left_is_survived_and_told_once(tmp_path: Path) -> None:
    async def story(relay: RelayProcess) -> None:
        process = relay.process.pid
        async with raw(relay.url) as playing:
            await _seated(playing)
            used = len(list(Path(f"/proc/{process}/fd").iterdir()))
            before = resource.prlimit(process, resource.RLIMIT_NOFILE)
            resource.prlimit(process, resource.RLIMIT_NOFILE, (used + 10, before[1]))
            sockets = [await _opened(relay, b"") for _ in range(30)]
            while "no connection can be accepted" not in relay.log():
                await asyncio.sleep(0.01)
            cpu = _cpu(process)
            await asyncio.sleep(1)
            assert _cpu(process) - cpu < 0.2
            await _seated(playing)
            assert relay.log().count("no connection can be accepted") == 1
            resource.prlimit(process, resource.RLIMIT_NOFILE, before)
            async with raw(relay.url) as late:
                await _seated(late)
            del sockets

    with running_relay(tmp_path) as relay:
        run(story(relay))


def _cpu(process: int) -> float:
    """Seconds that it has worked."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def test_that_connections_do_not_fit_is_said_at_the_start(tmp_path: Path) -> None:
    with ExitStack() as stack:
        relay = stack.enter_context(running_relay(tmp_path, "--connections", "100000000"))
        began = time.monotonic()
        while "fewer connections than allowed" not in relay.log() and time.monotonic() < began + 10:
            time.sleep(0.01)
        assert "LimitNOFILE=" in relay.log()
        soft, hard = resource.prlimit(relay.process.pid, resource.RLIMIT_NOFILE)
        assert soft == hard
