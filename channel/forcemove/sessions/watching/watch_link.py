"""A link to watch a channel with: which relay has its log, and what its states are checked with. Pure.

    forcemovewatch1xabzgi33smuxc...

It is one word of small letters and digits: base32 (RFC 4648, without padding) of a checksum (4 bytes) and of the link
as `protocol.codec.msgpack_codec` encodes it. It has nothing that the players' relay does not know.
"""

from __future__ import annotations

from base64 import b32decode, b32encode

from msgspec import Struct

from forcemove.errors import InvalidValue, MalformedBytes
from forcemove.protocol.codec.msgpack_codec import Codec
from forcemove.protocol.encoding import Domain, channel_id
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.types import FixedPart
from forcemove.transport.limits import MAX_URL
from forcemove.transport.links import public_url
from forcemove.transport.offers import MAX_GAME_NAME
from forcemove.transport.terms import TableKind, TableTerms

WATCH_HEAD = "forcemovewatch1x"
"""How each link begins."""
_WHAT = "link to watch with"
_CARRIERS = ("ws://", "wss://", "nats://", "tls://")
_CHECKSUM = 4
_LONGEST = 4_000
"""Characters of a link."""


class WatchLink(Struct, frozen=True):
    """`relay`: its address, without a password; `game`: the name of the game; `domain`, `fixed_part`: of the channel.
    Raises `InvalidValue`."""

    relay: str
    game: str
    domain: Domain
    fixed_part: FixedPart

    def __post_init__(self) -> None:
        is_address = self.relay.isprintable() and " " not in self.relay and self.relay.startswith(_CARRIERS)
        if not is_address or len(self.relay) > MAX_URL or public_url(self.relay) != self.relay:
            raise InvalidValue("relay", self.relay, "an address of a relay, without a password")
        if not 1 <= len(self.game) <= MAX_GAME_NAME or not self.game.isprintable():
            raise InvalidValue("game", self.game, f"1 to {MAX_GAME_NAME} characters that can be printed")

    @property
    def channel_id(self) -> bytes:
        """The channel's id, 32 bytes."""
        return channel_id(self.fixed_part, self.domain)

    @property
    def table(self) -> bytes:
        """The id of the table whose log has the channel's states. Raises `InvalidValue`."""
        return TableTerms(TableKind.CHANNEL, self.fixed_part.participants, self.channel_id).id

    def __str__(self) -> str:
        content = _LINKS.encode(self)
        return WATCH_HEAD + b32encode(_checksum(content) + content).decode().rstrip("=").lower()


_LINKS: Codec[WatchLink] = Codec(_WHAT, WatchLink, 2)


def parse_watch_link(text: str) -> WatchLink:
    """The link in a text. Raises `MalformedBytes` and `UnknownVersion`."""
    word = "".join(text[: 2 * _LONGEST].split()).lower()
    if not word.startswith(WATCH_HEAD) or len(word) > _LONGEST:
        raise MalformedBytes(_WHAT, f"it does not begin with {WATCH_HEAD}")
    written = word.removeprefix(WATCH_HEAD)
    try:
        data = b32decode(written.upper() + "=" * (-len(written) % 8))
    except ValueError:
        raise MalformedBytes(_WHAT, "it was cut, or has characters that no link has") from None
    content = data[_CHECKSUM:]
    if _checksum(content) != data[:_CHECKSUM]:
        raise MalformedBytes(_WHAT, "it was mistyped, cut, or changed on its way")
    link = _LINKS.decode(content)
    link.table  # noqa: B018  # participants must make a table
    return link


def _checksum(content: bytes) -> bytes:
    return keccak256(WATCH_HEAD.encode() + content)[:_CHECKSUM]
