"""Calls and transactions as values. Knows no node."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.chain.errors import EndpointFailed, InsufficientFunds
from forcemove.chain.quirks import Meaning, means
from forcemove.protocol.hashing import keccak256

__all__ = ["Call", "Fees", "SignedTransaction", "contract_address", "without_funds"]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a contract: `to` (20 bytes; None creates a contract), calldata, and the wei sent along."""

    to: bytes | None
    data: bytes
    value: int = 0


@dataclass(frozen=True, slots=True)
class Fees:
    """The highest price of a unit of gas, in wei (EIP-1559). `is_legacy`: the chain has no base fee, and both fields
    are the price."""

    max_fee_per_gas: int
    max_priority_fee_per_gas: int
    is_legacy: bool = False


@dataclass(frozen=True, slots=True)
class SignedTransaction:
    """A transaction ready to be sent, with what is needed to replace it. `hash` is 32 bytes, `raw` the bytes for the
    node."""

    call: Call
    sender: bytes
    nonce: int
    gas: int
    fees: Fees
    hash: bytes
    raw: bytes


def contract_address(sender: bytes, nonce: int) -> bytes:
    """The address of the contract that `sender` (20 bytes) creates with its transaction `nonce`: the low 20 bytes of
    the hash of the RLP list of both."""
    number = nonce.to_bytes((nonce.bit_length() + 7) // 8, "big")
    if len(number) != 1 or number >= b"\x80":
        number = bytes((0x80 + len(number),)) + number
    payload = b"\x94" + sender + number
    return keccak256(bytes((0xC0 + len(payload),)) + payload)[12:]


def without_funds(error: EndpointFailed, account: bytes) -> InsufficientFunds | None:
    """The error of an account (20 bytes) that cannot pay, where a node has meant that by another one; else None."""
    return InsufficientFunds(account, error.reason) if means(Meaning.NO_FUNDS, message=error.reason) else None
