"""One connection to a relay, for any number of tables; it is opened again whenever it was lost.

Knows of what goes over a socket the frames alone.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from forcemove.errors import ForcemoveError, InvalidValue, MalformedBytes, UnknownVersion
from forcemove.protocol.signing import Key
from forcemove.transport import wire
from forcemove.transport.errors import Reason, RelayFaulty, RelayUnreachable, TransportClosed
from forcemove.transport.limits import MAX_URL
from forcemove.transport.reconnecting import ANSWER_SECONDS, Reconnecting, keep_trying
from forcemove.transport.terms import TableTerms
from forcemove.transport.websocket.lobby import WebSocketLobby
from forcemove.transport.websocket.socket import CUT_OFF, Socket, open_socket, reason_of
from forcemove.transport.websocket.transport import NewConnection, WebSocketTransport

if TYPE_CHECKING:
    from ssl import SSLContext

_LOG = logging.getLogger(__name__)
_AT_ONCE = 64
"""Messages and entries that are taken in before other tasks get their turn, however many have come."""
_MAX_USELESS = 10_000
"""Messages of no use in a row: after this many the connection is closed, for each costs time."""
_MAX_UNSENT = 64 * 2**20
"""Bytes that wait for a relay which reads nothing while it makes us send more: then the connection is closed."""


class RelayConnection(Reconnecting[WebSocketTransport]):
    """`async with RelayConnection("wss://relay.example") as relay:` keeps a connection until the block is left.
    `lobby`: the relay's.

    Faults of the relay and the network cost time only: the connection is closed and opened again, after a pause that
    doubles up to 10 seconds, of which a random part is waited.
    """

    def __init__(
        self,
        url: str,
        *,
        patience: float | None = 10.0,
        heartbeat: float = 20.0,
        ssl: SSLContext | None = None,
        clock: Callable[[], float] = time.time,
        on_error: Callable[[ForcemoveError], None] = lambda _: None,
        fault_seconds: float | None = None,
    ) -> None:
        """Connect to a relay, once the block is entered.

        - `url`: ws:// or wss://, as the relay's operator has named it.
        - `patience`: seconds until entering the block gives up where nobody answers; None never gives up.
        - `heartbeat`: seconds between pings; an answer may take half as long.
        - `ssl`: for wss://, if not the system's certificates are to be trusted.
        - `clock`: Unix seconds, for proofs.
        - `on_error`: see `connect.connect`.
        - `fault_seconds`: see `connect.connect`.
        """
        if not url.startswith(("ws://", "wss://")) or len(url.encode()) > MAX_URL:
            raise InvalidValue("relay", url, f"ws://host:port or wss://host:port, up to {MAX_URL} bytes")
        super().__init__(url, patience, heartbeat, ssl, on_error, fault_seconds)
        self._clock = clock
        self.lobby = WebSocketLobby(self._send, clock, self._in_time)
        self._outbox, self._has_mail = wire.SendBuffer(), asyncio.Event()
        self._new_connection: NewConnection | None = None
        self._welcomed = asyncio.Event()
        self._limit: asyncio.Timeout | None = None
        self._has_answered, self._is_of_use = False, False

    @property
    def is_connected(self) -> bool:
        """Whether the relay has welcomed us on a connection that is there now."""
        return self._new_connection is not None

    async def join(self, terms: TableTerms, key: Key) -> WebSocketTransport:
        """The log of a table at which `key` is a participant's; the table is made if the relay does not have it.

        Raises `RelayRefused`, `RelayUnreachable` where the relay does not open it, and `InvalidValue`. Joining a table
        twice gives the same log.
        """
        return await self._opened(WebSocketTransport(terms.id, terms, key, self._send))

    async def watch(self, table: bytes) -> WebSocketTransport:
        """The log of a table at which others play. Raises `RelayRefused` where the relay does not have it, and
        `RelayUnreachable`."""
        return await self._opened(WebSocketTransport(table, None, None, self._send))

    def leave(self, table: bytes) -> None:
        """Read and post no more at a table; pending calls raise `TransportClosed`."""
        transport = self._tables.pop(table, None)
        if transport is not None:
            self._send(wire.Leave(table))
            transport.fail(TransportClosed(self.url))

    # ------------------------------------------------------------------------------------------------------ the tables

    def _begin(self, log: WebSocketTransport) -> None:
        if self._new_connection is not None:
            self._send_all(
                log.on_connected(replace(self._new_connection, now=int(self._clock())))
            )  # a new time, or the proof would be too old

    def _send(self, message: wire.Message) -> None:
        if self._new_connection is not None:
            self._outbox.add(wire.encode(message))
            self._has_mail.set()

    def _send_all(self, messages: Iterable[wire.Message]) -> None:
        for message in messages:
            self._send(message)

    def _fail(self, failure: ForcemoveError) -> None:
        super()._fail(failure)
        self.lobby.fail(self._end or failure)

    # -------------------------------------------------------------------------------------------------- the connection

    async def _connected(self) -> None:
        await self._welcomed.wait()
        if self._end is not None:
            raise self._end

    async def _run(self) -> None:
        """Run until cancelled, or until the relay turns out to be of another version while the block is entered. At the
        end pending calls get the failure."""
        try:
            await keep_trying(self._talk_once, self._pauses)
        except (UnknownVersion, RelayFaulty) as error:
            self._fail(error)
        finally:
            self._fail(TransportClosed(self.url))
            self._welcomed.set()

    async def _talk_once(self) -> None:
        """Use one connection. Whatever a relay sends costs this connection, and nothing else."""
        self._has_answered, self._is_of_use = False, False
        try:
            await self._talk()
        except UnknownVersion as error:
            self._on_lasting_error(error)
        except MalformedBytes as error:
            self._lengthen_pauses()
            self._note(f"what it says is none of a relay's messages: {error.reason}")
        except Exception as error:
            self._note(reason_of(error))
        finally:
            self._lose()
        if self._has_answered and not self._is_of_use:
            self._faults.add()
            self._leave_if_hopeless()

    def _note(self, reason: str) -> None:
        _LOG.info("lost the connection to %s: %s", self.url, reason)
        self._report_error(RelayUnreachable(self.url, reason[:200]))

    async def _talk(self) -> None:
        async with (
            asyncio.timeout(ANSWER_SECONDS) as self._limit,
            open_socket(self.url, self._heartbeat, self._ssl) as socket,
        ):
            self._has_answered = True
            writing = asyncio.create_task(self._write(socket))
            try:
                await self._listen(socket)
            finally:
                writing.cancel()
                await asyncio.wait([writing])

    async def _listen(self, socket: Socket) -> None:
        """Take messages in. However fast a relay sends, other tasks of this event loop get their turns."""
        received, useless = 0, 0
        while (frame := await socket.receive()) is not None:
            for message in wire.decode_from_relay(frame):
                for part in _parts(message):
                    useless = 0 if self._on_message(part) else useless + 1
                    if useless > _MAX_USELESS:
                        raise MalformedBytes("frame", "it says what nobody has asked for")
                    received += len(part.entries) if isinstance(part, wire.Entries) else 1
                    if received >= _AT_ONCE:
                        received = 0
                        await asyncio.sleep(0)
            if self._outbox.size > _MAX_UNSENT:
                raise ConnectionError("it asks for much, and reads nothing")
        code = socket.close_code
        self._note("the connection was cut off" if code in CUT_OFF else f"it was closed with code {code}")

    async def _write(self, socket: Socket) -> None:
        """Send what waits. A connection that cannot be written to is closed, which ends `_listen`, too."""
        try:
            while True:
                await self._has_mail.wait()
                self._has_mail.clear()
                while self._outbox:
                    await socket.send(self._outbox.take())
        except Exception:
            await socket.close()

    def _on_message(self, message: wire.FromRelay) -> bool:
        """Take a message in; whether it was of use."""
        match message:
            case wire.Welcome(nonce):
                self._be_welcomed(nonce)
                return False
            case wire.RequestRefused(_, _, reason) if reason == Reason.BUSY.value:
                raise ConnectionError(f"the relay is busy: {message.detail}")
            case wire.OfferShown() | wire.OffersListed():
                is_of_use = self.lobby.on_message(message)
            case wire.RequestRefused(about) if about not in self._tables:
                is_of_use = self.lobby.on_message(message)
            case wire.RequestRefused(about):
                is_of_use = self._pass_on(about, message)
            case _:
                is_of_use = self._pass_on(message.table, message)
        if is_of_use:
            self._is_of_use = True
            self._faults.clear()
        return is_of_use

    def _pass_on(self, table: bytes, message: wire.FromRelay) -> bool:
        """Give a message to its table. Entries show that the relay works: the next loss counts as a new one. An answer
        alone says nothing of its disk."""
        if isinstance(message, wire.Posted | wire.Entries):
            self._pauses.reset()
        transport = self._tables.get(table)
        return transport is not None and transport.on_message(message)

    def _be_welcomed(self, nonce: bytes) -> None:
        """Take the first welcome; later ones are ignored, since each would make us sign and send much."""
        if self._new_connection is not None:
            raise MalformedBytes("frame", "we were welcomed already")
        if self._limit is not None:
            self._limit.reschedule(None)
        self._new_connection = NewConnection(self.url, nonce, int(self._clock()))
        self._welcomed.set()
        for transport in self._tables.values():
            self._send_all(transport.on_connected(self._new_connection))
        self._send_all(self.lobby.unanswered())

    def _lose(self) -> None:
        self._new_connection = None
        self._outbox = wire.SendBuffer()
        for transport in self._tables.values():
            transport.lose()
        self.lobby.lose()


def _parts(message: wire.FromRelay) -> Iterator[wire.FromRelay]:
    """A message in parts of so few entries that each is taken in quickly."""
    if not isinstance(message, wire.Entries) or len(message.entries) <= _AT_ONCE:
        yield message
        return
    for at in range(0, len(message.entries), _AT_ONCE):
        yield wire.Entries(message.table, message.first + at, message.entries[at : at + _AT_ONCE])
