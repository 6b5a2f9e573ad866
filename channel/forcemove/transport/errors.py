"""What can go wrong between a client and its relay, or the NATS server in a relay's place."""

from __future__ import annotations

from enum import Enum

from forcemove.errors import ForcemoveError, LocalError
from forcemove.flow.transport import TransportFault


class TransportError(ForcemoveError):
    """The transport between players failed, which costs time and no money."""


class RelayUnreachable(TransportError):
    """Nobody answers at `url`, or the server there is no relay."""

    url: str
    reason: str


class RelayFaulty(TransportError):
    """The server at `url` has sent nothing of use for `seconds`, and is given up; the last error is `reason`."""

    url: str
    seconds: float
    reason: str


class NatsMissing(TransportError):
    """The library for NATS servers is not installed."""

    reason: str


class StreamUnsuitable(TransportError):
    """The NATS server at `url` has a stream of this name already, whose `setting` would lose or spoil messages. The
    stream was not changed."""

    url: str
    stream: str
    setting: str
    found: str
    wanted: str


class TwoSeatsOnly(TransportError):
    """The lobby of a NATS server takes no offer for `seats` players, only for two."""

    seats: int


class TransportClosed(TransportError):
    """We have closed our connection to the relay at `url`; posts that were not acknowledged may be in the log or
    not."""

    url: str


class Reason(Enum):
    """Why a relay refuses a request. The values are on the wire."""

    NOT_A_PARTICIPANT = "not-a-participant"
    WRONG_RELAY = "wrong-relay"
    EXPIRED = "expired"
    BAD_SIGNATURE = "bad-signature"
    UNKNOWN_TABLE = "unknown-table"
    NOT_PROVED = "not-proved"
    TABLE_FULL = "table-full"
    OTHER_LOG = "other-log"
    TOO_MANY_TABLES = "too-many-tables"
    BUSY = "busy"
    UNKNOWN_OFFER = "unknown-offer"
    OFFER_TAKEN = "offer-taken"
    OTHER_CHAIN = "other-chain"
    TOO_MANY_OFFERS = "too-many-offers"
    MALFORMED = "malformed"


class RelayRefused(TransportError):
    """The relay refuses our request: `reason` says why, `detail` in the relay's own text. `about`: the id of the table
    or the offer."""

    about: bytes
    reason: Reason
    detail: str


def refusal(about: bytes, reason: str, detail: str) -> RelayRefused:
    """A relay's refusal as an error; a reason that we do not know is taken for our fault."""
    known = reason in {each.value for each in Reason}
    return RelayRefused(about, Reason(reason) if known else Reason.MALFORMED, detail)


class LinkCut(LocalError):
    """Of a link of `expected` characters only `present` are there."""

    present: int
    expected: int


class LogReplaced(TransportError):
    """The relay shows another log than before: entry `position` of the table's log (from 0), or one before it, is gone
    or changed. A game whose order counts cannot go on."""

    table: bytes
    position: int


class LogBegins(TransportFault):
    """Entries before number `first` were dropped, or the relay has begun its log again; reading goes on there."""

    first: int
