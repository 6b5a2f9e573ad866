"""Tells what a person wants to have inspected: a channel's id, other hex, a signed state, a game's record, or a
journal's export. Pure."""

from __future__ import annotations

from forcemove.errors import MalformedBytes
from forcemove.inspect.inspection import AnyFile, parse_subject
from forcemove.store.records import StoredChannel
from forcemove.store.transfer import read_parcel

MAX_SUBJECT = 2**20
"""Bytes of a file that a page inspects."""
Subject = AnyFile | bytes | tuple[StoredChannel, ...]
"""A signed state with its channel, a game's record, other bytes, or the channels of an export."""
_TEXT_STARTS = (b"0x", b"0X", b"{")


def read_subject(data: bytes) -> Subject:
    """What these bytes of a file, or of a form's field, are. Raises `MalformedBytes` and `UnknownVersion`."""
    if len(data) > MAX_SUBJECT:
        raise MalformedBytes("file", f"it is longer than {MAX_SUBJECT:,} bytes")
    stripped = data.strip()
    if not stripped.startswith(_TEXT_STARTS):
        return tuple(each.stored for each in read_parcel(data).channels)
    try:
        text = stripped.decode()
    except UnicodeDecodeError:
        raise MalformedBytes(
            "file", "it is not text: a signed state or a record is JSON, and hex begins with 0x"
        ) from None
    return parse_subject(text)
