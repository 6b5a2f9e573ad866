"""Posts bytes over HTTP, through the browser's `fetch`. Stands in for the module of this name that uses aiohttp."""

from __future__ import annotations

from typing import NamedTuple

from js import AbortSignal, Object, fetch  # type: ignore[import-not-found]  # the worker's
from pyodide.ffi import JsException, to_js  # type: ignore[import-not-found]  # there in a browser alone


class Answer(NamedTuple):
    """What came back: the status, the body, and the Retry-After header, empty where there is none, or where the server
    lets no page read it."""

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
    options = {
        "method": "POST",
        "body": to_js(body),
        "headers": {"Content-Type": media_type},
        "signal": AbortSignal.timeout(int(seconds * 1000)),
        "credentials": "omit",
        "redirect": "error",
        "referrerPolicy": "no-referrer",
        "cache": "no-store",
    }
    answer = await fetch(url, to_js(options, dict_converter=Object.fromEntries))
    reader, data = answer.body.getReader(), bytearray()
    while len(data) <= most:
        piece = await reader.read()
        if piece.done:
            break
        data += piece.value.to_bytes()
    else:
        await reader.cancel()
    return Answer(answer.status, bytes(data), answer.headers.get("Retry-After") or "")


def reason_of(error: Exception) -> str:
    """Why there is no answer, in words. A browser does not tell a page why it could not reach a server."""
    if isinstance(error, JsException) and error.name == "TimeoutError":
        return "it has not answered in time"
    if isinstance(error, JsException):
        return "the browser could not reach it, or it does not answer pages of other hosts"
    return f"{type(error).__name__}: {error}"[:300]
