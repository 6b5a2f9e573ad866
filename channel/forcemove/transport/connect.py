"""The port to a server that has tables, whatever protocol it speaks; and the choice of the protocol by an address."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from forcemove.errors import ForcemoveError, InvalidValue
from forcemove.flow.transport import Transport
from forcemove.protocol.signing import Key
from forcemove.transport.errors import NatsMissing
from forcemove.transport.joins import OfferStatus
from forcemove.transport.links import RELAY_FORM, public_url
from forcemove.transport.messenger import ChannelMessenger, LogSource
from forcemove.transport.offers import MAX_LISTED, Offer
from forcemove.transport.terms import TableTerms

if TYPE_CHECKING:
    from ssl import SSLContext

OnError = Callable[[ForcemoveError], None]


class LobbyPort(Protocol):
    """A lobby, where offers are made, listed and joined. An offer or a join is believed by its signature alone.

    Besides its own errors, every call raises a `TransportError` where the connection has ended, and `RelayUnreachable`
    where no answer came for 10 seconds: it names what was asked.
    """

    async def make(self, offer: Offer, key: Key) -> bytes:
        """Offer a game; returns the offer's hash, for a link. Raises `RelayRefused`, and `InvalidValue` where the key
        is not the host's."""
        ...

    async def list(
        self, wanted: Callable[[Offer], bool] = lambda _: True, most: int = MAX_LISTED
    ) -> tuple[OfferStatus, ...]:
        """The open offers for which `wanted` holds, with who has a seat, at most this many, in the order of their
        hashes."""
        ...

    async def changed(self, offers: Collection[bytes]) -> None:
        """Wait until the list may be another than `list` has given last, or until the connection is lost. Where the
        server does not tell: until one of these offers (their hashes) has changed, or for 5 seconds."""
        ...

    async def look(self, offer: bytes) -> OfferStatus:
        """One offer, by its hash. Raises `RelayRefused` where there is none any more, and `OtherOfferShown`."""
        ...

    async def join(self, offer: bytes, key: Key, payout: bytes, *, chain_id: int, name: str = "") -> OfferStatus:
        """Take a seat of an offer. Look at the offer first: this signs all of its terms. Once all seats are taken, all
        have to be at the table within a minute, or the seats of those that are missing are open again. As long as one
        is free, `watch` keeps ours.

        - `offer`: the offer's hash.
        - `key`: ours, which signs the join.
        - `payout`: where we are paid, 20 bytes.
        - `chain_id`: of the chain that we play on, 0 for none.
        - `name`: ours, may be empty.

        Raises `OfferOfAnotherChain`, `OfferForAnother`, `OtherOfferShown`, and `RelayRefused`, also where others were
        faster.
        """
        ...

    def watch(self, offer: bytes) -> AsyncGenerator[OfferStatus]:
        """The offer now, and after each change, until it is over. To be closed (`contextlib.aclosing`). Raises as
        `look` does."""
        ...

    async def withdraw(self, offer: bytes, key: Key) -> None:
        """Take our offer back. Raises `RelayRefused` where the offer is over already, or not ours."""
        ...


class Connection(Protocol):
    """A connection to a server with tables and a lobby. Used as `async with connect_relay(url) as connection`; a lost
    connection is opened again until the block is left. Entering the block raises `RelayUnreachable` where nobody
    answers in time."""

    async def __aenter__(self) -> Connection: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...

    @property
    def url(self) -> str:
        """The server's address, as a link to a friend names it: without a password."""
        ...

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection now; posts wait for one."""
        ...

    @property
    def error(self) -> ForcemoveError | None:
        """Why there is no connection, None where there is one."""
        ...

    @property
    def lobby(self) -> LobbyPort:
        """The server's offers."""
        ...

    async def join(self, terms: TableTerms, key: Key) -> Transport:
        """The log of a table at which `key` is a participant's; the table is made if it does not exist. The log knows
        its length (`length`). Raises a `TransportError`, also where a relay that answers does not open the table within
        10 seconds, and `InvalidValue`. Joining twice gives the same log."""
        ...

    async def watch(self, table: bytes) -> Transport:
        """The log of a table, by its id, to read only. Raises a `TransportError`, also where there is no such table."""
        ...

    def leave(self, table: bytes) -> None:
        """Read and post no more at a table; pending calls raise `TransportClosed`."""
        ...


