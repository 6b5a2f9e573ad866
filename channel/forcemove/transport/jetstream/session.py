"""One connection to a NATS server, from its beginning to its end; everything about a table or an offer is sent on it. A
session is never opened again: its owner makes another. Posts on their way wait for the server's acknowledgements.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from ssl import SSLContext
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import msgspec
import nats.errors
from msgspec import Struct
from nats.aio.client import Client
from nats.aio.msg import Msg

from forcemove.transport.errors import RelayUnreachable
from forcemove.transport.jetstream.feed import Delivered, Feed, From, Live
from forcemove.transport.jetstream.streams import BUCKET, MAX_MESSAGE, prepare
from forcemove.transport.links import public_url

FAILURES = (nats.errors.Error, OSError, TimeoutError)
"""The errors of a lost connection, or of a server that is not ready."""
_ANSWER_SECONDS = 5.0
ResultT = TypeVar("ResultT")


class _StreamTime(Struct):
    """A part of the server's description of a stream: the time by its clock."""

    ts: datetime | None = None


class _SturdyClient(Client):
    """Reads on where the headers of a message are malformed. nats-py (2.16) stops reading there without an error, so
    that one message of a stranger would stop every reader of its table. The overridden method is private to nats-py; a
    test notices when its name changes."""

    async def _process_headers(self, headers: bytes | None) -> dict[str, str] | None:
        try:
            return await super()._process_headers(headers)
        except (IndexError, ValueError):
            return None


class NatsSession:
    """Made by `open`. `is_over` is set when the connection is lost."""

    def __init__(self, url: str, heartbeat: float, on_error: Callable[[Exception], None]) -> None:
        """`heartbeat`: seconds between signs of life. `on_error`: is called with the server's errors."""
        self._url, self._heartbeat, self._on_error = url, heartbeat, on_error
        self.client = _SturdyClient()
        self.js = self.client.jetstream(timeout=_ANSWER_SECONDS)
        self.is_over = asyncio.Event()
        self._feeds: set[Feed] = set()
        self._lives: defaultdict[str, list[Live]] = defaultdict(list)
        self._ahead: float | None = None
        self.outbox: PublishQueue

    async def open(self, servers: Sequence[str], ssl: SSLContext | None) -> None:
        """Connect to the first of these servers that answers. Raises `RelayUnreachable` and `FAILURES`."""
        parts = urlsplit(self._url)
        name = None if parts.username is None else unquote(parts.username)
        password = None if parts.password is None else unquote(parts.password)
        await self.client.connect(
            servers=list(servers),
            name="forcemove",
            user=name if password is not None else None,
            password=password,
            token=name if password is None else None,
            tls=ssl,
            allow_reconnect=False,
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            ping_interval=max(1, int(self._heartbeat)),
            error_cb=self._on_client_error,
            closed_cb=self._on_closed,
        )
        if self.client.max_payload < MAX_MESSAGE:
            raise RelayUnreachable(
                public_url(self._url),
                f"its max_payload is {self.client.max_payload} bytes, and tables need {MAX_MESSAGE}",
            )
        self.outbox = PublishQueue(self.client)

    async def prepare(self) -> None:
        """Make what is missing on the server. Raises `StreamUnsuitable` and `FAILURES`."""
        await prepare(self.js, public_url(self._url))

    async def run(self) -> None:
        """Send queued messages until the connection is lost. Raises `FAILURES`."""
        await self.during(self.outbox.run())

    async def during(self, doing: Coroutine[Any, Any, ResultT]) -> ResultT:
        """Await a coroutine. Raises `FAILURES`, also as soon as the connection is lost."""
        tasks = asyncio.create_task(doing), asyncio.create_task(self.is_over.wait())
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if not tasks[0].done():
                raise nats.errors.ConnectionClosedError
            return tasks[0].result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def close(self) -> None:
        """End the connection."""
        self._end()
        await self.client.close()

    @asynccontextmanager
    async def feed(
        self, stream: str, subject: str, start: From, on_message: Callable[[Delivered], bool]
    ) -> AsyncIterator[Feed]:
        """The messages of a stream under a subject. Raises `FAILURES`."""
        feed = self._new_feed(stream, (subject,), on_message)
        try:
            await self.during(feed.open(start))
            yield feed
        finally:
            self._feeds.discard(feed)
            await feed.close()

    @asynccontextmanager
    async def live(self, stream: str, subject: str, on_message: Callable[[Delivered], None]) -> AsyncIterator[Feed]:
        """The new messages under a subject; the feed is shared with other subjects. Raises `FAILURES`."""
        for over in [each for each in self._lives[stream] if each.is_over]:
            self._lives[stream].remove(over)
            await over.close()
        live = next((each for each in self._lives[stream] if each.has_room), None)
        if live is None:
            live = Live(partial(self._new_feed, stream), self.during)
            self._lives[stream].append(live)
        async with live.following(subject, on_message) as feed:
            yield feed

    def _new_feed(self, stream: str, subjects: Sequence[str], on_message: Callable[[Delivered], bool]) -> Feed:
        feed = Feed(self.client, self.js, stream, subjects, on_message, self._heartbeat)
        self._feeds.add(feed)
        return feed

    def sweep(self) -> None:
        """End the session where its client has ended, and the feeds whose consumers are silent. To be called now and
        then. nats-py (2.16) calls nobody back where the last bytes cannot be sent any more."""
        if self.client.is_closed:
            self._end()
        self._feeds = {feed for feed in self._feeds if not feed.ended.is_set()}
        for feed in self._feeds:
            feed.end_if_silent()

    async def now(self) -> float:
        """Unix seconds, by the server's clock. Raises `FAILURES`."""
        if self._ahead is None:
            answer = await self.client.request(f"$JS.API.STREAM.INFO.{BUCKET}", timeout=_ANSWER_SECONDS)
            sent = msgspec.json.decode(answer.data, type=_StreamTime)
            self._ahead = 0.0 if sent.ts is None else sent.ts.timestamp() - time.time()
        return time.time() + self._ahead

    def servers(self) -> list[str]:
        """All known servers: those of a cluster announce each other."""
        return [f"{each.scheme}://{each.netloc.rpartition('@')[2]}" for each in self.client.servers]

    async def _on_client_error(self, error: Exception) -> None:
        self._on_error(error)

    async def _on_closed(self) -> None:
        self._end()

    def _end(self) -> None:
        self.is_over.set()
        for feed in self._feeds:
            feed.end()


