"""The stream of a channel's page: whole panels, only those that have changed, and only the newest."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from aiohttp import web

from forcemove.browser.pages import ChangeSignal, ShownPanels

_PING_SECONDS = 15.0
"""Seconds after which a stream without news says something, so that a reader who is gone is noticed."""
_SEND_BUFFER = 32 * 1024
"""Bytes that wait for a slow reader at most: it gets the newest panels, and no queue of old ones."""


@dataclass(frozen=True, slots=True)
class EveryPage:
    """What all pages of a server have. `changes`: says when to look again; `panels`: the HTML of each panel, by its
    id."""

    changes: ChangeSignal
    panels: Callable[[], Mapping[str, str]]


EVERY_PAGE = web.AppKey("every page", EveryPage)
"""Where a server has them."""


async def stream_panels(
    request: web.Request, changes: ChangeSignal, panels: Callable[[], Mapping[str, str] | None]
) -> web.StreamResponse:
    """Answer a request with the panels as they are, and again whenever one has changed, until there is nothing to show.
    Those of every page are among them.

    - `request`: for the stream.
    - `changes`: says when to look again.
    - `panels`: the HTML of each panel, by its id; None where there is nothing to show any more.
    """
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
    response.enable_chunked_encoding()
    _limit_buffers(request)
    await response.prepare(request)
    every_page = request.app[EVERY_PAGE]
    if changes is not every_page.changes:
        every_page.changes.followers.add(changes)
    every_page.changes.streams += 1
    shown = ShownPanels()
    try:
        while True:
            number, found = changes.number, panels()
            if found is None:
                return response
            if fresh := shown.fresh({**every_page.panels(), **found}):
                await response.write(f"event: panels\ndata: {fresh}\n\n".encode())
            if not await changes.after(number, _PING_SECONDS):
                await response.write(b":\n\n")
    finally:
        every_page.changes.streams -= 1


def _limit_buffers(request: web.Request) -> None:
    transport = request.transport
    if transport is None:
        return
    connection = transport.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
