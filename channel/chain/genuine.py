"""Is it ours? Runtime code on a chain against the compiled contracts: what every client asks before it signs.

A counterparty may name a look-alike adjudicator or game, whose code differs in the one place that matters.
"""

from __future__ import annotations

from itertools import product

from channel.chain.chain import Chain
from channel.chain.errors import NoContract, NotGenuine
from channel.protocol.encoding import Domain, word
from channel.protocol.hashing import keccak256
from contracts import Artifact, artifact

__all__ = ["expected_code_hashes", "require_genuine", "require_genuine_contract"]

ADJUDICATOR = "Adjudicator"


def expected_code_hashes(contract: str, chain_id: int, address: bytes) -> frozenset[bytes]:
    """The Keccak-256 hashes (32 bytes) that the runtime code of a compiled contract can have at this place.

    One, but for the adjudicator: its immutables are the chain id and the EIP-712 domain separator, and artifacts do not
    say which stands where. With the two exchanged it finds itself on another chain than remembered, computes its domain
    anew, and does the same.
    """
    compiled = artifact(contract)
    values = _immutables(compiled, chain_id, address)
    fillings = product(values, repeat=len(compiled.immutable_references))
    return frozenset(keccak256(_filled(compiled, filling)) for filling in fillings if set(filling) == set(values))


def _immutables(compiled: Artifact, chain_id: int, address: bytes) -> tuple[bytes, ...]:
    return (word(chain_id), Domain(chain_id, address).separator) if compiled.name == ADJUDICATOR else ()


def _filled(compiled: Artifact, values: tuple[bytes, ...]) -> bytes:
    code = bytearray(compiled.runtime_bytecode)
    for (start, length), value in zip(compiled.immutable_references, values, strict=True):
        code[start : start + length] = value
    return bytes(code)


def require_genuine_contract(chain: Chain, contract: str, address: bytes) -> bytes:
    """Refuse whatever is not exactly the compiled contract of this name. Returns its runtime code hash, 32 bytes.

    Raises `NoContract`, `NotGenuine`, and `UnknownArtifact` for a name that is none.
    """
    expected = expected_code_hashes(contract, chain.chain_id, address)
    code = chain.code(address)
    if not code:
        raise NoContract(contract, address)
    found = keccak256(code)
    if found not in expected:
        raise NotGenuine(contract, address, found)
    return found


def require_genuine(chain: Chain, adjudicator: bytes, app: bytes, app_contract: str) -> None:
    """Refuse a channel whose adjudicator, or whose app (the artifact's name, such as `TicTacToe`), is a look-alike.

    Raises `NoContract`, `NotGenuine`, `UnknownArtifact`.
    """
    require_genuine_contract(chain, ADJUDICATOR, adjudicator)
    require_genuine_contract(chain, app_contract, app)