# ---------------------------------------------------------------------------------------------------------------- posts

NOT_FIRST = 10_071
"""The server's error code for a message that had to be the first of its subject, and is not."""


class PublishError(Struct, frozen=True):
    """Why the server has not taken a message, in its own text."""

    code: int = 0
    err_code: int = 0
    description: str = ""


class Ack(Struct, frozen=True):
    """The server's answer to a message: its number in the stream, or why it has none."""

    seq: int = 0
    error: PublishError | None = None


_ACKS = msgspec.json.Decoder(Ack)


@dataclass(frozen=True)
class PendingPublish:
    """A message on its way to the stream. `on_message`: is called with the server's answer; where none comes, the
    message is to be sent again after some time."""

    subject: str
    message: bytes
    headers: dict[str, str]
    id: str
    on_message: Callable[[Ack], None]


class PublishQueue:
    """The messages that one connection sends, in the order of `send`. No sender waits."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._inbox = client.new_inbox()
        self._unsent: deque[PendingPublish] = deque()
        self._has_mail = asyncio.Event()
        self._unanswered: dict[str, Callable[[Ack], None]] = {}

    def send(self, post: PendingPublish) -> None:
        """Send a message as soon as the connection takes it."""
        self._unsent.append(post)
        self._has_mail.set()

    def forget(self, id_: str) -> None:
        """Nobody waits for the answer to this post any more."""
        self._unanswered.pop(id_, None)

    async def run(self) -> None:
        """Send until cancelled, or until the connection is lost. Raises NATS's errors."""
        await self._client.subscribe(
            f"{self._inbox}.*", cb=self._on_message, pending_msgs_limit=0, pending_bytes_limit=0
        )
        while True:
            while self._unsent:
                post = self._unsent.popleft()
                self._unanswered[post.id] = post.on_message
                await self._client.publish(
                    post.subject, post.message, reply=f"{self._inbox}.{post.id}", headers=post.headers
                )
            self._has_mail.clear()
            await self._has_mail.wait()

    async def _on_message(self, message: Msg) -> None:
        """Take an answer. An empty one comes from a server that has no such stream just now."""
        if not message.data:
            return
        on_message = self._unanswered.pop(message.subject.rpartition(".")[2], None)
        if on_message is not None:
            on_message(_ACKS.decode(message.data))
