"""The open offers, as pages that are ready to be sent: each page is made once after a change, for all clients. And the
clients that wait for such a change.
"""

from __future__ import annotations

import asyncio
import heapq
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable
from itertools import islice

import msgspec

from forcemove.relay.tables import TableClient
from forcemove.transport.wire import OffersListed, encode

PAGE = 16
"""Offers in one answer: with all their joins they fit into a frame."""
_MOST_PAGES = 64
"""Pages that are kept; requests with other starts than those pages have new ones made."""
SignedParts = tuple[tuple[bytes, bytes], ...]
_TAG = OffersListed.__struct_config__.tag
_AT_ONCE, _PAUSE = 50, 0.05
"""Clients that are told of a change at once, and seconds until the next are told: each of them asks for the list then.
With few clients all are told at once; thousands take seconds, and leave most of the relay's time to those who play."""


class Listing:
    """Offers in the order of their hashes."""

    def __init__(self, on_change: Callable[[], None] = lambda: None) -> None:
        """`on_change`: is called when other offers, or others of their joins, are shown."""
        self._on_change = on_change
        self._hashes: list[bytes] = []
        self._offers: dict[bytes, tuple[bytes, bytes, SignedParts]] = {}
        self._ends: list[tuple[int, bytes]] = []
        self._pages: dict[int, tuple[msgspec.Raw, bool]] = {}

    def __len__(self) -> int:
        return len(self._hashes)

    def add(self, hash_: bytes, offer: bytes, signature: bytes, expires: int, joins: SignedParts = ()) -> None:
        """Show an offer, with these joins, until it expires.

        - `hash_`: the offer's, 32 bytes.
        - `offer`: the encoded offer.
        - `signature`: the host's, 64 bytes.
        - `expires`: Unix seconds.
        - `joins`: the encoded joins so far, each with its signature.
        """
        if hash_ not in self._offers:
            insort(self._hashes, hash_)
            heapq.heappush(self._ends, (expires, hash_))
        if self._offers.get(hash_) != (shown := (offer, signature, joins)):
            self._offers[hash_] = shown
            self._change()

    def drop(self, hash_: bytes) -> None:
        """Show an offer no more."""
        if self._offers.pop(hash_, None) is not None:
            del self._hashes[bisect_left(self._hashes, hash_)]
            self._change()
        if len(self._ends) > 2 * len(self._offers) + PAGE:
            self._ends = [each for each in self._ends if each[1] in self._offers]
            heapq.heapify(self._ends)

    def answer(self, request: bytes, after: bytes | None, now: float) -> bytes:
        """An encoded `OffersListed`, with the offers after a hash, or the first ones. `request`: the id of the request;
        `now`: Unix seconds."""
        while self._ends and self._ends[0][0] <= now:
            self.drop(heapq.heappop(self._ends)[1])
        start = 0 if after is None else bisect_right(self._hashes, after)
        if (page := self._pages.get(start)) is None:
            if len(self._pages) >= _MOST_PAGES:
                self._pages.clear()
            page = self._pages[start] = self._page(start)
        return msgspec.msgpack.encode((_TAG, request, *page))

    def _change(self) -> None:
        self._pages.clear()
        self._on_change()

    def _page(self, start: int) -> tuple[msgspec.Raw, bool]:
        offers = [self._offers[hash_] for hash_ in self._hashes[start : start + PAGE]]
        return msgspec.Raw(msgspec.msgpack.encode(offers)), start + PAGE >= len(self._hashes)


class ListWatchers:
    """Each client has one place, is told once, and waits again when it asks again: changes that follow each other
    quickly are one for it. `revision`: how often the list has changed."""

    def __init__(self) -> None:
        self.revision = 0
        self._waiting: dict[TableClient, bytes] = {}
        self._due: dict[TableClient, bytes] = {}
        self._timer: asyncio.TimerHandle | None = None

    def __contains__(self, client: TableClient) -> bool:
        return client in self._waiting or client in self._due

    def wait(self, client: TableClient, request: bytes, seen: int | None) -> None:
        """Tell a client as soon as the list has changed.

        - `client`: what it has asked before is dropped.
        - `request`: the id of its request.
        - `seen`: the revision of the list that it was sent last; None for none.
        """
        self.forget(client)
        if seen == self.revision:
            self._waiting[client] = request
        else:
            self._due[client] = request
            self._notify_soon()

    def forget(self, client: TableClient) -> None:
        """Tell a client nothing."""
        self._waiting.pop(client, None)
        self._due.pop(client, None)

    def change(self) -> None:
        """The list has changed."""
        self.revision += 1
        self._due |= self._waiting
        self._waiting.clear()
        self._notify_soon()

    def _notify_soon(self) -> None:
        if self._timer is None and self._due:
            self._notify()

    def _notify(self) -> None:
        due = list(islice(self._due, _AT_ONCE))
        for client in due:
            client.say(encode(OffersListed(self._due.pop(client), (), is_all=False)))
        self._timer = asyncio.get_running_loop().call_later(_PAUSE, self._notify) if due else None
