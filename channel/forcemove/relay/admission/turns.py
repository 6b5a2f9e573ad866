"""Addresses take turns for the loop's time and for the store, so that one that sends much delays only itself."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from forcemove.relay.admission.accounts import AddressAccount
from forcemove.relay.fairness import FairQueue

_AT_ONCE = 32
"""Work of all addresses in one turn of the loop: some 2 ms. Work counts as `meter` says."""
_TURN = 4
"""Work of one address before the next one's turn."""
_UNBOUNDED = 2**62
"""No bound of the queues is needed: each connection waits in one of them at most once."""

_Waiting = FairQueue[AddressAccount, asyncio.Future[None]]


class Turns:
    """The event loop's time, in small pieces: between two of them the loop does all else that is ready."""

    def __init__(self, at_once: int = _AT_ONCE) -> None:
        self._at_once = at_once
        self._left: float = at_once
        self._waiting: _Waiting = FairQueue(_UNBOUNDED, _TURN)
        self._is_called = False

    async def wait(self, account: AddressAccount, work: int) -> None:
        """Wait until an address may do this work; does not wait where little was done in this turn of the loop."""
        if not self.take(work):
            await self.turn(account, work)

    def turn(self, account: AddressAccount, work: int) -> asyncio.Future[None]:
        """The address' turn for this work, to be waited for."""
        self._call()
        turn = asyncio.get_running_loop().create_future()
        self._waiting.add(account, turn, work, account.weight)
        return turn

    def take(self, work: float) -> bool:
        """Whether this work may be done at once, as in `wait`; then it is counted."""
        self._call()
        if self._left > 0 and not self._waiting:
            self._left -= work
            return True
        return False

    def _call(self) -> None:
        """Let the next turn of the loop begin with `_next`."""
        if not self._is_called:
            self._is_called = True
            asyncio.get_running_loop().call_soon(self._next)

    def _next(self) -> None:
        """Begin the next turn of the loop, and let those go on whose turn it is."""
        self._left = self._at_once + min(0, self._left)
        if self._waiting and self._left > 0:
            before = self._waiting.work
            _wake(self._waiting.take(math.ceil(self._left)))
            self._left -= before - self._waiting.work
        self._is_called = False
        if self._waiting or self._left < self._at_once:
            self._call()


class Gate:
    """Lets `width` requests use something at once; the others wait, and addresses take turns."""

    def __init__(self, width: int) -> None:
        self._free = width
        self._waiting: _Waiting = FairQueue(_UNBOUNDED, 1)

    @asynccontextmanager
    async def entered(self, account: AddressAccount) -> AsyncIterator[None]:
        """Within the block, a request of an address is one of the `width`."""
        if self._free > 0:
            self._free -= 1
        else:
            await self._turn(account)
        try:
            yield
        finally:
            self._pass_on()

    async def _turn(self, account: AddressAccount) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.add(account, turn, 1)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._pass_on()  # the request was let in, and is cancelled
            raise

    def _pass_on(self) -> None:
        while self._waiting:
            (turn,) = self._waiting.take(1)
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


def _wake(turns: list[asyncio.Future[None]]) -> None:
    for turn in turns:
        if not turn.done():
            turn.set_result(None)
