"""Calls and transactions as values, and the bytes of those that are signed. Knows no node."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.chain import rlp
from forcemove.chain.errors import EndpointFailed, InsufficientFunds
from forcemove.chain.quirks import Meaning, means
from forcemove.errors import InvalidValue, MalformedBytes
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.rule_errors import SignatureUnrecoverable
from forcemove.protocol.signing import HALF_ORDER, Key, recover
from forcemove.protocol.types import Signature

_DYNAMIC_FEE = b"\x02"
"""The type of a transaction with a tip (EIP-1559)."""
_FIELDS = 12
_LEGACY_V = 35
"""EIP-155: of a transaction with one price, the parity stands behind this and twice the chain's id."""


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
    return keccak256(rlp.encode([sender, nonce]))[12:]


def sign_transaction(chain_id: int, call: Call, key: Key, nonce: int, gas: int, fees: Fees) -> SignedTransaction:
    """Sign a transaction with every field given: of type 2 (EIP-1559), or with one price (EIP-155) where the chain has
    no base fee.

    - `chain_id`: of the chain that takes it.
    - `call`: what it does.
    - `key`: of the sender.
    - `nonce`: of the sender's account.
    - `gas`: limit, in units of gas.
    - `fees`: wei for a unit of gas.
    """
    to, price = call.to or b"", fees.max_fee_per_gas
    if fees.is_legacy:
        fields: tuple[rlp.RlpItem, ...] = (nonce, price, gas, to, call.value, call.data)
        parity, r, s = _signature(key, rlp.encode((*fields, chain_id, 0, 0)))
        raw = rlp.encode((*fields, _LEGACY_V + 2 * chain_id + parity, r, s))
    else:
        fields = (chain_id, nonce, fees.max_priority_fee_per_gas, price, gas, to, call.value, call.data, ())
        signature = _signature(key, _DYNAMIC_FEE + rlp.encode(fields))
        raw = _DYNAMIC_FEE + rlp.encode((*fields, *signature))
    return SignedTransaction(call, key.address, nonce, gas, fees, keccak256(raw), raw)


def _signature(key: Key, message: bytes) -> tuple[int, int, int]:
    """The parity, r and s."""
    compact = key.sign(keccak256(message)).compact
    return compact[32] >> 7, int.from_bytes(compact[:32]), int.from_bytes(compact[32:]) & (2**255 - 1)


def read_signed(raw: bytes, chain_id: int) -> SignedTransaction:
    """A transaction of type 2 from its bytes, as a chain in this process is sent it. Raises `MalformedBytes` where it
    is not one for the chain with this id."""
    fields = rlp.decode(raw[1:]) if raw[:1] == _DYNAMIC_FEE else ()
    if not isinstance(fields, list) or len(fields) != _FIELDS or fields[8] != []:
        raise MalformedBytes("transaction", "it is not one of type 2 without an access list")
    to, data = fields[5], fields[7]
    found, nonce, tip, price, gas, value, *signature = map(_number, (*fields[:5], fields[6], *fields[9:]))
    if found != chain_id:
        raise MalformedBytes("transaction", f"it is for chain {found}")
    if not (isinstance(to, bytes) and len(to) in (0, 20) and isinstance(data, bytes)):
        raise MalformedBytes("transaction", "it goes to no address")
    sender = _sender(keccak256(_DYNAMIC_FEE + rlp.encode(fields[:9])), *signature)
    call, fees = Call(to or None, data, value), Fees(price, tip)
    return SignedTransaction(call, sender, nonce, gas, fees, keccak256(raw), raw)


def _number(item: rlp.RlpItem) -> int:
    if not isinstance(item, bytes) or item[:1] == b"\0" or len(item) > 32:
        raise MalformedBytes("transaction", "a number in it is not one")
    return int.from_bytes(item)


def _sender(digest: bytes, parity: int, r: int, s: int) -> bytes:
    if parity > 1 or s > HALF_ORDER:
        raise MalformedBytes("transaction", "its signature is not canonical")
    try:
        return recover(digest, Signature(r.to_bytes(32) + (parity << 255 | s).to_bytes(32)))
    except (InvalidValue, SignatureUnrecoverable):
        raise MalformedBytes("transaction", "nobody can have signed it") from None


def without_funds(error: EndpointFailed, account: bytes) -> InsufficientFunds | None:
    """The error of an account (20 bytes) that cannot pay, where a node has meant that by another one; else None."""
    return InsufficientFunds(account, error.reason) if means(Meaning.NO_FUNDS, message=error.reason) else None
