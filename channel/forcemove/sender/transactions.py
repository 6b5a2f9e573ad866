"""Requests to a sender, transactions on their way, and their outcomes: values, and the port to a journal."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from msgspec import Struct

from forcemove.chain.chain import Call, Fees, RawLog, Receipt, SignedTransaction
from forcemove.errors import ForcemoveError, InvalidValue
from forcemove.protocol.machine.effects import Submission, operation_name
from forcemove.protocol.types import UINT256_MAX, require_bytes, require_uint


@dataclass(frozen=True, slots=True)
class ChannelTx:
    """What a channel (its id, 32 bytes) asks of the chain."""

    channel_id: bytes
    submission: Submission


@dataclass(frozen=True, slots=True)
class ClientTx:
    """What a watchtower asks of the chain for a client (20 bytes) in a channel (its id, 32 bytes)."""

    client: bytes
    channel_id: bytes
    submission: Submission


@dataclass(frozen=True, slots=True)
class Approval:
    """The allowance that another transaction needs; the sender asks for it by itself."""

    needed_by: RequestId


@dataclass(frozen=True, slots=True)
class BatchTx:
    """Several requests in one transaction, which the sender puts together by itself. `hash`: of the calldata, 32
    bytes."""

    hash: bytes


@dataclass(frozen=True, slots=True)
class GapFiller:
    """An empty transaction with a nonce for which no node has one any more; the sender asks for it by itself."""

    nonce: int


RequestId = ChannelTx | ClientTx | Approval | BatchTx | GapFiller | bytes
"""What a transaction is for: it names the request, and comes back with its outcome. Bytes are the id of a request by
another program that this one cannot read."""


def channel_of(request_id: RequestId) -> bytes | None:
    """The id of the channel that a request is for (32 bytes); None where it is for none that is known here."""
    match request_id:
        case ChannelTx(channel_id) | ClientTx(_, channel_id):
            return channel_id
        case Approval(needed_by):
            return channel_of(needed_by)
        case _:
            return None


class Allowance(Struct, frozen=True):
    """The `amount` of a token (its address, 20 bytes; in its smallest unit) that `spender` must be allowed to take from
    us."""

    token: bytes
    spender: bytes
    amount: int


@dataclass(frozen=True, slots=True)
class TxRequest:
    """A transaction that somebody asks for.

    - `request_id`: what it is for.
    - `to` (20 bytes), `data`, `value` (wei): the call.
    - `max_cost`: what its gas may cost at most, in wei.
    - `deadline`: the block time (seconds) by which it must be mined, None where it may wait.
    - `allowance`: what must be allowed before; the sender asks for it by itself.
    - `gas`: what it needs by our own table, which no endpoint's estimate changes much; None where the request does not
      say, as one by an older program.
    - `parts`: of a batch, the requests that it does, in the order of its items; each says its `gas`.
    """

    request_id: RequestId
    to: bytes
    data: bytes
    value: int
    max_cost: int
    deadline: int | None = None
    allowance: Allowance | None = None
    gas: int | None = None
    parts: tuple[TxRequest, ...] = ()

    def __post_init__(self) -> None:
        require_bytes("to", self.to, 20)
        require_uint("value", self.value, UINT256_MAX)
        require_uint("max_cost", self.max_cost, UINT256_MAX)

    @property
    def pays_in(self) -> bool:
        """Whether the transaction costs more than gas: such a one has one nonce, on which all endpoints agree."""
        return self.value > 0 or self.allowance is not None

    @property
    def asked(self) -> tuple[TxRequest, ...]:
        """What owners have asked for: the parts of a batch, else the request itself."""
        return self.parts or (self,)

    def limited(self, caps: Mapping[RequestId, int]) -> TxRequest:
        """The same, where the gas of these requests may cost so much, in wei."""
        parts = tuple(each.limited(caps) for each in self.parts)
        max_cost = sum(each.max_cost for each in parts) if parts else caps.get(self.request_id, self.max_cost)
        return replace(self, max_cost=min(max_cost, UINT256_MAX), parts=parts)

    def hurried(self, other: TxRequest) -> TxRequest:
        """The same, by the deadline of another request, and with its cap where that is more, where the other is this
        request, or is a part of it: what is asked for again may have become an answer."""
        if self.request_id == other.request_id:
            return replace(self, max_cost=max(self.max_cost, other.max_cost), deadline=other.deadline or self.deadline)
        parts = tuple(each.hurried(other) for each in self.parts)
        if parts == self.parts:
            return self
        deadlines = [each.deadline for each in parts if each.deadline is not None]
        max_cost = min(sum(each.max_cost for each in parts), UINT256_MAX)
        return replace(self, max_cost=max_cost, deadline=min(deadlines, default=None), parts=parts)

    @property
    def words(self) -> str:
        """What the transaction is for, in a few words."""
        match self.request_id:
            case BatchTx():
                return f"{len(self.parts)} operations in one transaction"
            case _ if self.deadline is not None:
                return "the answer to a challenge"
            case ChannelTx(_, submission) | ClientTx(_, _, submission):
                return operation_name(submission)
            case _:
                return "a transaction"

    @property
    def call(self) -> Call:
        """The call that the transaction makes."""
        return Call(self.to, self.data, self.value)


class Version(Struct, frozen=True):
    """One signing of a transaction: `hash` (32 bytes), `raw` as it goes to the node, the fees (wei for a unit of gas),
    and when it was signed (seconds since 1970)."""

    hash: bytes
    raw: bytes
    max_fee: int
    tip: int
    is_legacy: bool
    signed_at: int

    @property
    def fees(self) -> Fees:
        """What a unit of gas may cost."""
        return Fees(self.max_fee, self.tip, self.is_legacy)


@dataclass(frozen=True, slots=True)
class PendingTx:
    """A transaction on its way: it has a nonce, a limit of gas, and at least one version, in the order of their fees;
    any of them may be the one that is mined. `begun_at`: the block time (seconds) when the first version was
    signed."""

    request: TxRequest
    nonce: int
    gas: int
    begun_at: int
    versions: tuple[Version, ...]

    def __post_init__(self) -> None:
        if not self.versions:
            raise InvalidValue("versions", self.versions, "at least one")

    @property
    def newest(self) -> Version:
        """The version with the highest fees."""
        return self.versions[-1]

    def signed(self, sender: bytes, version: Version | None = None) -> SignedTransaction:
        """A version as the chain takes it, the newest unless given. `sender`: the account, 20 bytes."""
        chosen = version or self.newest
        return SignedTransaction(self.request.call, sender, self.nonce, self.gas, chosen.fees, chosen.hash, chosen.raw)


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The transaction is mined, and has succeeded."""

    request_id: RequestId
    receipt: Receipt[RawLog]


@dataclass(frozen=True, slots=True)
class TxFailed:
    """The transaction does not happen unless it is asked for again: the chain refuses it, or it was mined and has
    failed, which has cost `cost` wei."""

    request_id: RequestId
    error: ForcemoveError
    cost: int = 0


@dataclass(frozen=True, slots=True)
class NonceUsedElsewhere:
    """The transaction's nonce was used by another program with the same key; it is sent again with another nonce."""

    request_id: RequestId
    nonce: int


@dataclass(frozen=True, slots=True)
class Reorged:
    """The transaction was mined, and a reorganisation has removed it; no node knows it any more. It is not sent again
    unless it is asked for again."""

    request_id: RequestId


TxOutcome = Confirmed | TxFailed | NonceUsedElsewhere | Reorged
"""What became of a transaction."""


class TxStore(Protocol):
    """The journal of one account on one chain: its transactions on their way, by nonce. They survive the process."""

    def update(self, changed: Collection[PendingTx], forgotten: Collection[int]) -> None:
        """Keep no transactions with the forgotten nonces any more, then those that have changed, each instead of any
        other with its nonce: all in one commit."""

    def all(self) -> Sequence[PendingTx]:
        """All transactions that are kept, in the order of nonces."""
