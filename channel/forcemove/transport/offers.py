"""Offers to play, and joins: all terms, signed by those that they bind. Pure.

A host signs an offer, a guest signs a join, which names the offer's hash and so all of its terms. Both are EIP-712
messages with the domain of `terms`. The table that the two meet at follows from both, so neither can be at another one
by mistake. They are sent and stored as `protocol.codec.msgpack_codec` encodes them, with a version.
"""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import Struct

from forcemove.errors import CounterpartyError, ForcemoveError, InvalidValue
from forcemove.protocol.codec.msgpack_codec import Codec
from forcemove.protocol.encoding import word
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.signing import Key, require_signer
from forcemove.protocol.types import (
    MAX_CHALLENGE_DURATION,
    MIN_CHALLENGE_DURATION,
    UINT64_MAX,
    UINT256_MAX,
    ZERO_ADDRESS,
    Signature,
    require_bytes,
    require_uint,
)
from forcemove.transport.terms import TableKind, TableTerms, address_word, relay_digest, text_hash

__all__ = [
    "CHANGE_SECONDS",
    "JOINS",
    "JOIN_TYPE",
    "MAX_GAME_NAME",
    "MAX_OFFER",
    "MAX_LISTED",
    "OFFERS",
    "OFFER_TYPE",
    "PRESENCE_TYPE",
    "WITHDRAWAL_TYPE",
    "Join",
    "Offer",
    "OfferOfAnotherChain",
    "OtherOfferShown",
    "OfferStatus",
    "SignedJoin",
    "SignedOffer",
    "meeting_table",
    "presence_digest",
    "read_join",
    "read_offer",
    "withdrawal_digest",
]

OFFER_TYPE = (
    b"Offer(string game,uint256 chainId,address adjudicator,address app,address asset,uint256 stake,uint256 deposit,"
    b"uint256 duration,uint64 nonce,address host,address payout,uint64 expires)"
)
JOIN_TYPE = b"Join(bytes32 offer,address guest,address payout)"
WITHDRAWAL_TYPE = b"Withdrawal(bytes32 offer)"
PRESENCE_TYPE = b"Presence(bytes32 table)"
_OFFER_TYPEHASH, _JOIN_TYPEHASH = keccak256(OFFER_TYPE), keccak256(JOIN_TYPE)
_WITHDRAWAL_TYPEHASH, _PRESENCE_TYPEHASH = keccak256(WITHDRAWAL_TYPE), keccak256(PRESENCE_TYPE)
MAX_GAME_NAME = 64
"""Characters."""
MAX_OFFER = 1_024
"""Bytes of an encoded offer or join, names of fields and all."""
MAX_LISTED = 1_000
"""Offers that a list has by default: strangers may have filled the lobby."""
CHANGE_SECONDS = 5.0
"""Seconds that a change of listed offers is waited for, before new offers are looked for."""


@dataclass(eq=False)
class OfferOfAnotherChain(CounterpartyError):
    """The offer is for chain `offered`, and we play on chain `ours`; 0 is a friendly game, without a chain."""

    offered: int
    ours: int


@dataclass(eq=False)
class OtherOfferShown(CounterpartyError):
    """The lobby does not show the offer `hash` as its host has signed it."""

    hash: bytes


class Offer(Struct, frozen=True):
    """What `host` offers to play, for anybody who joins. Amounts are in the smallest unit of `asset`; the zero address
    is ether.

    `stake`: of a round; `deposit`: what each player pays in; `duration`: of a challenge, in seconds; `nonce`: of the
    channel, drawn at random; `payout`: where the host is paid; `expires`: Unix seconds. A friendly game has chain id,
    adjudicator, app, asset, stake and deposit 0. Raises `InvalidValue`.
    """

    game: str
    chain_id: int
    adjudicator: bytes
    app: bytes
    asset: bytes
    stake: int
    deposit: int
    duration: int
    nonce: int
    host: bytes
    payout: bytes
    expires: int

    def __post_init__(self) -> None:
        if not (1 <= len(self.game) <= MAX_GAME_NAME and self.game.isprintable()):
            raise InvalidValue("game", self.game, f"1 to {MAX_GAME_NAME} characters that can be printed")
        for name in ("adjudicator", "app", "asset", "host", "payout"):
            require_bytes(name, getattr(self, name), 20)
        for name in ("chain_id", "stake", "deposit"):
            require_uint(name, getattr(self, name), UINT256_MAX)
        for name in ("nonce", "expires"):
            require_uint(name, getattr(self, name), UINT64_MAX)
        require_uint("duration", self.duration, MAX_CHALLENGE_DURATION)
        self._require_sense()

    def _require_sense(self) -> None:
        if self.duration < MIN_CHALLENGE_DURATION:
            raise InvalidValue("duration", self.duration, f"at least {MIN_CHALLENGE_DURATION} seconds")
        if ZERO_ADDRESS in (self.host, self.payout):
            raise InvalidValue("host", self.host, "an address other than zero, as is the payout's")
        if self.deposit < self.stake:
            raise InvalidValue("deposit", self.deposit, f"at least the stake, {self.stake}")
        of_the_chain = (self.stake, self.deposit, any(self.adjudicator), any(self.app), any(self.asset))
        if self.is_friendly and any(of_the_chain):
            raise InvalidValue("chain_id", 0, "that of a chain, where there is money or a contract")
        if not self.is_friendly and not (any(self.adjudicator) and any(self.app) and self.stake):
            raise InvalidValue("chain_id", self.chain_id, "0 where there is no adjudicator, app or stake")

    @property
    def is_friendly(self) -> bool:
        """Whether the game is played for nothing, and without a chain."""
        return self.chain_id == 0

    @property
    def hash(self) -> bytes:
        """The 32 bytes that name the offer."""
        return keccak256(self._struct)

    @property
    def digest(self) -> bytes:
        """What the host signs."""
        return relay_digest(self._struct)

    @property
    def _struct(self) -> bytes:
        addresses = b"".join(map(address_word, (self.adjudicator, self.app, self.asset)))
        numbers = b"".join(map(word, (self.stake, self.deposit, self.duration, self.nonce)))
        people = address_word(self.host) + address_word(self.payout) + word(self.expires)
        return _OFFER_TYPEHASH + text_hash(self.game) + word(self.chain_id) + addresses + numbers + people

    def require_chain(self, ours: int) -> None:
        """Raise `OfferOfAnotherChain` unless the offer is for chain `ours`."""
        if self.chain_id != ours:
            raise OfferOfAnotherChain(self.chain_id, ours)


