"""What NATS JetStream carries: actions a second through one server, beside bare asynchronous publishing of the same
bytes.

The tables, clients and actions are those of `relay_speed`. What is bare is nats-py's `publish_async` to a stream on
disk, by two processes as well, with as many messages on their way, without ids, and nobody reads.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import nats
from nats.js import JetStreamContext
from nats.js.api import StorageType

from scripts.relay_speed import ACTIONS, ROUNDS, SIZE, TABLES, Ready, Talk, play, rate
from tests.jetstream.server import running_server

__all__ = ["jetstream_rate_ratio", "jetstream_rates"]


def jetstream_rate_ratio() -> float:
    """The median of the rounds."""
    return statistics.median(carried / bare for carried, bare in jetstream_rates())


def jetstream_rates(rounds: int = ROUNDS) -> Iterator[tuple[float, float]]:
    """Actions a second over tables, and messages a second that are published, round after round."""
    for _ in range(rounds):
        yield _rate_of(play), _rate_of(_publish)


def _rate_of(talk: Talk) -> float:
    """On a server that has nothing yet."""
    with TemporaryDirectory() as folder, running_server(Path(folder)) as server:
        return rate(talk, server.url)


async def _publish(url: str, _: int, ready: Ready) -> float:
    client = await nats.connect(url)
    js = client.jetstream()
    await js.add_stream(name="BARE", subjects=["bare.*"], storage=StorageType.FILE)
    await ready()
    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(TABLES):
            group.create_task(_publish_all(js, f"bare.{number}"))
    seconds = time.perf_counter() - began
    await client.close()
    return seconds


async def _publish_all(js: JetStreamContext, subject: str) -> None:
    for number in range(ACTIONS):
        acknowledged = await js.publish_async(subject, number.to_bytes(SIZE))
        await acknowledged


if __name__ == "__main__":
    for carried, bare in jetstream_rates():
        print(f"{carried:,.0f} over tables, {bare:,.0f} published: {carried / bare:.2f}")
