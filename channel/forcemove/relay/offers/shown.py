"""One offer of the lobby: who has joined it, and which clients watch it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Protocol

from forcemove.relay.admission.accounts import Account
from forcemove.transport.offers import JOINS, OFFERS, SignedJoin, SignedOffer
from forcemove.transport.wire import OfferShown, encode

__all__ = ["Joined", "Shown", "Watcher"]


class Watcher(Protocol):
    """A client that is sent each change of an offer."""

    def say(self, message: bytes) -> None:
        """Send an encoded message."""
        ...


@dataclass(eq=False)
class Joined:
    """A join that keeps an offer taken until `until` (Unix seconds). `table`: the id of the table where host and guest
    meet; `here`: those of them that are there; `account`: the guest's."""

    join: SignedJoin
    until: int
    table: bytes
    account: Account
    here: set[bytes] = field(default_factory=set)


@dataclass(eq=False)
class Shown:
    """An offer, and who has joined it. `maker`: the address that has made it; `failed`: how many joins from an address
    have come to nothing, and until when (Unix seconds) it may not join again; `encoded`: the offer's bytes."""

    signed: SignedOffer
    maker: str = ""
    joined: Joined | None = None
    is_over: bool = False
    watchers: set[Watcher] = field(default_factory=set)
    failed: OrderedDict[str, tuple[int, float]] = field(default_factory=OrderedDict)

    def __post_init__(self) -> None:
        self.hash, self.encoded = self.signed.offer.hash, OFFERS.encode(self.signed.offer)

    def message(self, request: bytes = b"") -> bytes:
        """The offer as it is now, as an encoded `OfferShown`. `request`: the id of the request that this answers."""
        joined = self.joined
        return encode(
            OfferShown(
                request,
                self.hash,
                self.encoded,
                self.signed.signature.compact,
                self.is_over,
                None if joined is None else JOINS.encode(joined.join.join),
                None if joined is None else joined.join.signature.compact,
                0 if joined is None else joined.until,
            )
        )
