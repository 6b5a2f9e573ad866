"""The values that go into a journal and come out of it. Bodies are bytes, which only the caller can read.

A channel id is 32 bytes, an account or adjudicator 20, a chain id a uint256. Times are Unix seconds of the journal's
own clock. Values that cannot be stored raise `InvalidValue` when they are built.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from msgspec import Struct

from forcemove.errors import InvalidValue
from forcemove.protocol.types import UINT256_MAX, require_bytes, require_uint

OWNER_LENGTH = 16
"""Bytes of an owner of leases."""
SEED_LENGTH = 32
RENEW_AFTER = 0.3
"""The part of a lease after which its holder renews it, and others ask for it again."""
MAX_EVIDENCE = 65_536
"""Bytes of a piece of evidence; the largest message of a channel is smaller."""
MAX_KIND = 100
"""Characters of a kind of evidence."""
MAX_COUNT = 2**63 - 1
"""The largest version, turn or nonce: what a database's integer holds."""

# ------------------------------------------------------------------------------------------------------------ channels


class Ownership(IntEnum):
    """What we may do in a channel. The numbers are in the database."""

    ACTIVE = 1
    """We play it."""
    FINISHED = 2
    """It is over, and nothing is left to do, as far as we have seen: a reorganisation may still undo that, and then it
    is active again."""
    MOVED = 3
    """It was moved to another journal: this one signs nothing more in it."""
    BACKUP = 4
    """It was imported from a backup: we sign nothing in it, but submit what is stored, answer and collect."""
    PUT_AWAY = 5
    """It is not finished, nothing is at stake, and we have put it away: nothing more is signed in it."""


OVER = (Ownership.FINISHED, Ownership.PUT_AWAY)
"""Of channels in which nothing is left to do."""


class Account(Struct, frozen=True):
    """An account on a chain, for which one sender at a time may send. Also the name of its lease."""

    chain_id: int
    address: bytes

    def __post_init__(self) -> None:
        require_uint("chain_id", self.chain_id, UINT256_MAX)
        require_bytes("address", self.address, 20)


class Evidence(Struct, frozen=True):
    """What a counterparty did wrong, of a `kind` (up to 100 characters); `body` has at most `MAX_EVIDENCE` bytes."""

    kind: str
    body: bytes

    def __post_init__(self) -> None:
        if not 0 < len(self.kind) <= MAX_KIND or not self.kind.isprintable():
            raise InvalidValue("kind", self.kind, f"1 to {MAX_KIND} printable characters")
        if len(self.body) > MAX_EVIDENCE:
            raise InvalidValue("evidence", len(self.body), f"at most {MAX_EVIDENCE} bytes")


class HistoryRow(Struct, frozen=True):
    """What one commit adds to a channel's history; `kinds`: numbers of the caller's, each a power of two, or-ed."""

    kinds: int
    body: bytes

    def __post_init__(self) -> None:
        require_uint("kinds", self.kinds, MAX_COUNT)


class StoredHistory(Struct, frozen=True):
    """The bodies of a channel's history, oldest first; `damaged`: how many others do not fit their checksums."""

    bodies: tuple[bytes, ...]
    damaged: int = 0


class OutboxRequest(Struct, frozen=True):
    """A transaction that an account is to send, without a nonce yet; `channel_id` says for which channel, if any."""

    account: Account
    body: bytes
    channel_id: bytes | None = None

    def __post_init__(self) -> None:
        if self.channel_id is not None:
            require_bytes("channel_id", self.channel_id, 32)


class ChannelUpdate(Struct, frozen=True):
    """What is to be saved of a channel, all of it or nothing.

    `version`: the one that we know, 0 where the channel was never saved; saving makes it one more. `metadata`: how the
    channel is put together again, kept once, when the channel is saved first. `finished`: nothing is left to do.
    `put_away`: nothing more may be done. `cursor`: how much of the chain is in the snapshot, empty where that is not
    known. `history`: what has happened in the channel since it was saved last, None for nothing. `profile`, `summary`:
    see `StoredSummary`; a profile of None leaves the stored one.
    """

    channel_id: bytes
    version: int
    snapshot: bytes
    metadata: bytes | None = None
    finished: bool = False
    put_away: bool = False
    evidence: tuple[Evidence, ...] = ()
    cursor: bytes = b""
    history: HistoryRow | None = None
    profile: bytes | None = None
    summary: bytes | None = None

    def __post_init__(self) -> None:
        require_bytes("channel_id", self.channel_id, 32)
        require_uint("version", self.version, MAX_COUNT)
        if (self.version == 0) != (self.metadata is not None):
            raise InvalidValue("metadata", self.metadata, "bytes when a channel is saved first, and None after that")


