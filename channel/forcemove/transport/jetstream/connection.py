"""The connection to a NATS server, for any number of tables; it is opened again whenever it was lost."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import Callable, Coroutine, Sequence
from ssl import SSLContext
from typing import Any, TypeVar
from urllib.parse import urlsplit

from nats.errors import NoRespondersError, NoServersError
from nats.js.errors import NotFoundError, ServiceUnavailableError

from forcemove.backoff import Backoff
from forcemove.connecting import connection_words
from forcemove.errors import ForcemoveError, InvalidValue
from forcemove.protocol.signing import Key
from forcemove.transport import errors
from forcemove.transport.jetstream.lobby import JOIN_SECONDS, JetStreamLobby
from forcemove.transport.jetstream.session import NatsSession, PendingPublish
from forcemove.transport.jetstream.streams import STREAMS, subject_of
from forcemove.transport.jetstream.transport import JetStreamTransport
from forcemove.transport.limits import MAX_URL
from forcemove.transport.links import public_url
from forcemove.transport.reconnecting import SHORTEST, Reconnecting, keep_trying
from forcemove.transport.terms import TableKind, TableTerms

_LOG = logging.getLogger(__name__)
_SWEEP_SECONDS = 1.0
_LONGEST_PAUSE = 1.0
_OPEN_SECONDS = 30.0
"""Seconds that a server may take until everything is prepared."""
_FORBIDDEN = re.compile(r"permissions violation for \w+ to \"([^\"]*)\"", re.IGNORECASE)
"""The server's error for a subject that our account may not use, which has no code, only this text."""
_GONE = (NoRespondersError, NotFoundError, ServiceUnavailableError)
"""The errors of a server that has no stream or service for a request."""
_AWAY = (OSError, TimeoutError, NoServersError)
"""The errors where no server answers: the connection waits for one."""
ResultT = TypeVar("ResultT")