class Join(Struct, frozen=True):
    """`guest` takes the offer of this hash, all its terms, and is paid at `payout`. Raises `InvalidValue`."""

    offer: bytes
    guest: bytes
    payout: bytes

    def __post_init__(self) -> None:
        require_bytes("offer", self.offer, 32)
        require_bytes("guest", self.guest, 20)
        require_bytes("payout", self.payout, 20)
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
        return _JOIN_TYPEHASH + self.offer + address_word(self.guest) + address_word(self.payout)


OFFERS: Codec[Offer] = Codec("offer", Offer)
JOINS: Codec[Join] = Codec("join", Join)


class SignedOffer(Struct, frozen=True):
    """An offer that its host has signed."""

    offer: Offer
    signature: Signature

    @classmethod
    def sign(cls, offer: Offer, key: Key) -> SignedOffer:
        """Raises `InvalidValue` where the key is not the host's."""
        if key.address != offer.host:
            raise InvalidValue("key", key.address, "that of the host")
        return cls(offer, key.sign(offer.digest))

    def verify(self) -> None:
        """Raises `WrongSigner`, `SignatureMalleable`, `SignatureUnrecoverable`."""
        require_signer(self.offer.digest, self.signature, self.offer.host)


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


def meeting_table(offer: Offer, join: Join) -> TableTerms:
    """The table where host and guest meet. Raises `InvalidValue` where the join is of another offer, or the host's
    own."""
    if join.offer != offer.hash:
        raise InvalidValue("join", join.offer, "one of this offer")
    kind = TableKind.GAME if offer.is_friendly else TableKind.CHANNEL
    return TableTerms(kind, (offer.host, join.guest), keccak256(offer.hash + join.hash))


def withdrawal_digest(offer: bytes) -> bytes:
    """What a host signs to take back the offer of this hash."""
    require_bytes("offer", offer, 32)
    return relay_digest(_WITHDRAWAL_TYPEHASH + offer)


def presence_digest(table: bytes) -> bytes:
    """What host and guest sign to say that they are at their table. The table's id names the offer and the join."""
    require_bytes("table", table, 32)
    return relay_digest(_PRESENCE_TYPEHASH + table)


class OfferStatus(Struct, frozen=True):
    """An offer as a lobby shows it, its signatures checked. `join`: who has joined; `until`: Unix seconds, until which
    both have to be at their table; `is_over`: withdrawn, expired, or begun."""

    signed: SignedOffer
    join: SignedJoin | None
    until: int
    is_over: bool

    @property
    def table(self) -> TableTerms | None:
        """The table where host and guest meet, once somebody has joined."""
        return None if self.join is None else meeting_table(self.signed.offer, self.join.join)


def read_offer(hash_: bytes, offer: bytes, signature: bytes) -> SignedOffer:
    """The offer with this hash, as its host has signed it. Raises `OtherOfferShown` where the bytes are not that
    offer."""
    try:
        signed = SignedOffer(OFFERS.decode(offer), Signature(signature))
        signed.verify()
    except ForcemoveError:
        raise OtherOfferShown(hash_) from None
    if signed.offer.hash != hash_:
        raise OtherOfferShown(hash_)
    return signed


def read_join(offer: Offer, join: bytes, signature: bytes) -> SignedJoin:
    """A join of this offer, as its guest has signed it. Raises `OtherOfferShown` where the bytes are no such join."""
    try:
        signed = SignedJoin(JOINS.decode(join), Signature(signature))
        signed.verify()
        meeting_table(offer, signed.join)
    except ForcemoveError:
        raise OtherOfferShown(offer.hash) from None
    return signed
