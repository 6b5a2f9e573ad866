"""The messages of a stream under one subject, or several, from some place on, in order and without a gap.

The feed is an ordered consumer: one that the server keeps in memory, that acknowledges nothing, and whose messages are
numbered without a gap. Where the numbers or its heartbeats show that a message was lost, the feed ends, and its owner
opens another where this one has stopped.

A server reads a stream once for all tables of a connection, not once for each: they share one consumer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from msgspec import Struct
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

POST_ID, LAST_SEQ = "Nats-Msg-Id", "Nats-Expected-Last-Subject-Sequence"
"""Headers of a stored message: its id, and the number of the message before it under its subject, if the server had to
check that; 0 for the first."""
_MESSAGE, _OLD_TOKENS = "$JS.ACK.", 9
"""How the reply subject of a stream's message begins, which a message of the consumer itself does not have; how many
words it has with older servers."""
_MISSED = 3
"""Heartbeats that may be late before the consumer counts as gone."""
_FORGOTTEN = 30.0
"""Seconds after which the server drops a consumer without a subscriber."""
_MAX_SUBJECTS = 256
"""Subjects of one consumer: all of them are sent again whenever one is added."""


class Delivered(Struct, frozen=True):
    """A message of a stream.

    - `seq`: its number in the whole stream.
    - `at`: Unix nanoseconds when it was stored, by the server's clock; no two messages have the same `seq` and `at`.
    - `subject`: that it was posted under.
    - `entry`: its bytes.
    - `id`: of the post, if it had one.
    - `is_first`: there was no message under its subject before it.
    """

    seq: int
    at: int
    subject: str
    entry: bytes
    id: str
    is_first: bool


@dataclass(frozen=True)
class From:
    """Where a feed begins: at the beginning, at number `seq` of the stream, or as the server's `policy` says."""

    seq: int | None = None
    policy: DeliverPolicy = DeliverPolicy.ALL


NEWEST, NEW = From(policy=DeliverPolicy.LAST_PER_SUBJECT), From(policy=DeliverPolicy.NEW)
"""Begin with the newest message of each subject; with messages that are stored from now on."""


class Feed:
    """A feed, opened once. `ended` is set when a message or the connection was lost, or no more messages are wanted."""

    def __init__(
        self,
        client: Client,
        js: JetStreamContext,
        stream: str,
        subjects: Sequence[str],
        on_message: Callable[[Delivered], bool],
        heartbeat: float,
    ) -> None:
        """Prepare a feed of a stream's messages; nothing is asked for yet.

        - `client`: the connection to the server.
        - `js`: its JetStream context.
        - `stream`: the stream's name.
        - `subjects`: whose messages are wanted.
        - `on_message`: is called with every message, and returns whether it wants more.
        - `heartbeat`: seconds between the consumer's signs of life.
        """
        self._client, self._js, self._stream, self._subjects = client, js, stream, subjects
        self._on_message, self._heartbeat = on_message, heartbeat
        self._inbox, self._start = client.new_inbox(), From()
        self._name = self._inbox.rpartition(".")[2]
        self._subscription: Subscription | None = None
        self._count, self._expected = 0, -1
        self._received_at = time.monotonic()
        self.ended, self._caught_up = asyncio.Event(), asyncio.Event()

    async def open(self, start: From) -> None:
        """Begin to receive stored messages, and then new ones. Raises NATS's errors."""
        self._start = start
        self._subscription = await self._client.subscribe(
            self._inbox, cb=self._take, pending_msgs_limit=0, pending_bytes_limit=0
        )
        info = await self._js.add_consumer(self._stream, self._consumer())
        delivered = 0 if info.delivered is None else info.delivered.consumer_seq
        self._expected = (info.num_pending or 0) + delivered
        if self._count >= self._expected:
            self._caught_up.set()

    async def catch_up(self) -> bool:
        """Wait until all messages are received that were stored at first; False where the feed has ended before."""
        await self._caught_up.wait()
        return not self.ended.is_set()

    async def widen(self, subjects: Sequence[str]) -> None:
        """Receive messages that are stored from now on under these subjects, too. Raises NATS's errors."""
        self._subjects = subjects
        await self._js.add_consumer(self._stream, self._consumer())

    async def close(self) -> None:
        """End the subscription."""
        self.end()
        if self._subscription is not None and not self._client.is_closed:
            await self._subscription.unsubscribe()
            await self._client.publish(f"$JS.API.CONSUMER.DELETE.{self._stream}.{self._name}")

    def end(self) -> None:
        """Take no more messages."""
        self.ended.set()
        self._caught_up.set()

    def end_if_silent(self) -> None:
        """End the feed where the consumer's heartbeats are missing."""
        if time.monotonic() - self._received_at > _MISSED * self._heartbeat:
            self.end()

    def _consumer(self) -> ConsumerConfig:
        start = self._start
        return ConsumerConfig(
            name=self._name,
            deliver_subject=self._inbox,
            deliver_policy=start.policy if start.seq is None else DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=start.seq,
            filter_subjects=list(self._subjects),
            ack_policy=AckPolicy.NONE,
            max_deliver=1,
            mem_storage=True,
            num_replicas=1,
            flow_control=True,
            idle_heartbeat=self._heartbeat,
            inactive_threshold=_FORGOTTEN,
        )

    async def _take(self, message: Msg) -> None:
        """Take a message. The reply subject, which the server sets, tells a stranger's post from the consumer's own
        messages."""
        if self.ended.is_set():
            return
        self._received_at = time.monotonic()
        if not message.reply.startswith(_MESSAGE):
            await self._heed(message)
            return
        number, seq, at = _numbers(message.reply)
        if number != self._count + 1:
            self.end()
            return
        self._count = number
        headers = message.headers or {}
        found = Delivered(
            seq, at, message.subject, message.data, headers.get(POST_ID, ""), headers.get(LAST_SEQ) == "0"
        )
        if not self._on_message(found):
            self.end()
        if number == self._expected:
            self._caught_up.set()

    async def _heed(self, message: Msg) -> None:
        """A heartbeat names the last message; one that asks for an answer checks that we keep up."""
        headers = message.headers or {}
        if headers.get("Nats-Last-Consumer", str(self._count)) != str(self._count):
            self.end()
        answer = message.reply or headers.get("Nats-Consumer-Stalled")
        if answer:
            await self._client.publish(answer)


