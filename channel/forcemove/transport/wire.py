"""Messages between clients and relays, as values and as bytes. Pure.

A frame is one binary message of a WebSocket: two bytes with the version of the format, then a MessagePack array of
messages. A message is an array of a number that says which it is, and its fields. Bytes travel as bytes.
"""

from __future__ import annotations

from collections import deque
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from forcemove.errors import ForcemoveError, MalformedBytes
from forcemove.protocol.codec.json_text import require_version
from forcemove.transport.joins import MAX_JOINS
from forcemove.transport.limits import MAX_ENTRY, MAX_FRAME, MAX_URL
from forcemove.transport.offers import MAX_OFFER
from forcemove.transport.terms import Address, Hash, Number, TableKind, TableTerms

VERSION = 3
"""The version of the frames that this program writes and reads. Version 1 had offers for two seats only, and version 2
no `Coming`."""
POST_ID = 16
"""Bytes of a post's id."""
ALL_OFFERS = b"\xff" * 32
"""What a `WatchOffer` names in place of an offer, to be told when the list of open offers changes."""

Entry = Annotated[bytes, Meta(max_length=MAX_ENTRY)]
PostId = Annotated[bytes, Meta(min_length=POST_ID, max_length=POST_ID)]
RequestId = Annotated[bytes, Meta(max_length=POST_ID)]
Signed = Annotated[bytes, Meta(min_length=64, max_length=64)]
Offered = Annotated[bytes, Meta(max_length=MAX_OFFER)]
Joins = Annotated[tuple[tuple[Offered, Signed], ...], Meta(max_length=MAX_JOINS)]
"""Joins, each with its signature, in the order of the seats."""
Text = Annotated[str, Meta(max_length=200)]


