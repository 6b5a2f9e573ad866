"""A node's answers as values: blocks, logs, receipts. This module asks nothing, and does not know whether a value is
true.

Readers raise whatever Python raises on malformed answers: they are used within `making_sense`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Generic, TypeVar

from forcemove.chain.rpc import POSITION_BITS, as_bytes, as_hash, as_number

PRICE_BITS = 128
"""Bits of the price of a unit of gas, in wei: more than all the ether there is."""
Topic = bytes | frozenset[bytes] | None
"""What a topic of a log must be: 32 bytes, or one of several, or anything."""
LogT = TypeVar("LogT")
OtherT = TypeVar("OtherT")


@dataclass(frozen=True, slots=True)
class BlockHeader:
    """The header of a mined block: its number, its hash and that of the block before it (32 bytes each), its time
    (seconds), and the base fee of a unit of gas in wei, None on a chain without one."""

    number: int
    hash: bytes
    parent: bytes
    time: int
    base_fee: int | None


@dataclass(frozen=True, slots=True)
class LogPlace:
    """The place of a log on the chain: every log has another place, and a reorganisation changes it."""

    block_number: int
    block_hash: bytes
    transaction_hash: bytes
    log_index: int

    @property
    def order(self) -> tuple[int, int]:
        """A key for sorting: of two logs of one chain, the later one has the greater."""
        return self.block_number, self.log_index


@dataclass(frozen=True, slots=True)
class RawLog:
    """A log as the chain keeps it."""

    address: bytes
    topics: tuple[bytes, ...]
    data: bytes
    place: LogPlace


@dataclass(frozen=True, slots=True)
class Receipt(Generic[LogT]):
    """A transaction that was mined and succeeded. `gas_price` is what a unit of gas cost in the end, in wei."""

    transaction_hash: bytes
    block_number: int
    block_hash: bytes
    gas_used: int
    gas_price: int
    contract_address: bytes | None
    logs: tuple[LogT, ...]

    def with_logs(self, logs: Iterable[OtherT]) -> Receipt[OtherT]:
        """The same receipt with other logs: decoded ones."""
        return Receipt(
            self.transaction_hash,
            self.block_number,
            self.block_hash,
            self.gas_used,
            self.gas_price,
            self.contract_address,
            tuple(logs),
        )


def read_header(answer: Mapping[str, Any], number: int | None) -> BlockHeader:
    """A mined block's header. `number`: None where it may be any block's."""
    if number not in (None, as_number(answer["number"], POSITION_BITS)):
        raise ValueError(f"another block instead of {number}")
    return BlockHeader(
        as_number(answer["number"], POSITION_BITS),
        as_hash(answer["hash"]),
        as_hash(answer["parentHash"]),
        as_number(answer["timestamp"], POSITION_BITS),
        read_base_fee(answer),
    )


def read_base_fee(answer: Mapping[str, Any]) -> int | None:
    """A block's base fee, wei; None on a chain without one."""
    base = answer.get("baseFeePerGas")
    return None if base is None else as_number(base, PRICE_BITS)


def read_receipt(answer: Mapping[str, Any], transaction_hash: bytes) -> tuple[Receipt[RawLog], bool]:
    """The receipt of this transaction (32 bytes), and whether it failed."""
    created = answer.get("contractAddress")
    if as_hash(answer["transactionHash"]) != transaction_hash:
        raise ValueError("the receipt of another transaction")
    receipt = Receipt(
        transaction_hash=transaction_hash,
        block_number=as_number(answer["blockNumber"], POSITION_BITS),
        block_hash=as_hash(answer["blockHash"]),
        gas_used=as_number(answer["gasUsed"], bits=64),
        gas_price=as_number(answer.get("effectiveGasPrice", 0), PRICE_BITS),
        contract_address=as_bytes(created, 20) if created else None,
        logs=tuple(map(_raw_log, _sequence(answer["logs"]))),
    )
    return receipt, as_number(answer["status"], bits=1) == 0


def read_simulated(answer: object) -> tuple[int, bytes | None]:
    """The gas that the one call of `eth_simulateV1` has used; and where it failed, the data that it reverted with.
    Raises `ValueError` and its like where the answer has another form."""
    (block,) = _sequence(answer)
    (call,) = _sequence(block["calls"])
    if as_number(call["status"], bits=1):
        return as_number(call["gasUsed"], bits=64), None
    return 0, as_bytes(call["error"].get("data") or call["returnData"])


def read_logs(answer: object, address: bytes, topics: Sequence[Topic], first: int, last: int) -> list[RawLog]:
    """Check a node's answer to a question for logs; the logs, in their order. Raises `ValueError` where the answer has
    a log that was not asked for.

    - `answer`: what the node has answered, as decoded from JSON.
    - `address`: 20 bytes, of the contract whose logs were asked for.
    - `topics`: that the logs must have, in their order: each is one topic or one of several; None allows any.
    - `first`: the number of the first block that was asked for.
    - `last`: the number of the last block that was asked for.
    """
    found = list(map(_raw_log, _sequence(answer)))
    if not all(_is_asked_for(each, address, topics, first, last) for each in found):
        raise ValueError("a log that nobody asked for")
    if any(one.place.order >= following.place.order for one, following in pairwise(found)):
        raise ValueError("its logs are in no order")
    return found


def _raw_log(answer: Mapping[str, Any]) -> RawLog:
    if answer.get("removed") not in (None, False):
        raise ValueError("a log that a reorganisation has removed")
    place = LogPlace(
        as_number(answer["blockNumber"], POSITION_BITS),
        as_hash(answer["blockHash"]),
        as_hash(answer["transactionHash"]),
        as_number(answer["logIndex"], POSITION_BITS),
    )
    topics = tuple(map(as_hash, _sequence(answer["topics"])))
    return RawLog(as_bytes(answer["address"], 20), topics, as_bytes(answer["data"]), place)


def _sequence(answer: object) -> Sequence[Any]:
    if not isinstance(answer, list | tuple):
        raise TypeError("not a list")
    return answer


def _is_asked_for(log: RawLog, address: bytes, topics: Sequence[Topic], first: int, last: int) -> bool:
    return log.address == address and has_topics(log.topics, topics) and first <= log.place.block_number <= last


def has_topics(topics: Sequence[bytes], asked: Sequence[Topic]) -> bool:
    """Whether a log with these topics is among those that are asked for."""
    return len(topics) >= len(asked) and all(
        each is None or topic == each or (not isinstance(each, bytes) and topic in each)
        for each, topic in zip(asked, topics, strict=False)
    )