def _numbers(reply: str) -> tuple[int, int, int]:
    """A message's number with its consumer, its number in the stream, and when it was stored, see NATS's ADR-15: newer
    servers put names of domain and account before them, and a random word behind."""
    tokens = reply.split(".")
    seq, number, at = tokens[5:8] if len(tokens) == _OLD_TOKENS else tokens[7:10]
    return int(number), int(seq), int(at)


class During(Protocol):
    """Runs a coroutine as long as there is a connection."""

    async def __call__(self, doing: Coroutine[Any, Any, None]) -> None:
        """Run it; it is cancelled when the connection is lost."""


class Live:
    """Followers of many subjects on one feed; it ends with the feed."""

    def __init__(self, make: Callable[[Sequence[str], Callable[[Delivered], bool]], Feed], during: During) -> None:
        """`make`: makes a feed of some subjects, not opened yet. `during`: makes requests to the server."""
        self._make, self._during = make, during
        self._feed: Feed | None = None
        self._hearers: dict[str, Callable[[Delivered], None]] = {}
        self._named: frozenset[str] = frozenset()
        self._naming = asyncio.Lock()

    @property
    def is_over(self) -> bool:
        """Whether a message or the connection was lost."""
        return self._feed is not None and self._feed.ended.is_set()

    @property
    def has_room(self) -> bool:
        """Whether one more subject may be added."""
        return len(self._hearers) < _MAX_SUBJECTS

    @asynccontextmanager
    async def following(self, subject: str, on_message: Callable[[Delivered], None]) -> AsyncIterator[Feed]:
        """Within the block, `on_message` is called with all messages of a subject from its beginning on, until the feed
        ends. Raises NATS's errors."""
        self._hearers[subject] = on_message
        try:
            async with self._naming:
                feed = await self._named_in(subject)
            yield feed
        finally:
            del self._hearers[subject]

    async def close(self) -> None:
        """Close the feed."""
        if self._feed is not None:
            await self._feed.close()

    async def _named_in(self, subject: str) -> Feed:
        """The feed with this subject: the first caller adds the subjects of all that wait."""
        subjects = tuple(self._hearers)
        if self._feed is None:
            self._feed = await self._opened(subjects)
            self._named = frozenset(subjects)
        elif subject not in self._named:
            await self._during(self._feed.widen(subjects))
            self._named = frozenset(subjects)
        return self._feed

    async def _opened(self, subjects: Sequence[str]) -> Feed:
        feed = self._make(subjects, self._on_message)
        try:
            await self._during(feed.open(NEW))
        except BaseException:
            await feed.close()
            raise
        return feed

    def _on_message(self, found: Delivered) -> bool:
        on_message = self._hearers.get(found.subject)
        if on_message is not None:
            on_message(found)
        return True