class Message(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A message between client and relay. Its tag says which."""


# ----------------------------------------------------------------------------------------------------- to the relay


class Prove(Message, frozen=True, tag=1):
    """We are a participant of this table, which is made if it is not there; see `terms.proof_digest`."""

    table: TableTerms
    participant: Address
    relay: Annotated[str, Meta(max_length=MAX_URL)]
    expiry: Number
    signature: Signed


class Open(Message, frozen=True, tag=2):
    """Send us a table's log from entry `start` on. `hash`: the running hash over the entries before it, or None where
    we do not know it."""

    table: Hash
    start: Number
    hash: Hash | None


class PostEntry(Message, frozen=True, tag=3):
    """Add an entry to a table's log. `since`: None where this id was never posted before; else the log may have it
    already, from this place on, and must not get it twice."""

    table: Hash
    id: PostId
    entry: Entry
    since: Number | None


class Leave(Message, frozen=True, tag=4):
    """Send us no more of this table."""

    table: Hash


class MakeOffer(Message, frozen=True, tag=10):
    """Show this offer in the lobby, see `offers`; the answer is its `OfferShown`. `id`: is in the answer, here and
    below."""

    id: RequestId
    offer: Offered
    signature: Signed


class ListOffers(Message, frozen=True, tag=11):
    """Which offers are open? `after`: the last offer of the page before, to get the next page."""

    id: RequestId
    after: Hash | None


class JoinOffer(Message, frozen=True, tag=12):
    """Take a seat of an offer; the answer is its `OfferShown`. The seat is ours while this connection lives."""

    id: RequestId
    join: Offered
    signature: Signed


class WatchOffer(Message, frozen=True, tag=13):
    """Show this offer now, and whenever it changes. `ALL_OFFERS`: answer once with an `OffersListed` without offers, as
    soon as the list is not as it was when this connection was sent its first page. An older relay refuses: it knows no
    such offer."""

    id: RequestId
    offer: Hash


class WithdrawOffer(Message, frozen=True, tag=14):
    """Take back our offer, see `offers.withdrawal_digest`."""

    id: RequestId
    offer: Hash
    signature: Signed


# --------------------------------------------------------------------------------------------------- from the relay


class Welcome(Message, frozen=True, tag=1):
    """The first message of a connection. `nonce`: for proofs on it."""

    nonce: Hash


class Proved(Message, frozen=True, tag=2):
    """The relay has accepted our proof: we may post at this table."""

    table: Hash


class Opened(Message, frozen=True, tag=3):
    """The log's entries follow from number `start` on, which is later than we asked for where older ones were dropped.
    `length`: how many there have been; `hash`: the running hash over the entries before `start`."""

    table: Hash
    kind: TableKind
    start: Number
    length: Number
    hash: Hash


class Entries(Message, frozen=True, tag=4):
    """Entries of a log, from number `first` on."""

    table: Hash
    first: Number
    entries: tuple[Entry, ...]


class Posted(Message, frozen=True, tag=5):
    """The post of this id is entry number `index`, and on disk."""

    table: Hash
    id: PostId
    index: Number


class RequestRefused(Message, frozen=True, tag=6):
    """A request about a table or an offer is refused. `id`: of a post or request, or empty. `reason`: an
    `errors.Reason`."""

    about: Hash
    id: RequestId
    reason: Text
    detail: Text


class Coming(Message, frozen=True, tag=7):
    """This entry is on its way to the disk of the relay, and has no place in the log yet. It follows in `Entries` once
    it has, unless the relay's disk fails: then its author is told, and posts it again."""

    table: Hash
    entry: Entry


class OfferShown(Message, frozen=True, tag=10):
    """An offer as its host has signed it, and the joins of the guests that have a seat. Once all seats are taken,
    `until` says until when (Unix seconds) all have to be at their table, or seats are open again; else it is 0.
    `is_over`: the game of these joins has begun; or, without joins, it was withdrawn or has expired. `id`: of the
    request, or empty where an offer that we watch has changed."""

    id: RequestId
    about: Hash
    offer: Offered
    signature: Signed
    is_over: bool
    joins: Joins
    until: Number


class OffersListed(Message, frozen=True, tag=11):
    """Open offers, in the order of their hashes, each with its signature and its joins so far; `is_all`: whether those
    were the last. Without offers, and not all: there are others than there were, see `WatchOffer`."""

    id: RequestId
    offers: tuple[tuple[Offered, Signed, Joins], ...]
    is_all: bool


ToRelay = Prove | Open | PostEntry | Leave | MakeOffer | ListOffers | JoinOffer | WatchOffer | WithdrawOffer
FromRelay = Welcome | Proved | Opened | Entries | Posted | RequestRefused | Coming | OfferShown | OffersListed

_encode = msgspec.msgpack.Encoder().encode
_TO_RELAY: msgspec.msgpack.Decoder[list[ToRelay]] = msgspec.msgpack.Decoder(list[ToRelay])
_ONE_POST = msgspec.msgpack.Decoder(tuple[PostEntry])
_VERSION = VERSION.to_bytes(2)
_FROM_RELAY: msgspec.msgpack.Decoder[list[FromRelay]] = msgspec.msgpack.Decoder(list[FromRelay])


def encode(message: Message) -> bytes:
    """A message's bytes, without a frame around it."""
    return _encode(message)


def decode_to_relay(frame: bytes) -> list[ToRelay]:
    """The messages of a client's frame. Raises `UnknownVersion` and `MalformedBytes`."""
    messages: list[ToRelay] = _decode(frame, _TO_RELAY)
    return messages


def decode_from_relay(frame: bytes) -> list[FromRelay]:
    """The messages of a relay's frame. Raises `UnknownVersion` and `MalformedBytes`."""
    messages: list[FromRelay] = _decode(frame, _FROM_RELAY)
    return messages


def decode_post(frame: bytes) -> PostEntry | None:
    """The one post that a frame consists of; None, and quickly, for any other frame, and for a faulty one."""
    if frame[:2] != _VERSION or len(frame) > MAX_FRAME:
        return None
    try:
        return _ONE_POST.decode(memoryview(frame)[2:])[0]
    except (msgspec.DecodeError, ValueError):
        return None


def _decode(frame: bytes, decoder: msgspec.msgpack.Decoder[Any]) -> Any:
    """Decode a frame. Only as much nesting is decoded as the types have room for."""
    if len(frame) > MAX_FRAME:
        raise MalformedBytes("frame", f"it has {len(frame)} bytes; {MAX_FRAME} are allowed")
    require_version(int.from_bytes(frame[:2]), "relay's frame", VERSION)
    try:
        return decoder.decode(memoryview(frame)[2:])
    except (msgspec.DecodeError, ForcemoveError, ValueError, RecursionError) as error:
        raise MalformedBytes("frame", f"{error!s:.160}") from None


class SendBuffer:
    """Messages that wait to be sent, which leave in frames."""

    def __init__(self) -> None:
        self._messages: deque[bytes] = deque()
        self.size = 0

    def __bool__(self) -> bool:
        return bool(self._messages)

    def add(self, message: bytes) -> None:
        """Add an encoded message at the end."""
        self._messages.append(message)
        self.size += len(message)

    def take(self) -> bytes:
        """A frame of the oldest messages, as many as it has room for, and at least one if there is any."""
        room, taken = MAX_FRAME - _HEADER, self._messages
        if self.size <= room and len(taken) <= _MAX_MESSAGES:
            self._messages, self.size = deque(), 0
            return b"".join((_VERSION_AND_ARRAY, len(taken).to_bytes(2), *taken))
        taken = deque()
        while self._messages and (not taken or len(self._messages[0]) <= room) and len(taken) < _MAX_MESSAGES:
            taken.append(self._messages.popleft())
            room -= len(taken[-1])
        self.size -= sum(map(len, taken))
        return b"".join((_VERSION_AND_ARRAY, len(taken).to_bytes(2), *taken))


_HEADER = 5
"""The version, and the head of an array with up to 65,535 messages."""
_VERSION_AND_ARRAY = _VERSION + b"\xdc"
_MAX_MESSAGES = 65_535
