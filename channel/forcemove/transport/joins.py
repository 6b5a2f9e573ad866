"""Joins of offers, and the table that follows from an offer and all of its joins. Pure.

A guest signs a join, which names the offer's hash and so all of its terms. Once all seats of an offer are taken, the
table follows from the offer and all joins in the order in which the lobby has them, so that nobody can be at another
one by mistake: the host has seat 0, and the guests have the others in that order. Who proves to be at that table has
signed for the terms, the players and their order. A server that shows the players different orders gets tables at which
nobody ever meets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from forcemove.errors import ForcemoveError, InvalidValue
from forcemove.protocol.codec.msgpack_codec import Codec
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.signing import Key, require_signer
from forcemove.protocol.types import MAX_PARTICIPANTS, ZERO_ADDRESS, Signature, require_bytes
from forcemove.transport.offers import PLAIN_VERSION, Offer, OtherOfferShown, SignedOffer, require_name
from forcemove.transport.terms import TableKind, TableTerms, address_word, relay_digest, text_hash

JOIN_TYPE = b"Join(bytes32 offer,address guest,address payout,string name)"
PRESENCE_TYPE = b"Presence(bytes32 table)"
_JOIN_TYPEHASH, _PRESENCE_TYPEHASH = keccak256(JOIN_TYPE), keccak256(PRESENCE_TYPE)
MAX_JOINS = MAX_PARTICIPANTS - 1
"""Guests of one offer."""


class Join(Struct, frozen=True):
    """`guest` takes a seat of the offer of this hash, with all its terms, and is paid at `payout`. `name`: the guest's,
    may be empty, see `require_name`. Raises `InvalidValue`."""

    offer: bytes
    guest: bytes
    payout: bytes
    name: str = ""

    def __post_init__(self) -> None:
        require_bytes("offer", self.offer, 32)
        require_bytes("guest", self.guest, 20)
        require_bytes("payout", self.payout, 20)
        require_name(self.name)
        if ZERO_ADDRESS in (self.guest, self.payout):
            raise InvalidValue("guest", self.guest, "an address other than zero, as is the payout's")

    @property
    def hash(self) -> bytes:
        """The 32 bytes that name the join."""
        return keccak256(self._struct)

    @property
    def digest(self) -> bytes:
        """What the guest signs."""
        return relay_digest(self._struct)

    @property
    def _struct(self) -> bytes:
        return _JOIN_TYPEHASH + self.offer + address_word(self.guest) + address_word(self.payout) + text_hash(self.name)


JOINS: Codec[Join] = Codec("join", Join, PLAIN_VERSION)


class SignedJoin(Struct, frozen=True):
    """A join that its guest has signed."""

    join: Join
    signature: Signature

    @classmethod
    def sign(cls, join: Join, key: Key) -> SignedJoin:
        """Raises `InvalidValue` where the key is not the guest's."""
        if key.address != join.guest:
            raise InvalidValue("key", key.address, "that of the guest")
        return cls(join, key.sign(join.digest))

    def verify(self) -> None:
        """Raises `WrongSigner`, `SignatureMalleable`, `SignatureUnrecoverable`."""
        require_signer(self.join.digest, self.signature, self.join.guest)


def meeting_table(offer: Offer, *joins: Join) -> TableTerms:
    """The table where the host meets the guests, who have joined in this order. Raises `InvalidValue` where the joins
    are not as many as the guests' seats, are of another offer, or two players are the same, and `OfferForAnother`."""
    if len(joins) != offer.seats - 1:
        raise InvalidValue("joins", len(joins), f"one of each guest, {offer.seats - 1}")
    _require_joins(offer, joins)
    kind = TableKind.GAME if offer.is_friendly else TableKind.CHANNEL
    salt = keccak256(offer.hash + b"".join(each.hash for each in joins))
    return TableTerms(kind, (offer.host, *(each.guest for each in joins)), salt)


def _require_joins(offer: Offer, joins: Sequence[Join]) -> None:
    """Raise `InvalidValue` where joins are of another offer, more than there are seats, or two players the same, and
    `OfferForAnother` where one is of a player who may not join."""
    if any(each.offer != offer.hash for each in joins):
        raise InvalidValue("join", [each.offer for each in joins], "one of this offer")
    for each in joins:
        offer.require_guest(each.guest)
    players = {offer.host, *(each.guest for each in joins)}
    if len(players) != len(joins) + 1 or len(players) > offer.seats:
        raise InvalidValue("joins", [each.guest for each in joins], f"up to {offer.seats - 1} guests, each only once")


def presence_digest(table: bytes) -> bytes:
    """What every player signs to say that it is at its table. The table's id names the offer and all joins in order."""
    require_bytes("table", table, 32)
    return relay_digest(_PRESENCE_TYPEHASH + table)


class OfferStatus(Struct, frozen=True):
    """An offer as a lobby shows it, its signatures checked. `joins`: those of the guests that have a seat, in the order
    of the seats; `until`: Unix seconds, until which all have to be at their table, 0 as long as a seat is free;
    `is_over`: withdrawn, expired, or begun."""

    signed: SignedOffer
    joins: tuple[SignedJoin, ...]
    until: int
    is_over: bool

    @property
    def offer(self) -> Offer:
        """The offer itself."""
        return self.signed.offer

    @property
    def taken(self) -> int:
        """How many seats are taken, the host's among them."""
        return 1 + len(self.joins)

    @property
    def is_full(self) -> bool:
        """Whether all seats are taken."""
        return self.taken == self.offer.seats

    @property
    def table(self) -> TableTerms | None:
        """The table where all meet, once all seats are taken."""
        return meeting_table(self.offer, *(each.join for each in self.joins)) if self.is_full else None


def read_joins(offer: Offer, joins: Iterable[tuple[bytes, bytes]]) -> tuple[SignedJoin, ...]:
    """Joins of this offer with their signatures, each as its guest has signed it. Raises `OtherOfferShown` where any of
    the bytes are no such join, a guest has two seats, or there are more guests than seats."""
    try:
        found = tuple(SignedJoin(JOINS.decode(join), Signature(signature)) for join, signature in joins)
        for each in found:
            each.verify()
        _require_joins(offer, [each.join for each in found])
    except ForcemoveError:
        raise OtherOfferShown(offer.hash) from None
    return found
