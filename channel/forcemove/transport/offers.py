"""Offers to play: all terms, signed by the host that they bind. Pure.

An offer is an EIP-712 message with the domain of `terms`. Guests sign `joins`, which name the offer's hash and so all
of its terms. Both are sent and stored as `protocol.codec.msgpack_codec` encodes them, with a version of their own.

An offer without a time for a move that anybody may join has the type, the hash and the bytes that it had in version 2:
programs of that version join it, and meetings that they have stored go on.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec import Struct, to_builtins

from forcemove.errors import CounterpartyError, ForcemoveError, InvalidValue, MalformedBytes, UnknownVersion
from forcemove.protocol import types
from forcemove.protocol.codec.msgpack_codec import Codec
from forcemove.protocol.encoding import word
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.signing import Key, require_signer
from forcemove.transport.terms import address_word, relay_digest, text_hash

PLAIN_OFFER_TYPE = (
    b"Offer(string game,uint256 chainId,address adjudicator,address app,address asset,uint256 stake,uint256 deposit,"
    b"uint256 duration,uint64 nonce,address host,address payout,uint64 expires,uint8 seats,string name)"
)
OFFER_TYPE = PLAIN_OFFER_TYPE[:-1] + b",uint256 moveTime,address guest)"
WITHDRAWAL_TYPE = b"Withdrawal(bytes32 offer)"
_OFFER_TYPEHASH, _WITHDRAWAL_TYPEHASH = keccak256(OFFER_TYPE), keccak256(WITHDRAWAL_TYPE)
_PLAIN_OFFER_TYPEHASH = keccak256(PLAIN_OFFER_TYPE)
OFFER_VERSION = 3
"""The version of offers with a time for a move, or for one guest alone."""
PLAIN_VERSION = 2
"""The version of joins, and of all other offers. Those of version 1 were for two seats, and had no names."""
MIN_SEATS = 2
"""Players at a table: a host, and at least one guest."""
MAX_NAME = 32
"""Characters of a player's name."""
MAX_GAME_NAME = 64
"""Characters."""
MAX_OFFER = 1_024
"""Bytes of an encoded offer or join, names of fields and all."""
MAX_LISTED = 1_000
"""Offers that a list has by default: strangers may have filled the lobby."""
CHANGE_SECONDS = 5.0
"""Seconds that a change of listed offers is waited for, before new offers are looked for."""


class OfferOfAnotherChain(CounterpartyError):
    """The offer is for chain `offered`, and we play on chain `ours`; 0 is a friendly game, without a chain."""

    offered: int
    ours: int


class OfferForAnother(CounterpartyError):
    """Only the player of address `guest` may join the offer, and not `other`."""

    guest: bytes
    other: bytes


class OtherOfferShown(CounterpartyError):
    """The lobby does not show the offer `hash` as its host has signed it."""

    hash: bytes


