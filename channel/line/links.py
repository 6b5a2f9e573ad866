"""A link to hand to a friend: which relay, which offer, and, for spectators, which table. Pure.

    forcemove://join/1?relay=wss%3A%2F%2Frelay.example&offer=<64 hex digits>

The number is the version of the format. A link has no signature: the offer has one, and names all terms.
"""

from __future__ import annotations

from urllib.parse import parse_qsl, quote, urlsplit

from msgspec import Struct

from forcemove.channel.errors import InvalidValue, MalformedBytes
from forcemove.channel.line.limits import MAX_URL
from forcemove.channel.protocol.json_text import require_version
from forcemove.channel.protocol.types import require_bytes

__all__ = ["LINK_VERSION", "RELAY_FORM", "Link", "parse_link", "public_url"]

LINK_VERSION = 1
"""The version of links that this program writes and reads."""
RELAY_FORM = f"ws://, wss://, nats:// or tls://, host and port, up to {MAX_URL} bytes"
"""What a relay's address is, in words."""
_SCHEME, _WHAT = "forcemove", "link"
_CARRIERS = ("ws://", "wss://", "nats://", "tls://")
_LONGEST = 4 * MAX_URL
_HEX = frozenset("0123456789abcdef")


class Link(Struct, frozen=True):
    """`relay`: its address, without a password; `offer`: the hash of the offer; `table`: the id of the table, if it is
    known already. Raises `InvalidValue`."""

    relay: str
    offer: bytes
    table: bytes | None = None

    def __post_init__(self) -> None:
        if not self.relay.startswith(_CARRIERS) or len(self.relay.encode()) > MAX_URL:
            raise InvalidValue("relay", self.relay, RELAY_FORM)
        if public_url(self.relay) != self.relay:
            raise InvalidValue("relay", public_url(self.relay), "an address without name and password: links are shown")
        require_bytes("offer", self.offer, 32)
        if self.table is not None:
            require_bytes("table", self.table, 32)

    def __str__(self) -> str:
        table = "" if self.table is None else f"&table={self.table.hex()}"
        relay = quote(self.relay, safe="")
        return f"{_SCHEME}://join/{LINK_VERSION}?relay={relay}&offer={self.offer.hex()}{table}"


def parse_link(text: str) -> Link:
    """The link in a text, spaces around it aside. Raises `UnknownVersion`, and `MalformedBytes` on anything that
    `str(Link)` would not have written."""
    text = text.strip()
    if len(text) > _LONGEST or not text.isascii() or not text.startswith(f"{_SCHEME}://join/"):
        raise MalformedBytes(_WHAT, f"it does not begin with {_SCHEME}://join/")
    parts = urlsplit(text)
    version = parts.path.removeprefix("/")
    require_version(int(version) if version.isdecimal() and len(version) <= 5 else None, _WHAT, LINK_VERSION)
    try:
        fields = dict(parse_qsl(parts.query, strict_parsing=True))
        table = fields.get("table")
        link = Link(fields["relay"], _bytes(fields["offer"]), None if table is None else _bytes(table))
    except (KeyError, ValueError, InvalidValue):
        raise MalformedBytes(_WHAT, "a part of it is missing or damaged: copy all of it") from None
    if str(link) != text:
        raise MalformedBytes(_WHAT, "it is not as this program writes it: copy all of it, and nothing else")
    return link


def public_url(relay: str) -> str:
    """A relay's address as it may be shown to others: without name and password."""
    scheme, separator, rest = relay.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}{separator}{authority.rpartition('@')[2]}{slash}{path}"


def _bytes(digits: str) -> bytes:
    if not _HEX.issuperset(digits):
        raise ValueError("no hex in lower case")
    return bytes.fromhex(digits)
