"""Stands by while another process plays, or no node answers, and goes on where that has passed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

from forcemove.backoff import Backoff
from forcemove.chain.errors import Unreachable
from forcemove.chain.threads import aside
from forcemove.errors import PassingError
from forcemove.node.errors import ChannelInUse
from forcemove.text.explanations import headline

_SHORTEST, _LONGEST = 0.2, 5.0
"""Seconds that a lease is waited for at a time."""
_PAUSE, _LONGEST_PAUSE = 1.0, 5.0
"""Seconds between two questions to a node that does not answer, at first and at last."""
_T = TypeVar("_T")


def relay_pauses() -> Backoff:
    """The pauses until a relay that has failed is asked again."""
    return Backoff(2.5, 10.0)


async def when_free(begin: Callable[[], _T], notify: Callable[[str], None]) -> _T:
    """What `begin` returns, once no other process holds the lease that it needs. `notify`: is called once, with the
    text that it is waited for. Raises the other errors of `begin`."""
    is_reported = False
    while True:
        try:
            return begin()
        except ChannelInUse as error:
            if not is_reported:
                notify("Another process plays this, or did until it died: this one waits, and goes on if it is gone.")
            is_reported = True
            await asyncio.sleep(min(max(error.until - time.time(), _SHORTEST), _LONGEST))


async def when_answered(ask: Callable[[], _T], notify: Callable[[str], None]) -> _T:
    """What `ask`, beside which all else goes on, returns once a node answers. `notify`: is called once, with the
    text that it is waited for. Raises the other errors of `ask`."""
    is_reported, pauses = False, Backoff(_PAUSE, _LONGEST_PAUSE)
    while True:
        try:
            return await aside(ask)
        except PassingError as error:
            if not is_reported:
                what = f"{error.endpoint} is out of reach." if isinstance(error, Unreachable) else headline(error)
                notify(f"chain       {what} It is tried again.")
            is_reported = True
        await asyncio.sleep(pauses.next_pause())
