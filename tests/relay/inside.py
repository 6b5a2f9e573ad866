"""A relay's inner parts, without a network: its store on a real disk, and who posts and reads as an object; and a whole
one in this process."""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from forcemove.flow.history import running_hash
from forcemove.relay.housekeeping import Housekeeper
from forcemove.relay.keeping import Committer, PendingPost
from forcemove.relay.limits import Limits
from forcemove.relay.metrics import Metrics
from forcemove.relay.server import serve
from forcemove.relay.settings import Settings
from forcemove.relay.storage.schema import Entry, StoredLog
from forcemove.relay.storage.store import RelayStore, open_store
from forcemove.relay.storage.worker import Worker
from forcemove.relay.tables import LiveLog, Reading, Tables
from forcemove.transport.errors import Reason
from forcemove.transport.terms import TableTerms
from forcemove.transport.wire import FromRelay, decode_from_relay
from forcemove.transport.wire import SendBuffer as Frames
from tests.relay.raw import post
from tests.transport.people import ALICE

__all__ = ["Clock", "Listener", "Inside", "extend", "relay_inside"]


@contextlib.asynccontextmanager
async def relay_inside(**settings: object) -> AsyncIterator[str]:
    """A relay in this process; its address."""
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    tuned = gc.get_threshold()  # a relay tunes the collector of its process
    serving = asyncio.create_task(serve(Settings("127.0.0.1", 0, ":memory:", **settings), ready.set_result))  # type: ignore[arg-type]
    try:
        yield await ready
    finally:
        serving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await serving
        gc.set_threshold(*tuned)


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


class Listener:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self._frames = Frames()
        self.behind: list[Reading] = []

    def say(self, message: bytes) -> None:
        self._frames.add(message)

    def offer(self, messages: list[bytes]) -> bool:
        for message in messages:
            self.say(message)
        return True

    def fall_behind(self, reading: Reading) -> None:
        self.behind.append(reading)

    def refuse(self, about: bytes, reason: Reason, detail: str, id_: bytes = b"") -> None:
        raise AssertionError(f"refused: {detail}")

    def heard(self) -> list[FromRelay]:
        heard: list[FromRelay] = []
        while self._frames:
            heard += decode_from_relay(self._frames.take())
        return heard


def extend(store: RelayStore, kept: StoredLog, entries: Sequence[bytes]) -> None:
    rows: list[Entry] = []
    for entry in entries:
        kept.hash, kept.total = running_hash(kept.hash, entry), kept.total + len(entry)
        rows.append((kept.number, kept.length, ALICE.address, kept.length.to_bytes(16), entry, kept.hash, kept.total))
        kept.length += 1
    store.commit(rows, [])


@dataclass
class Inside:
    """Everything of a relay but its connections."""

    store: RelayStore
    worker: Worker
    tables: Tables
    committer: Committer
    housekeeper: Housekeeper
    keeping: asyncio.Task[None]

    @classmethod
    async def start(
        cls, path: Path, clock: Clock, limits: Limits, on_disk: Callable[[RelayStore], RelayStore] = lambda store: store
    ) -> Inside:
        """`on_disk`: makes a store with a fault of the one that is open."""
        store, worker, metrics = on_disk(open_store(str(path), clock=clock)), Worker(), Metrics()
        tables = Tables(store, worker, limits)
        await tables.start()
        committer = Committer(store, worker, tables, metrics, clock)
        housekeeper = Housekeeper(store, worker, tables, limits, metrics)
        return cls(store, worker, tables, committer, housekeeper, asyncio.create_task(committer.run()))

    async def stop(self) -> None:
        self.committer.stop()
        await self.keeping
        self.worker.close()
        self.store.close()

    async def post(self, log: LiveLog, table: TableTerms, entries: Sequence[bytes]) -> list[FromRelay]:
        """What the poster is told of these, posted at once and kept."""
        ear = Listener()
        for number, entry in enumerate(entries, log.kept.length):
            await self.committer.add(PendingPost(log, ear, ALICE.address, post(table, number, entry)))
        while log.coming_count:
            await self.committer.next_commit()
        return ear.heard()
