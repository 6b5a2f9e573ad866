"""The clients that wait for the list of open offers to change."""

from __future__ import annotations

import asyncio
from itertools import islice

from forcemove.relay.tables import TableClient
from forcemove.transport.wire import OffersListed, encode

__all__ = ["ListWatchers"]

_AT_ONCE, _PAUSE = 50, 0.05
"""Clients that are told of a change at once, and seconds until the next are told: each of them asks for the list then.
With few clients all are told at once; thousands take seconds, and leave most of the relay's time to those who play."""


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
