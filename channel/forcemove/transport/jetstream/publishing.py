"""Posts on their way to a stream, and the server's acknowledgements. Knows no log."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import msgspec
from msgspec import Struct
from nats.aio.client import Client
from nats.aio.msg import Msg

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
