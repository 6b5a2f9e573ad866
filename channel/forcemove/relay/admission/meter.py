"""What one connection may do, and when: its own rates, its address' account, and its address' turn."""

from __future__ import annotations

import asyncio
import time

from forcemove.relay.admission.accounts import AddressAccount
from forcemove.relay.admission.turns import Turns
from forcemove.relay.limits import Limits
from forcemove.serving.rate import Bucket
from forcemove.transport import wire

_COSTS: dict[type, int] = {
    wire.Open: 4,
    wire.Prove: 16,
    wire.MakeOffer: 24,
    wire.ListOffers: 10,
    wire.JoinOffer: 16,
    wire.WatchOffer: 2,
    wire.WithdrawOffer: 24,
}
"""What other messages than posts count for; a post counts for one, some 60 us. Messages cost a read of the store, a
page of the lobby, a commit, or the recovery of a signature, which gives Python's lock away several times, and waits for
it while the store is at work."""
REFUSAL, FORGERY = 10, 100
"""What a refused request is charged besides, and a wrong signature: this library's clients send neither."""
_BYTES = 512
"""Bytes of a frame that count for one: decoding, hashing and committing them takes as long."""
_AT_ONCE = 0.25
"""What a post counts for in a turn of the loop, where it did not wait."""


class Meter:
    """What one connection may do, and when."""

    def __init__(self, account: AddressAccount, turns: Turns, limits: Limits) -> None:
        now = time.monotonic()
        self._account, self._turns = account, turns
        self._messages = Bucket(limits.messages_per_second, now)
        self._bytes = Bucket(limits.bytes_per_second, now)

    async def frame(self, size: int) -> None:
        """Wait until a frame of `size` bytes may be decoded."""
        now = time.monotonic()
        await self._wait(max(self._bytes.take(size, now), self._account.bytes.take(size, now)))
        if size > _BYTES:
            await self._turns.wait(self._account, size // _BYTES)

    def pass_at_once(self, size: int, now: float) -> bool:
        """Whether a frame with one post may be handled without any wait; then it is charged. `size`: bytes of the
        frame; `now`: seconds of `time.monotonic`."""
        account = self._account
        wait = self._bytes.take(size, now) + account.bytes.take(size, now)
        wait += self._messages.take(1, now) + account.messages.take(1, now)
        if not wait and self._turns.take(_AT_ONCE + size // _BYTES):
            return True
        for bytes_, messages in ((self._bytes, self._messages), (account.bytes, account.messages)):
            bytes_.take(-size, now)
            messages.take(-1, now)
        return False

    async def message(self, message: wire.ToRelay) -> None:
        """Wait until a message may be handled."""
        await self.work(_COSTS.get(type(message), 1))

    async def work(self, count: int) -> None:
        """Wait until work may be done that counts for `count`, as `_COSTS` has it."""
        await self._wait(self._take(count))
        await self._turns.wait(self._account, count)

    def charge(self, count: int) -> None:
        """Charge work that was done already: the next message waits longer."""
        self._take(count)

    def _take(self, count: int) -> float:
        now = time.monotonic()
        return max(self._messages.take(count, now), self._account.messages.take(count, now))

    async def _wait(self, seconds: float) -> None:
        if seconds:
            await asyncio.sleep(seconds)
