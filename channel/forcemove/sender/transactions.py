"""What a sender is asked for, what is on its way, and what became of it: values, and the journal that keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from msgspec import UNSET, Struct, UnsetType

from forcemove.chain.chain import Call, Fees, RawLog, Receipt, SignedTransaction
from forcemove.errors import ForcemoveError, InvalidValue
from forcemove.protocol.codec.msgpack_codec import Codec
from forcemove.protocol.types import UINT256_MAX, require_bytes, require_uint

__all__ = [
    "PENDING_TXS",
    "Allowance",
    "TxFailed",
    "PendingTx",
    "Confirmed",
    "MemoryTxStore",
    "NonceUsedElsewhere",
    "TxOutcome",
    "TxStore",
    "TX_REQUESTS",
    "Reorged",
    "Version",
    "TxRequest",
]


class Allowance(Struct, frozen=True):
    """So much of a token (its address, 20 bytes; in its smallest unit) must `spender` be allowed to take from us."""

    token: bytes
    spender: bytes
    amount: int


class TxRequest(Struct, frozen=True, rename={"request_id": "purpose", "max_cost": "most"}):
    """A transaction that somebody asks for. `request_id`: the asker's own bytes, which tell it from all others and come
    back with what became of it. `to` (20 bytes), `data`, `value` (wei): the call.

    `deadline`: the block time (seconds) by which it must be mined, None where it may wait. `max_cost`: what its gas may
    cost at most, in wei. `allowance`: what must be allowed before; the sender sees to it. `gas`: what it needs by our
    own table, which no endpoint can talk us out of; what an older program has written does not say it.
    """

    request_id: bytes
    to: bytes
    data: bytes
    value: int
    max_cost: int
    deadline: int | None = None
    allowance: Allowance | None = None
    gas: int | UnsetType = UNSET

    def __post_init__(self) -> None:
        require_bytes("to", self.to, 20)
        require_uint("value", self.value, UINT256_MAX)
        require_uint("most", self.max_cost, UINT256_MAX)

    @property
    def row(self) -> int | None:
        """`gas`, None where it is not said."""
        return None if isinstance(self.gas, UnsetType) else self.gas

    @property
    def pays_in(self) -> bool:
        """Whether it costs more than gas: such a transaction has one nonce, on which the endpoints agree."""
        return self.value > 0 or self.allowance is not None

    @property
    def call(self) -> Call:
        """What the chain is asked."""
        return Call(self.to, self.data, self.value)


TX_REQUESTS: Codec[TxRequest] = Codec("wanted transaction", TxRequest)
"""Encodes and decodes them, for a journal."""


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


class PendingTx(Struct, frozen=True, rename={"request": "wanted"}):
    """A transaction on its way: it has a nonce, a limit of gas, and at least one version, in the order of their fees;
    any of them may be the one that is mined. `begun_at`: the block time (seconds) when the first one was signed."""

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
        """As the chain takes it; `sender`: the account, 20 bytes. `version`: the newest unless given."""
        chosen = version or self.newest
        return SignedTransaction(self.request.call, sender, self.nonce, self.gas, chosen.fees, chosen.hash, chosen.raw)


PENDING_TXS: Codec[PendingTx] = Codec("transaction", PendingTx)
"""Encodes and decodes transactions on their way, for a journal."""


class TxStore(Protocol):
    """The journal of one account on one chain: what is on its way, by nonce. What it has taken survives the process."""

    def put(self, nonce: int, body: bytes) -> None:
        """Keep the transaction of this nonce, instead of what was kept of it before."""

    def forget(self, nonce: int) -> None:
        """Keep nothing of it any more."""

    def all(self) -> Sequence[tuple[int, bytes]]:
        """Everything that is kept, in the order of nonces."""


class MemoryTxStore:
    """The port in memory, for what ends with its process."""

    def __init__(self) -> None:
        self._store: dict[int, bytes] = {}

    def put(self, nonce: int, body: bytes) -> None:
        """As in `TxStore`."""
        self._store[nonce] = body

    def forget(self, nonce: int) -> None:
        """As in `TxStore`."""
        self._store.pop(nonce, None)

    def all(self) -> Sequence[tuple[int, bytes]]:
        """As in `TxStore`."""
        return sorted(self._store.items())


@dataclass(frozen=True, slots=True)
class Confirmed:
    """It is mined, and has succeeded."""

    request_id: bytes
    receipt: Receipt[RawLog]


@dataclass(frozen=True, slots=True)
class TxFailed:
    """It will not happen unless it is asked for again: the chain refuses it, or it was mined and has failed, which has
    cost `cost` wei."""

    request_id: bytes
    error: ForcemoveError
    cost: int = 0


@dataclass(frozen=True, slots=True)
class NonceUsedElsewhere:
    """Its nonce was used by another program with the same key; it was sent again with the next one."""

    request_id: bytes
    nonce: int


@dataclass(frozen=True, slots=True)
class Reorged:
    """It had landed, and a reorganisation has taken it away; the node does not know it any more. It is not sent again
    unless it is asked for again."""

    request_id: bytes


TxOutcome = Confirmed | TxFailed | NonceUsedElsewhere | Reorged
"""What became of a transaction."""
