"""Posts bytes over HTTP, through aiohttp: the one module that knows by what a client reaches a tower, or a page a node.
Knows neither.

Where there are no sockets of the system, another module of these names can be put in its place.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import aiohttp

from forcemove.connecting import connection_words

_PIECE = 2**16
"""Bytes that are read at once."""
_LONGEST = 300
"""Characters of an error's text that are kept."""


class Answer(NamedTuple):
    """What came back: the status, the body, and the Retry-After header, empty where there is none. No redirection is
    followed."""

    status: int
    body: bytes
    retry_after: str


async def post(url: str, body: bytes, seconds: float, *, most: int, media_type: str) -> Answer:
    """Post, once. What it raises `reason_of` says in words.

    - `url`: http:// or https://.
    - `body`: of the request.
    - `seconds`: that the answer may take in all, also where its bytes come slowly.
    - `most`: bytes of the answer that are wanted; a few more may come.
    - `media_type`: of the body.
    """
    headers = {"Content-Type": media_type, "Accept-Encoding": "identity"}
    timeout = aiohttp.ClientTimeout(total=seconds)
    async with (
        aiohttp.ClientSession(timeout=timeout, auto_decompress=False) as session,
        session.post(url, data=body, headers=headers, allow_redirects=False) as answer,
    ):
        return Answer(answer.status, await _read(answer.content, most), answer.headers.get("Retry-After", ""))


def reason_of(error: Exception) -> str:
    """Why there is no answer, in words."""
    match error:
        case TimeoutError():
            return "it has not answered in time"
        case aiohttp.ClientConnectorCertificateError():
            return connection_words(cast("OSError", error.certificate_error))
        case aiohttp.ClientConnectorError():
            return connection_words(error.os_error)
    return f"{type(error).__name__}: {error}"[:_LONGEST]


async def _read(content: aiohttp.StreamReader, most: int) -> bytes:
    data = bytearray()
    while len(data) <= most and (part := await content.read(_PIECE)):
        data += part
    return bytes(data)
