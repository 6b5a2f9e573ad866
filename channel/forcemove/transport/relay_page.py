"""Whether a relay serves a page that plays links, and where."""

from __future__ import annotations

import asyncio

import aiohttp

from forcemove.errors import MalformedBytes
from forcemove.protocol.codec.json_text import parse_json

_SECONDS = 3.0
_MOST = 4096
"""Bytes of an answer that are read."""


def page_of(relay: str) -> str:
    """The address of the page of a relay that serves one. `relay`: its own, ws:// or wss://."""
    return f"http{relay.removeprefix('ws').rstrip('/')}/"


async def find_page(relay: str) -> str:
    """The address of the page that a relay serves; empty where it says of none, or does not answer within 3 seconds.
    `relay`: its address, without a password."""
    if not relay.startswith(("ws://", "wss://")):
        return ""
    page = page_of(relay)
    try:
        async with (
            asyncio.timeout(_SECONDS),
            aiohttp.ClientSession() as session,
            session.get(f"{page}health", allow_redirects=False) as answer,
        ):
            said = parse_json((await answer.content.read(_MOST)).decode(), "health")
    except (aiohttp.ClientError, TimeoutError, MalformedBytes, ValueError):
        return ""
    return page if isinstance(said, dict) and said.get("pages") is True else ""
