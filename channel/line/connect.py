"""The port to a place where tables are, whatever carries them; and the choice of the carrier by an address."""

from __future__ import annotations

from ssl import SSLContext
from types import TracebackType
from typing import Protocol
from urllib.parse import urlsplit

from forcemove.channel.errors import InvalidValue
from forcemove.channel.flow.transport import Transport
from forcemove.channel.line.errors import NatsMissing
from forcemove.channel.line.links import RELAY_FORM, public_url
from forcemove.channel.line.offers import Offer, Shown, SignedOffer
from forcemove.channel.line.terms import Table
from forcemove.channel.protocol.signing import Key

__all__ = ["Connection", "LobbyPort", "connect"]


class LobbyPort(Protocol):
    """Where offers are made, listed and joined. What others have put there is believed by its signature alone.

    Besides what is said below, every call raises a `LineError` where the connection has ended.
    """

    async def make(self, offer: Offer, key: Key) -> bytes:
        """Offer a game; returns the offer's hash, for a link. Raises `RelayRefused`, and `InvalidValue` where the key
        is not the host's."""
        ...

    async def list(self) -> tuple[SignedOffer, ...]:
        """The open offers, in the order of their hashes."""
        ...

    async def look(self, offer: bytes) -> Shown:
        """One offer, by its hash. Raises `RelayRefused` where there is none, or none any more, and
        `OtherOfferShown`."""
        ...

    async def join(self, offer: bytes, key: Key, payout: bytes, *, chain_id: int) -> Table:
        """Take an offer; returns the table where to meet its host within a minute, or the offer is open again.
        `chain_id`: of the chain that we play on, 0 for none. Raises `OfferOfAnotherChain`, `OtherOfferShown`, and
        `RelayRefused`, also where somebody else was faster."""
        ...

    async def joined(self, offer: bytes) -> Shown:
        """Wait until somebody has joined our offer, or it is over. Raises as `look` does."""
        ...

    async def withdraw(self, offer: bytes, key: Key) -> None:
        """Take our offer back. Raises `RelayRefused` where it is over already, or not ours."""
        ...


class Connection(Protocol):
    """A place with tables and a lobby. Used as `async with connect(url) as connection`; a lost connection is made anew
    until the block is left. Entering it raises `RelayUnreachable` where nobody answers in time."""

    async def __aenter__(self) -> Connection: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...

    @property
    def url(self) -> str:
        """Where it is, as a link to a friend names it: without a password."""
        ...

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection now; what is said meanwhile waits for one."""
        ...

    @property
    def lobby(self) -> LobbyPort:
        """The offers of this place."""
        ...

    async def join(self, terms: Table, key: Key) -> Transport:
        """The log of a table at which `key` is a participant's; the table is made if it is not there. It knows how long
        the log is (`length`). Raises a `LineError`, and `InvalidValue`. Joining twice gives the same log."""
        ...

    async def watch(self, table: bytes) -> Transport:
        """The log of a table, by its id, to read only. Raises a `LineError`, also where there is no such table."""
        ...

    def leave(self, table: bytes) -> None:
        """Read and post no more at a table; who waits there is given `LineClosed`."""
        ...


def connect(url: str, *, patience: float | None = 10.0, ssl: SSLContext | None = None) -> Connection:
    """A connection, not entered yet: to the relay at `url`, ws:// or wss://, or to the NATS server at `url`, nats:// or
    tls://, with `name:password@` or `token@` before the host where that wants it.

    `patience`: seconds until entering it gives up where nobody answers; None never does. `ssl`: if not the system's
    certificates are to be trusted. Raises `InvalidValue`, and `NatsMissing` where the extra `forcemove[nats]` is not
    installed.
    """
    match urlsplit(url).scheme:
        case "ws" | "wss":
            from forcemove.channel.line.websocket.connection import RelayConnection

            return RelayConnection(url, patience=patience, ssl=ssl)
        case "nats" | "tls":
            _require_nats()
            from forcemove.channel.line.jetstream.connection import JetStreamConnection

            return JetStreamConnection(url, patience=patience, ssl=ssl)
        case _:
            raise InvalidValue("relay", public_url(url), RELAY_FORM)


def _require_nats() -> None:
    try:
        import nats  # noqa: F401 - asked for here, so that who lacks it is told what to do
    except ImportError as error:
        raise NatsMissing(str(error)) from None