class Batch(Struct, frozen=True):
    """What is committed at once. A batch has every channel at most once."""

    channels: tuple[ChannelUpdate, ...] = ()

    def __post_init__(self) -> None:
        if len({each.channel_id for each in self.channels}) < len(self.channels):
            raise InvalidValue("channels", len(self.channels), "each channel at most once in a batch")


class StoredChannel(Struct, frozen=True, rename={"ownership": "standing", "metadata": "about", "cursor": "reached"}):
    """A channel as it was saved last, with what was stored with its first saving. `cursor`: as of `ChannelUpdate`; an
    imported channel has none."""

    channel_id: bytes
    version: int
    ownership: Ownership
    snapshot: bytes
    metadata: bytes
    cursor: bytes = b""

    def __post_init__(self) -> None:
        require_bytes("channel_id", self.channel_id, 32)
        require_uint("version", self.version, MAX_COUNT)


class StoredSummary(Struct, frozen=True):
    """A channel for a list of many: what never changes of it (`profile`), and what does (`summary`); None where these
    are not stored, or damaged. `is_sound`: whether the channel itself fits its checksums."""

    channel_id: bytes
    ownership: Ownership
    profile: bytes | None
    summary: bytes | None
    is_sound: bool


class StoredEvidence(Struct, frozen=True):
    """A piece of evidence with its channel; `number` grows from one to the next."""

    number: int
    channel_id: bytes
    evidence: Evidence


class ExportKind(IntEnum):
    """What an export is for. The numbers are in the files."""

    MOVE = 1
    """The channels go to another journal, and this one signs nothing more in them."""
    BACKUP = 2
    """A copy: channels that are imported from it sign nothing."""


# -------------------------------------------------------------------------------------------------------- transactions


class InFlightTransaction(Struct, frozen=True):
    """A transaction of an account in flight; `channel_id` says for which channel, if any."""

    nonce: int
    body: bytes
    channel_id: bytes | None = None

    def __post_init__(self) -> None:
        require_uint("nonce", self.nonce, MAX_COUNT)
        if self.channel_id is not None:
            require_bytes("channel_id", self.channel_id, 32)


class QueuedRequest(Struct, frozen=True):
    """A request for a transaction as it is stored; `number` grows from one to the next."""

    number: int
    request: OutboxRequest


class Put(Struct, frozen=True):
    """A new transaction with a nonce that is free."""

    transaction: InFlightTransaction


class Replace(Struct, frozen=True):
    """Another transaction of the same nonce, or the same with another body."""

    transaction: InFlightTransaction


class Assign(Struct, frozen=True):
    """The request of this number becomes a transaction, and leaves the outbox."""

    number: int
    transaction: InFlightTransaction


class Forget(Struct, frozen=True):
    """The transaction of this nonce is over."""

    nonce: int


class Dismiss(Struct, frozen=True):
    """The request of this number is needed no longer."""

    number: int


Change = Put | Replace | Assign | Forget | Dismiss

# --------------------------------------------------------------------------------------------------------- watchtowers


class AppointmentRecord(Struct, frozen=True):
    """The appointment that a `client` (its address) has given a watchtower for a channel."""

    channel_id: bytes
    client: bytes
    body: bytes

    def __post_init__(self) -> None:
        require_bytes("channel_id", self.channel_id, 32)
        require_bytes("client", self.client, 20)


class Spent(Struct, frozen=True):
    """What the transaction of a nonce has cost a watchtower, in wei, for a `client` (its address)."""

    nonce: int
    client: bytes
    wei: int

    def __post_init__(self) -> None:
        require_uint("nonce", self.nonce, MAX_COUNT)
        require_bytes("client", self.client, 20)
        require_uint("wei", self.wei, UINT256_MAX)


# -------------------------------------------------------------------------------------------------------------- leases


class ChannelLease(Struct, frozen=True):
    """The name of a channel's lease."""

    channel_id: bytes

    def __post_init__(self) -> None:
        require_bytes("channel_id", self.channel_id, 32)


LeaseName = ChannelLease | Account


class LeaseRefusal(Struct, frozen=True):
    """A lease that another `owner` has `until` a time; it was `now` when we asked."""

    owner: bytes
    until: float
    now: float


class TakenLeases(Struct, frozen=True):
    """The leases that are ours now, and those that are not. A channel whose lease was taken over from another owner has
    a new version since: load it after taking."""

    granted: frozenset[LeaseName]
    refused: Mapping[LeaseName, LeaseRefusal]
