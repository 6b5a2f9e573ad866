"""The capacity of NATS JetStream: actions a second through one server, over bare asynchronous publishing of the same
bytes.

The tables, clients and actions are those of `relay_speed`. The bare publishing is nats-py's `publish_async` to a stream
on disk, by two processes as well, with as many messages on their way, without ids, and without readers. Run by itself
it measures a server that writes every message to its disk at once, too (`sync_interval: always`).
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import nats
from nats.js import JetStreamContext
from nats.js.api import StorageType

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts.relay_speed import ACTIONS, ROUNDS, SIZE, TABLES, Ready, Talk, play, rate  # noqa: E402
from tests.jetstream.server import running_server  # noqa: E402

__all__ = ["jetstream_rate_ratio", "jetstream_rates"]


def jetstream_rate_ratio() -> float:
    """The median of the rounds."""
    return statistics.median(carried / bare for carried, bare in jetstream_rates())


def jetstream_rates(rounds: int = ROUNDS, sync_interval: str = "2m") -> Iterator[tuple[float, float]]:
    """Actions a second over tables, and messages a second that are published, round after round."""
    for _ in range(rounds):
        yield _rate_of(play, sync_interval), _rate_of(_publish, sync_interval)


def _rate_of(talk: Talk, sync_interval: str) -> float:
    """The rate on a new server."""
    with TemporaryDirectory() as folder, running_server(Path(folder), sync_interval=sync_interval) as server:
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
    for setting in ("2m", "always"):
        for carried, bare in jetstream_rates(sync_interval=setting):
            print(f"sync_interval {setting}: {carried:,.0f} over tables, {bare:,.0f} published: {carried / bare:.2f}")