def connect_relay(
    url: str,
    *,
    patience: float | None = 10.0,
    ssl: SSLContext | None = None,
    on_error: OnError = lambda _: None,
    fault_seconds: float | None = None,
) -> Connection:
    """A connection to a relay or to a NATS server, not entered yet.

    - `url`: the relay's address, ws:// or wss://, or the NATS server's, nats:// or tls://, with `name:password@` or
      `token@` before the host where the server wants that.
    - `patience`: seconds until entering the connection gives up where nobody answers; None never gives up. An answer of
      another version is refused at once. Once the connection was entered, no error ends it: the connection tries again,
      after pauses of up to a minute.
    - `ssl`: if not the system's certificates are to be trusted.
    - `on_error`: is called with the reason why there is no connection, once, and each minute as long as that lasts.
    - `fault_seconds`: seconds after which a server that answers without being of use is given up: anyone who waits for
      it gets `RelayFaulty`. None never gives up; use it for tables that money depends on.

    Raises `InvalidValue`, and `NatsMissing` where the extra `forcemove[nats]` is not installed.
    """
    match url.partition("://")[0].lower():
        case "ws" | "wss":
            from forcemove.transport.websocket.connection import RelayConnection

            return RelayConnection(url, patience=patience, ssl=ssl, on_error=on_error, fault_seconds=fault_seconds)
        case "nats" | "tls":
            _require_nats()
            from forcemove.transport.jetstream.connection import JetStreamConnection

            return JetStreamConnection(url, patience=patience, ssl=ssl, on_error=on_error, fault_seconds=fault_seconds)
        case _:
            raise InvalidValue("relay", public_url(url), RELAY_FORM)


def messenger_on(
    connection: Connection, table: TableTerms, key: Key, start: int | None = 0, *, on_error: OnError = lambda _: None
) -> ChannelMessenger:
    """A channel's messenger over a connection that others use, too. The connection's owner enters and leaves it, maybe
    after this call. While the messenger runs, nobody else may use the table.

    - `connection`: to the relay.
    - `table`: the channel's table.
    - `key`: see `Connection.join`.
    - `start`: see `ChannelMessenger`.
    - `on_error`: see `ChannelMessenger`.
    """
    return ChannelMessenger(_SharedConnection(connection, table, key), start, on_error=on_error)


def messenger_to(
    url: str,
    table: TableTerms,
    key: Key,
    start: int | None = 0,
    *,
    ssl: SSLContext | None = None,
    on_error: OnError = lambda _: None,
) -> ChannelMessenger:
    """A channel's messenger with a connection of its own, which is opened when the messenger runs, not before. Raises
    as `connect_relay`.

    - `url`: see `connect_relay`.
    - `table`: the channel's table.
    - `key`: see `Connection.join`.
    - `start`: see `ChannelMessenger`.
    - `ssl`: see `connect_relay`.
    - `on_error`: see `ChannelMessenger`.
    """
    return ChannelMessenger(_OwnConnection(url, table, key, ssl, on_error), start, on_error=on_error)


class _SharedConnection(LogSource):
    def __init__(self, connection: Connection, table: TableTerms, key: Key) -> None:
        self._connection, self._table, self._key = connection, table, key

    @property
    def url(self) -> str:
        return self._connection.url

    @property
    def is_connected(self) -> bool:
        return self._connection.is_connected

    @property
    def error(self) -> ForcemoveError | None:
        return self._connection.error

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Transport]:
        try:
            yield await self._connection.join(self._table, self._key)
        finally:
            self._connection.leave(self._table.id)


class _OwnConnection(_SharedConnection):
    """Opens another connection each time: one that was left is not entered again."""

    def __init__(self, url: str, table: TableTerms, key: Key, ssl: SSLContext | None, on_error: OnError) -> None:
        self._address, self._ssl, self._on_error = url, ssl, on_error
        super().__init__(self._new(), table, key)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Transport]:
        self._connection = self._new()
        async with self._connection, super().opened() as transport:
            yield transport

    def _new(self) -> Connection:
        return connect_relay(self._address, patience=None, ssl=self._ssl, on_error=self._on_error)


def _require_nats() -> None:
    try:
        import nats  # noqa: F401 - asked for here, so that who lacks it is told what to do
    except ImportError as error:
        raise NatsMissing(str(error)) from None
