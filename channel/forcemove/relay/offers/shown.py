"""One offer of the lobby: who has a seat, and which clients watch it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from forcemove.relay.admission.accounts import AddressAccount
from forcemove.relay.tables import TableClient
from forcemove.transport.errors import Reason
from forcemove.transport.joins import JOINS, SignedJoin
from forcemove.transport.offers import OFFERS, SignedOffer
from forcemove.transport.wire import OfferShown, encode


class NotOffered(Exception):
    """The lobby refuses a request. `about`: the hash of the offer; `reason` and `detail` are sent to the client."""

    def __init__(self, about: bytes, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.about, self.reason, self.detail = about, reason, detail


@dataclass(eq=False)
class Seated:
    """A guest that has a seat. `join`: signed by the guest; `account`: the guest's; `holders`: the connections on which
    the guest has joined, as long as they live; without any the seat is soon free."""

    join: SignedJoin
    account: AddressAccount
    holders: set[TableClient]

    @property
    def address(self) -> bytes:
        """The guest's address, 20 bytes."""
        return self.join.join.guest


@dataclass(eq=False)
class Gathering:
    """All seats of an offer are taken until `until` (Unix seconds). `table`: the id of the table where all are to be;
    `here`: the addresses of those that are there."""

    table: bytes
    until: int
    here: set[bytes] = field(default_factory=set)


@dataclass(eq=False)
class Shown:
    """An offer, and its guests in the order of the seats. `maker`: the address that has made it; `gathering`: while all
    seats are taken; `failed`: how many joins from an address have come to nothing, and until when (Unix seconds) it may
    not join again; `encoded`: the offer's bytes."""

    signed: SignedOffer
    maker: str = ""
    guests: list[Seated] = field(default_factory=list)
    gathering: Gathering | None = None
    is_over: bool = False
    watchers: set[TableClient] = field(default_factory=set)
    failed: OrderedDict[str, tuple[int, float]] = field(default_factory=OrderedDict)

    def __post_init__(self) -> None:
        self.hash, self.encoded = self.signed.offer.hash, OFFERS.encode(self.signed.offer)

    @property
    def joins(self) -> tuple[tuple[bytes, bytes], ...]:
        """The encoded joins of the guests, each with its signature."""
        return tuple((JOINS.encode(each.join.join), each.join.signature.compact) for each in self.guests)

    def message(self, request: bytes = b"") -> bytes:
        """The offer as it is now, as an encoded `OfferShown`. `request`: the id of the request that this answers."""
        signature, until = self.signed.signature.compact, 0 if self.gathering is None else self.gathering.until
        return encode(OfferShown(request, self.hash, self.encoded, signature, self.is_over, self.joins, until))