class Offer(Struct, frozen=True, omit_defaults=True):
    """What `host` offers to play, for anybody who joins, or for one player. Amounts are in the smallest unit of
    `asset`; the zero address is ether.

    `stake`: of a round; `deposit`: what each player pays in; `duration`: of a challenge, in seconds; `nonce`: of the
    channel, drawn at random; `payout`: where the host is paid; `expires`: Unix seconds; `seats`: how many play, 2 to 8
    with the host; `name`: the host's, may be empty, see `require_name`; `move_time`: seconds that each has for a move,
    0 for any; `guest`: 20 bytes, the only one who may join, empty for anybody. A friendly game has chain id,
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
    seats: int
    name: str
    move_time: int = 0
    guest: bytes = b""

    def __post_init__(self) -> None:
        if not (1 <= len(self.game) <= MAX_GAME_NAME and self.game.isprintable()):
            raise InvalidValue("game", self.game, f"1 to {MAX_GAME_NAME} characters that can be printed")
        for name in ("adjudicator", "app", "asset", "host", "payout"):
            types.require_bytes(name, getattr(self, name), 20)
        for name in ("chain_id", "stake", "deposit"):
            types.require_uint(name, getattr(self, name), types.UINT256_MAX)
        for name in ("nonce", "expires"):
            types.require_uint(name, getattr(self, name), types.UINT64_MAX)
        types.require_uint("duration", self.duration, types.MAX_CHALLENGE_DURATION)
        types.require_uint("seats", self.seats, types.MAX_PARTICIPANTS)
        types.require_uint("move_time", self.move_time, types.MAX_CHALLENGE_DURATION)
        require_name(self.name)
        self._require_sense()

    def _require_sense(self) -> None:
        if self.duration < types.MIN_CHALLENGE_DURATION:
            raise InvalidValue("duration", self.duration, f"at least {types.MIN_CHALLENGE_DURATION} seconds")
        if self.seats < MIN_SEATS:
            raise InvalidValue("seats", self.seats, f"{MIN_SEATS} to {types.MAX_PARTICIPANTS}")
        if types.ZERO_ADDRESS in (self.host, self.payout):
            raise InvalidValue("host", self.host, "an address other than zero, as is the payout's")
        if self.guest:
            types.require_bytes("guest", self.guest, 20)
            if self.seats != MIN_SEATS or self.guest in (self.host, types.ZERO_ADDRESS):
                raise InvalidValue("guest", self.guest, "another player than the host, at a table for two")
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
    def is_plain(self) -> bool:
        """Whether it has no terms that version 2 did not have."""
        return not self.move_time and not self.guest

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
        terms = text_hash(self.game) + word(self.chain_id) + addresses + numbers + people
        plain = terms + word(self.seats) + text_hash(self.name)
        if self.is_plain:
            return _PLAIN_OFFER_TYPEHASH + plain
        return _OFFER_TYPEHASH + plain + word(self.move_time) + address_word(self.guest or types.ZERO_ADDRESS)

    def require_chain(self, ours: int) -> None:
        """Raise `OfferOfAnotherChain` unless the offer is for chain `ours`."""
        if self.chain_id != ours:
            raise OfferOfAnotherChain(self.chain_id, ours)

    def is_for(self, player: bytes) -> bool:
        """Whether it concerns a player (20 bytes, empty for nobody in particular): as its host, or as one who may
        join."""
        return not self.guest or player in (self.guest, self.host)

    def require_guest(self, guest: bytes) -> None:
        """Raise `OfferForAnother` where this player (20 bytes) may not join."""
        if self.guest and guest != self.guest:
            raise OfferForAnother(self.guest, guest)


ValueT = TypeVar("ValueT")


class _ShortCodec(Codec[ValueT]):
    """Encodes in as few bytes as MessagePack can: of a class msgspec counts members, too, that it leaves out."""

    def encode(self, value: ValueT) -> bytes:
        """As `Codec.encode`."""
        return super().encode(to_builtins(value, builtin_types=(bytes,)))


class OfferCodec(_ShortCodec[ValueT]):
    """Encodes and decodes offers, or values that have one, each in the first version that has all its terms."""

    def __init__(self, what: str, type_: Any, versions: Mapping[int, Callable[[ValueT], bool]]) -> None:
        """`what`, `type_`: see `Codec`; `versions`: from the first one to the newest, which takes all; each with
        whether it has all terms of a value."""
        super().__init__(what, type_, max(versions))
        self._has_all = versions
        self._codecs = {each: _ShortCodec[ValueT](what, type_, each) for each in versions}

    def encode(self, value: ValueT) -> bytes:
        """As `Codec.encode`."""
        return self._codecs[self._first_version(value)].encode(value)

    def decode(self, data: bytes) -> ValueT:
        """As `Codec.decode`."""
        for version, codec in self._codecs.items():
            try:
                value = codec.decode(data)
            except UnknownVersion:
                if version == self._version:
                    raise
            else:
                break
        if self._first_version(value) != version:
            raise MalformedBytes(self._what, f"it has not the terms that make it one of version {version}")
        return value

    def _first_version(self, value: ValueT) -> int:
        return next(version for version, has_all in self._has_all.items() if has_all(value))


OFFERS: OfferCodec[Offer] = OfferCodec(
    "offer", Offer, {PLAIN_VERSION: lambda offer: offer.is_plain, OFFER_VERSION: lambda _: True}
)


def require_name(name: str) -> None:
    """Raise `InvalidValue` unless this can be a player's name in an offer or a join: at most 32 characters in the
    normal form C of Unicode. Which characters those are is not asked here: see `text.names` for how a name is shown."""
    is_text = not any(unicodedata.category(each) == "Cs" for each in name)
    if not (len(name) <= MAX_NAME and is_text and unicodedata.is_normalized("NFC", name)):
        raise InvalidValue("name", name, f"at most {MAX_NAME} characters, in normal form C")


class SignedOffer(Struct, frozen=True):
    """An offer that its host has signed."""

    offer: Offer
    signature: types.Signature

    @classmethod
    def sign(cls, offer: Offer, key: Key) -> SignedOffer:
        """Raises `InvalidValue` where the key is not the host's."""
        if key.address != offer.host:
            raise InvalidValue("key", key.address, "that of the host")
        return cls(offer, key.sign(offer.digest))

    def verify(self) -> None:
        """Raises `WrongSigner`, `SignatureMalleable`, `SignatureUnrecoverable`."""
        require_signer(self.offer.digest, self.signature, self.offer.host)


def withdrawal_digest(offer: bytes) -> bytes:
    """What a host signs to take back the offer of this hash."""
    types.require_bytes("offer", offer, 32)
    return relay_digest(_WITHDRAWAL_TYPEHASH + offer)


def read_offer(hash_: bytes, offer: bytes, signature: bytes) -> SignedOffer:
    """The offer with this hash, as its host has signed it. Raises `OtherOfferShown` where the bytes are not that
    offer."""
    try:
        signed = SignedOffer(OFFERS.decode(offer), types.Signature(signature))
        signed.verify()
    except ForcemoveError:
        raise OtherOfferShown(hash_) from None
    if signed.offer.hash != hash_:
        raise OtherOfferShown(hash_)
    return signed
