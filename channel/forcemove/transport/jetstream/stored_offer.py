"""An offer as it is in the lobby's bucket: the offer, its join and the presence of both players in one value, each
signed by its author. Pure.

Anyone who may write to the bucket can write anything: a part without a valid signature counts as missing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from forcemove.errors import ForcemoveError, UnknownVersion
from forcemove.protocol.codec.json_text import require_version
from forcemove.protocol.signing import Key, require_signer
from forcemove.protocol.types import Signature
from forcemove.transport import offers
from forcemove.transport.jetstream.streams import MAX_OFFERED
from forcemove.transport.joins import JOINS, OfferStatus, SignedJoin, presence_digest, read_joins
from forcemove.transport.terms import Number

VERSION = 2
"""The version of the values that this program writes and reads."""
LONGEST_OFFER = 7 * 86_400
"""Seconds that an offer may last."""

_Bytes = Annotated[bytes, Meta(max_length=offers.MAX_OFFER)]
_Signed = Annotated[bytes, Meta(min_length=64, max_length=64)]


class StoredOffer(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """`until`: Unix seconds, of the join; 0 where it follows from when the value was kept. `withdrawal`, `host` and
    `guest`: signatures of `withdrawal_digest` and, by each of the two, of `presence_digest`."""

    offer: _Bytes
    signature: _Signed
    join: _Bytes | None = None
    join_signature: _Signed | None = None
    until: Number = 0
    withdrawal: _Signed | None = None
    host: _Signed | None = None
    guest: _Signed | None = None

    @classmethod
    def of(cls, signed: offers.SignedOffer) -> StoredOffer:
        """An offer that is open."""
        return cls(offers.OFFERS.encode(signed.offer), signed.signature.compact)

    def joined(self, signed: SignedJoin) -> StoredOffer:
        """The offer with this join, and nothing of another one."""
        return StoredOffer(self.offer, self.signature, JOINS.encode(signed.join), signed.signature.compact)

    def encode(self) -> bytes:
        """Two bytes with the version, and MessagePack."""
        return VERSION.to_bytes(2) + _encode(self)


_encode = msgspec.msgpack.Encoder().encode
_DECODER = msgspec.msgpack.Decoder(StoredOffer)


@dataclass(frozen=True)
class LobbyEntry:
    """An offer's value that was read from the bucket and checked. `revision`: what a new value has to name."""

    revision: int
    value: StoredOffer
    shown: OfferStatus
    is_withdrawn: bool

    @property
    def meeting(self) -> bytes | None:
        """The id of the table where host and guest are to be."""
        table = self.shown.table
        return None if table is None else table.id

    def with_presence(self, key: Key) -> StoredOffer:
        """The value that says that this player is at the table."""
        digest = presence_digest(self.meeting or b"")
        field = "host" if key.address == self.shown.signed.offer.host else "guest"
        signature = {field: key.sign(digest).compact}
        return msgspec.structs.replace(self.value, until=self.shown.until, **signature)


def read_entry(hash_: bytes, data: bytes, revision: int, at: float, now: float, join_seconds: float) -> LobbyEntry:
    """The offer with this hash, from the value that the server stores for it.

    - `hash_`: 32 bytes, the offer's hash.
    - `data`: the value.
    - `revision`: the server's number of the value.
    - `at`: when the value was stored, Unix seconds by the server's clock.
    - `now`: Unix seconds by the server's clock.
    - `join_seconds`: that host and guest have to be at their table.

    Raises `OtherOfferShown` where the value has no offer that its host has signed, and `UnknownVersion`.
    """
    value = _decode(hash_, data)
    signed = offers.read_offer(hash_, value.offer, value.signature)
    if signed.offer.seats != offers.MIN_SEATS:
        raise offers.OtherOfferShown(hash_)
    joins = _sound_join(signed, value)
    until = math.ceil(at + join_seconds)
    until = min(until, value.until) if value.until else until
    shown = OfferStatus(signed, joins, until if joins else 0, False)
    is_withdrawn = _has_signed(signed.offer.host, offers.withdrawal_digest(hash_), value.withdrawal)
    if _has_begun(shown, value):
        shown = OfferStatus(signed, joins, shown.until, True)
    elif is_withdrawn or not now < signed.offer.expires <= now + LONGEST_OFFER:
        shown = OfferStatus(signed, (), 0, True)
    elif joins and until <= now:
        shown = OfferStatus(signed, (), 0, False)
    return LobbyEntry(revision, value, shown, is_withdrawn)


def _decode(hash_: bytes, data: bytes) -> StoredOffer:
    if len(data) > MAX_OFFERED:
        raise offers.OtherOfferShown(hash_)
    try:
        require_version(int.from_bytes(data[:2]), "offer in the lobby", VERSION)
        return _DECODER.decode(memoryview(data)[2:])
    except UnknownVersion:
        raise
    except (msgspec.DecodeError, ForcemoveError, ValueError, RecursionError):
        raise offers.OtherOfferShown(hash_) from None


def _sound_join(signed: offers.SignedOffer, value: StoredOffer) -> tuple[SignedJoin, ...]:
    """The join, if there is one that its guest has signed."""
    if value.join is None or value.join_signature is None:
        return ()
    try:
        return read_joins(signed.offer, [(value.join, value.join_signature)])
    except offers.OtherOfferShown:
        return ()


def _has_begun(shown: OfferStatus, value: StoredOffer) -> bool:
    """Whether both players have signed that they are at their table."""
    if shown.table is None:
        return False
    digest, (host, guest) = presence_digest(shown.table.id), shown.table.participants
    return _has_signed(host, digest, value.host) and _has_signed(guest, digest, value.guest)


def _has_signed(address: bytes, digest: bytes, signature: bytes | None) -> bool:
    if signature is None:
        return False
    try:
        require_signer(digest, Signature(signature), address)
    except ForcemoveError:
        return False
    return True