class JetStreamConnection(Reconnecting[JetStreamTransport]):
    """`async with JetStreamConnection("nats://nats.example") as connection:` keeps a connection until the block is
    left. `lobby`: that of the server.

    Faults of the server and the network cost time only: the connection is opened again, after a pause that doubles up
    to 10 seconds, of which a random part is waited.
    """

    def __init__(
        self,
        url: str,
        *,
        patience: float | None = 10.0,
        heartbeat: float = 20.0,
        ssl: SSLContext | None = None,
        join_seconds: float = JOIN_SECONDS,
        on_error: Callable[[ForcemoveError], None] = lambda _: None,
        fault_seconds: float | None = None,
    ) -> None:
        """Connect to a NATS server, once the block is entered.

        - `url`: nats:// or tls://, with `name:password@` or `token@` before the host where the server wants it.
        - `patience`: seconds until entering the block gives up where nobody answers; None never gives up.
        - `heartbeat`: seconds between signs of life.
        - `ssl`: if not the system's certificates are to be trusted.
        - `join_seconds`: that host and guest have to be at their table, the same for all who use the lobby.
        - `on_error`: see `connect.connect`.
        - `fault_seconds`: see `connect.connect`.
        """
        if not _is_address(url):
            raise InvalidValue("relay", public_url(url), f"nats://host:port or tls://host:port, up to {MAX_URL} bytes")
        super().__init__(public_url(url), patience, heartbeat, ssl, on_error, fault_seconds)
        self._address = url
        self.lobby = JetStreamLobby(self._answered, join_seconds)
        self._servers = [self.url]
        self._following: dict[bytes, asyncio.Task[None]] = {}
        self._session: NatsSession | None = None
        self._changed = asyncio.Event()
        self._is_prepared = False

    @property
    def is_connected(self) -> bool:
        """Whether there is a prepared connection now."""
        return self._session is not None

    async def join(self, terms: TableTerms, key: Key) -> JetStreamTransport:
        """The log of a table at which `key` is a participant's.

        Raises `RelayRefused` where the account may not use it, `RelayUnreachable` where the server does not answer,
        `InvalidValue`, and `LogReplaced`. Joining a table twice gives the same log.
        """
        if key.address not in terms.participants:
            raise InvalidValue("key", key.address, "that of a participant")
        transport = await self._opened(JetStreamTransport(terms.kind, terms.id, key, self._send, self._forget))
        await self.lobby.arrive(terms.id, key)
        return transport

    async def watch(self, table: bytes) -> JetStreamTransport:
        """The log of a table at which others play. Raises `RelayRefused` where it has no entry, and
        `RelayUnreachable`."""
        kind = await self._answered(lambda session: _kind_of(session, table), f"for table 0x{table.hex()}")
        return await self._opened(JetStreamTransport(kind, table, None, self._send, self._forget))

    def leave(self, table: bytes) -> None:
        """Read and post no more at a table; pending calls raise `TransportClosed`."""
        transport = self._tables.pop(table, None)
        if transport is not None:
            transport.fail(errors.TransportClosed(self.url))
            self._following.pop(table).cancel()

    async def ask(self, do: Callable[[NatsSession], Coroutine[Any, Any, ResultT]]) -> ResultT:
        """Do something on the connection, and again where it was lost meanwhile, or the server has said what nobody
        understands. Raises what has ended us, and what is said on purpose: `ForcemoveError`s."""
        pauses = Backoff(SHORTEST, _LONGEST_PAUSE)
        while True:
            session = await self._next_session()
            try:
                result = await session.during(do(session))
            except ForcemoveError:
                raise
            except Exception as error:
                await self._bear(error, session, pauses)
            else:
                self._faults.clear()
                return result

    async def _answered(self, do: Callable[[NatsSession], Coroutine[Any, Any, ResultT]], asked: str) -> ResultT:
        """As `ask`, for as long as an answer may take. Raises `RelayUnreachable`."""
        return await self._in_time(self.ask(do), asked)

    # ------------------------------------------------------------------------------------------------------ the tables

    def _begin(self, log: JetStreamTransport) -> None:
        self._following[log.id] = asyncio.create_task(self._follow(log))

    def _drop(self, table: bytes) -> None:
        self.leave(table)

    def _send(self, post: PendingPublish) -> None:
        if self._session is not None:
            self._session.outbox.send(post)

    def _forget(self, post: str) -> None:
        if self._session is not None:
            self._session.outbox.forget(post)

    async def _follow(self, transport: JetStreamTransport) -> None:
        """Read a table's log until it fails, on one connection after the other. At the end pending calls get the
        failure."""
        try:
            while transport.failure is None and self._end is None:
                await self.ask(lambda session: self._follow_on(session, transport))
        except errors.TransportError:
            pass  # the connection has ended: the table's readers get the failure below
        finally:
            transport.fail(self._end or errors.TransportClosed(self.url))

    async def _follow_on(self, session: NatsSession, transport: JetStreamTransport) -> None:
        """Subscribe to new messages first, then read the stored ones: so none is missed between the two."""
        stream, subject = transport.stream, transport.subject
        try:
            async with session.live(stream, subject, transport.on_new_message) as live:
                async with session.feed(stream, subject, transport.resume(), transport.on_message) as feed:
                    is_whole = await feed.catch_up() and transport.catch_up()
                if is_whole:
                    self._pauses.reset()
                    self._faults.clear()
                    await live.ended.wait()
        finally:
            transport.lose()

    # -------------------------------------------------------------------------------------------------- the connection

    async def _connected(self) -> None:
        await self._next_session()

    async def _next_session(self) -> NatsSession:
        """The session, as soon as there is a connection. Raises the error that has ended this connection."""
        while self._session is None:
            if self._end is not None:
                raise self._end
            await self._changed.wait()
        return self._session

    async def _run(self) -> None:
        """Run until cancelled, or until the server turns out to be unsuitable while the block is entered. At the end
        pending calls get the failure."""
        try:
            await keep_trying(self._talk_once, self._pauses)
        except (errors.StreamUnsuitable, errors.RelayFaulty) as error:
            self._fail(error)
        finally:
            self._fail(errors.TransportClosed(self.url))

    async def _talk_once(self) -> None:
        """Run one session. Whatever a server sends costs this session, and nothing else."""
        session = NatsSession(self._address, self._heartbeat, self._on_session_error)
        self._faults.add()  # counted until the server turns out to be of use, or away
        try:
            async with asyncio.timeout(_OPEN_SECONDS):
                await session.open(self._servers, self._ssl)
                if not self._is_prepared:
                    await session.prepare()
            self._servers, self._is_prepared = session.servers(), True
            self._show(session)
            await self._with_sweeping(session)
        except errors.StreamUnsuitable as error:
            self._on_lasting_error(error)
        except errors.RelayUnreachable as error:
            self._report_error(error)
        except Exception as error:
            self._on_session_error(error)
            if isinstance(error, _AWAY):
                self._faults.clear()
        finally:
            self._show(None)
            await self._close(session)
        self._leave_if_hopeless()

    async def _close(self, session: NatsSession) -> None:
        try:
            await session.close()
        except Exception as error:
            self._on_session_error(error)

    async def _with_sweeping(self, session: NatsSession) -> None:
        sweeping = asyncio.create_task(self._sweep(session))
        try:
            await session.run()
        finally:
            sweeping.cancel()

    async def _sweep(self, session: NatsSession) -> None:
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            session.sweep()
            for transport in self._tables.values():
                transport.say_again()

    def _tasks(self) -> Sequence[asyncio.Task[None]]:
        return [*self._following.values(), self._running]

    def _show(self, session: NatsSession | None) -> None:
        self._session = session
        self._changed.set()
        self._changed = asyncio.Event()

    async def _bear(self, error: Exception, session: NatsSession, pauses: Backoff) -> None:
        """Wait for a better moment. Where a stream is gone, the next session makes it anew."""
        self._on_session_error(error)
        if isinstance(error, _GONE):
            self._is_prepared = False
            await self._close(session)
        await asyncio.sleep(pauses.next_pause())

    def _on_session_error(self, error: Exception) -> None:
        """Note an error that the server has sent: it explains more than a lost connection. A refusal may be about one
        table."""
        reason = _reason_of(error)[:200]
        _LOG.info("error of %s: %s", self.url, reason)
        if self._error is None or not isinstance(error, OSError | NoServersError):
            self._report_error(errors.RelayUnreachable(self.url, reason))
        found = _FORBIDDEN.search(reason)
        forbidden = "" if found is None else found[1]
        for transport in self._tables.values():
            if transport.id.hex() in forbidden:
                transport.fail(errors.RelayRefused(transport.id, errors.Reason.NOT_A_PARTICIPANT, reason))

    def _fail(self, failure: ForcemoveError) -> None:
        super()._fail(failure)
        self._show(None)


def _reason_of(error: Exception) -> str:
    """Why there is no connection, in words where the system has them."""
    if isinstance(error, OSError) and not isinstance(error, TimeoutError):
        return connection_words(error)
    return f"{type(error).__name__}: {error}"


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        has_place = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return has_place and parts.scheme in ("nats", "tls") and len(url.encode()) <= MAX_URL


async def _kind_of(session: NatsSession, table: bytes) -> TableKind:
    """The kind of the stream that has messages of the table."""
    for kind, stream in STREAMS.items():
        with contextlib.suppress(NotFoundError):
            await session.js.get_last_msg(stream, subject_of(kind, table))
            return kind
    raise errors.RelayRefused(table, errors.Reason.UNKNOWN_TABLE, "nothing was said there")
