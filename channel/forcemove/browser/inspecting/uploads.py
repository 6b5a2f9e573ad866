"""Reads a form that may bring a file."""

from __future__ import annotations

from aiohttp import BodyPartReader, web
from aiohttp.http_exceptions import HttpProcessingError

from forcemove.browser.inspecting.subjects import MAX_SUBJECT
from forcemove.browser.security import BrowserSession, PageRequestRefused, require_form

__all__ = ["read_upload"]

_MULTIPART = "multipart/form-data"
_AROUND = 4 * 1024
"""Bytes of the other fields, and of what stands between the fields."""
_FIELDS = frozenset({"token", "what", "file"})


async def read_upload(request: web.Request, session: BrowserSession) -> dict[str, bytes]:
    """The fields of a request's form. Raises `PageRequestRefused` where the form is none of this session's pages, or
    too large."""
    if request.content_type != _MULTIPART:
        raise PageRequestRefused(415, "This is not a form with a file.")
    if request.content_length is None or request.content_length > MAX_SUBJECT + _AROUND:
        raise PageRequestRefused(413, f"A file may have {MAX_SUBJECT:,} bytes.")
    try:
        fields = await _fields(request)
    except (ValueError, LookupError, HttpProcessingError):
        raise PageRequestRefused(400, "This form cannot be read.") from None
    require_form(session, fields.get("token", b"").decode(errors="replace"))
    return fields


async def _fields(request: web.Request) -> dict[str, bytes]:
    fields = dict[str, bytes]()
    reader = await request.clone(client_max_size=MAX_SUBJECT + _AROUND).multipart()
    while (part := await reader.next()) is not None:
        if not isinstance(part, BodyPartReader) or part.name not in _FIELDS or part.name in fields:
            raise ValueError(part)
        fields[part.name] = bytes(await part.read())
    return fields
