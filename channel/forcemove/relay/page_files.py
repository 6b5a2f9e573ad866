"""The files of a page that plays links, as `scripts/link_page` builds them: checked when the relay starts, and served
from memory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from aiohttp import web

from forcemove.relay.errors import PagesUnusable

FIRST_PAGE = "index.html"
_LIST = "files.json"
_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".mjs": "text/javascript",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
}
_CODINGS = {"br": ".br", "gzip": ".gz"}
"""How files may be packed, the best first, and how those are named that are."""
_CHUNK = 64 * 2**10
_LEAST_RATE, _LEAST_SECONDS = 16 * 2**10, 10
"""Bytes a second that a client has to read, and seconds that it has besides; then it is cut off."""
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; "
    "img-src 'self' data:; worker-src 'self'; manifest-src 'self'; connect-src 'self' ws: wss: "
    "https: http://127.0.0.1:* http://localhost:*; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
    "Vary": "Accept-Encoding",
}
"""Of every file. Browsers keep them, and ask each time whether they are still the same."""


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file. `type`: its media type; `tag`: stands for its content; `packed`: its bytes by coding, `""` for plain."""

    type: str
    tag: str
    packed: Mapping[str, bytes]


class PageFiles:
    """Answers requests for files."""

    def __init__(self, files: Mapping[str, PageFile]) -> None:
        """`files`: by name."""
        self._files = files

    async def send(self, name: str, request: web.BaseRequest) -> web.StreamResponse:
        """Answer with a file, in pieces, so that little waits in memory for a slow client."""
        file = self._files.get(name)
        if file is None:
            raise web.HTTPNotFound
        headers = {**_HEADERS, "ETag": f'W/"{file.tag}"'}  # of all codings
        if request.headers.get("If-None-Match") == headers["ETag"]:
            return web.Response(status=304, headers=headers)
        accepted = request.headers.get("Accept-Encoding", "")
        coding = next((each for each in _CODINGS if each in accepted and each in file.packed), "")
        body = file.packed[coding]
        response = web.StreamResponse(headers=headers | ({"Content-Encoding": coding} if coding else {}))
        response.content_type, response.content_length = file.type, len(body)
        try:
            async with asyncio.timeout(_LEAST_SECONDS + len(body) / _LEAST_RATE):
                await response.prepare(request)
                if request.method != "HEAD":
                    for at in range(0, len(body), _CHUNK):
                        await response.write(body[at : at + _CHUNK])
                await response.write_eof()
        except TimeoutError:
            if request.transport is not None:
                request.transport.abort()
        return response


def read_pages(folder: Path) -> PageFiles:
    """The files of a build. Raises `PagesUnusable` where they are not those that its list names."""
    try:
        listed = json.loads((folder / _LIST).read_text("utf-8"))["files"]
        names = [name for name in listed if name == Path(name).name]
        files = {name: _read(folder / name, listed[name]["sha256"]) for name in names}
        files[_LIST] = _read(folder / _LIST, "")
    except OSError as error:
        raise PagesUnusable(str(folder), f"{Path(error.filename or _LIST).name}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise PagesUnusable(str(folder), f"{_LIST} is not a list of files") from None
    if FIRST_PAGE not in files:
        raise PagesUnusable(str(folder), f"{FIRST_PAGE} is not in the list of files")
    return PageFiles(files)


def _read(path: Path, expected: str) -> PageFile:
    data = path.read_bytes()
    found = sha256(data).hexdigest()
    if expected and found != expected:
        raise PagesUnusable(str(path.parent), f"{path.name} was changed after it was built")
    packed = {"": data}
    for coding, ending in _CODINGS.items():
        other = path.with_name(path.name + ending)
        if other.exists():
            packed[coding] = other.read_bytes()
    return PageFile(_TYPES.get(path.suffix, "application/octet-stream"), found, packed)
