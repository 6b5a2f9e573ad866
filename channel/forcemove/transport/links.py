"""A link to hand to a friend: which relay, which offer, and, for spectators, which table. Pure.

    forcemove2xabzgi33smuxc...

It is one word of small letters and digits, so that no shell and no chat cuts it, changes it or runs a part of it, and a
double click marks all of it. `2` is the version of the format. What follows the `x` is base32 (RFC 4648, without
padding) of: how many bytes there are in all (2), whether there is a table (1), the offer's hash (32), the table's id
(32, or nothing), the relay's address, and a checksum (4) over the version and all before it. So a link that was cut is
told from one that was mistyped. A link has no signature: the offer has one, and names all terms.

Where a page plays what links lead to, a link may stand behind its address: `https://relay.example/#forcemove2x...`.

Links of version 1 (`forcemove://join/1?relay=...&offer=...`), which shells cut, are not read any more: an offer is open
for a day, so there is none left to follow.
"""

from __future__ import annotations

import re
from base64 import b32decode, b32encode

from msgspec import Struct

from forcemove.errors import InvalidValue, MalformedBytes
from forcemove.protocol.codec.json_text import require_version
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.types import require_bytes
from forcemove.transport.errors import LinkCut
from forcemove.transport.limits import MAX_URL

LINK_VERSION = 2
"""The version of links that this program writes and reads."""
RELAY_FORM = f"ws://, wss://, nats:// or tls://, host and port, up to {MAX_URL} bytes"
"""The form of a relay's address, in words."""
LINK_HEAD = f"forcemove{LINK_VERSION}x"
"""How each link begins."""
_WHAT = "link"
_PAGES = ("https://", "http://")
_VERSIONED = re.compile(r"forcemove(?:://join/)?(\d{1,5})(?!\d)")
_CARRIERS = ("ws://", "wss://", "nats://", "tls://")
_SIZE, _HASH, _CHECKSUM = 2, 32, 4
_LEAST = _SIZE + 1 + _HASH + _CHECKSUM
_LONGEST = 4 * MAX_URL
_AROUND = "\"'`<>()[]{}.,;:!"
"""What people and chats put around a link."""


class Link(Struct, frozen=True):
    """`relay`: its address, without a password; `offer`: the hash of the offer; `table`: the id of the table, if it is
    known already. Raises `InvalidValue`."""

    relay: str
    offer: bytes
    table: bytes | None = None

    def __post_init__(self) -> None:
        is_address = self.relay.isprintable() and " " not in self.relay and self.relay.startswith(_CARRIERS)
        if not is_address or len(self.relay.encode()) > MAX_URL:
            raise InvalidValue("relay", self.relay, RELAY_FORM)
        if public_url(self.relay) != self.relay:
            raise InvalidValue("relay", public_url(self.relay), "an address without name and password: links are shown")
        require_bytes("offer", self.offer, _HASH)
        if self.table is not None:
            require_bytes("table", self.table, _HASH)

    def __str__(self) -> str:
        content = bytes([self.table is not None]) + self.offer + (self.table or b"") + self.relay.encode()
        size = _SIZE + len(content) + _CHECKSUM
        summed = size.to_bytes(_SIZE) + content
        return LINK_HEAD + b32encode(summed + _checksum(summed)).decode().rstrip("=").lower()


def link_text(link: Link, page: str) -> str:
    """What a friend is handed. `page`: the address of a page that plays it, empty for none."""
    return f"{page}#{link}" if page else str(link)


def parse_link(text: str) -> Link:
    """The link in a text, whatever is around it, be it the address of a page. Capital letters are read as small ones,
    and line breaks are passed over. Raises `UnknownVersion`, `LinkCut`, and `MalformedBytes` on a text without a
    link."""
    word = "".join(text[: 2 * _LONGEST].split()).strip(_AROUND).lower()
    if word.startswith(_PAGES):
        word = word.partition("#")[2]
    versioned = _VERSIONED.match(word)
    if versioned is None or len(word) > _LONGEST:
        raise MalformedBytes(_WHAT, f"it does not begin with {LINK_HEAD}")
    require_version(int(versioned[1]), _WHAT, LINK_VERSION)
    if not word.startswith(LINK_HEAD):
        raise MalformedBytes(_WHAT, f"it does not begin with {LINK_HEAD}")
    link = _read(_content(word))
    if link is None or str(link) != word:  # which has the checksum in it
        raise MalformedBytes(_WHAT, "it was mistyped, or changed on its way")
    return link


def public_url(relay: str) -> str:
    """A relay's address as it may be shown to others: without name and password."""
    scheme, separator, rest = relay.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}{separator}{authority.rpartition('@')[2]}{slash}{path}"


def _content(word: str) -> bytes:
    """The bytes between size and checksum. Raises `LinkCut` and `MalformedBytes`."""
    written = word.removeprefix(LINK_HEAD)
    data = _decoded(written)
    if len(data) < _SIZE:
        raise LinkCut(len(word), len(LINK_HEAD) + _characters(_LEAST))
    size = int.from_bytes(data[:_SIZE])
    if len(written) < _characters(size) <= _LONGEST:
        raise LinkCut(len(word), len(LINK_HEAD) + _characters(size))
    return data[_SIZE:-_CHECKSUM]


def _decoded(written: str) -> bytes:
    """The bytes that these characters encode. Raises `MalformedBytes`."""
    whole = written[: len(written) - (len(written) % 8 in (1, 3, 6))]  # such a rest is a part of a byte
    try:
        return b32decode(whole.upper() + "=" * (-len(whole) % 8))
    except ValueError:
        raise MalformedBytes(_WHAT, "it has characters that no link has") from None


def _read(content: bytes) -> Link | None:
    """The link with this content; None where the content makes no sense."""
    has_table, offer, rest = any(content[:1]), content[1 : 1 + _HASH], content[1 + _HASH :]
    try:
        return Link(rest[_HASH:].decode(), offer, rest[:_HASH]) if has_table else Link(rest.decode(), offer)
    except (ValueError, InvalidValue):
        return None


def _characters(size: int) -> int:
    """How many characters this many bytes are written in."""
    return -(-8 * size // 5)


def _checksum(summed: bytes) -> bytes:
    return keccak256(LINK_HEAD.encode() + summed)[:_CHECKSUM]
