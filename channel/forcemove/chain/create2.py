"""Addresses that prove which code is at them: CREATE2, the factory that sends it, and the salt. Pure.

The address commits to the factory, the salt and the creation code: 20 bytes of a hash over all three. So the code at
the address was made by this creation code, and its storage was written by nothing else; runtime code alone proves
neither. The deployer does not matter, and the factory's own code hardly does: a factory that does something else makes
no contract at that address. The factory is to come from one's own address book all the same. An attacker who may choose
it, too, could look for two creation codes with one address, for the square root of the work (2**80 hashes).
"""

from __future__ import annotations

from forcemove.artifact import Artifact
from forcemove.protocol.hashing import keccak256

SALT = b"forcemove".ljust(32, b"\0")
"""The salt of every deployment. Another moves every address."""

CUSTOMARY_FACTORY = bytes.fromhex("4e59b44847b379578588920cA78FbF26c0B4956C")
"""The deterministic deployment proxy, which most chains have. It creates what follows the 32 bytes of the salt in its
calldata, and reverts without data where that fails."""

FACTORY_RUNTIME_CODE = bytes.fromhex(
    "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe0"
    "3601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3"
)
FACTORY_CREATION_CODE = bytes.fromhex("604580600e600039806000f350fe") + FACTORY_RUNTIME_CODE

PRESIGNED = (
    bytes.fromhex("f8a58085174876e800830186a08080b853")
    + FACTORY_CREATION_CODE
    + bytes.fromhex("1ba0" + "22" * 32 + "a0" + "22" * 32)
)
"""The transaction that brings the customary factory to a chain. Its signature was made up, so that nobody knows the key
of its sender, which can send nothing else. It names no chain: any may take it, and some nodes refuse it."""
PRESIGNED_HASH = keccak256(PRESIGNED)
PRESIGNER = bytes.fromhex("3fab184622dc19b6109349b94811493bf2a45362")
PRESIGNED_GAS, PRESIGNED_PRICE = 100_000, 100 * 10**9
"""Its gas limit, and what it pays for each unit, in wei."""
PRESIGNED_COST = PRESIGNED_GAS * PRESIGNED_PRICE
"""The ether that its sender must have, in wei. What is not used stays there forever."""


def create2_address(factory: bytes, salt: bytes, creation_code_hash: bytes) -> bytes:
    """Where `factory` (20 bytes) creates the code with this Keccak-256 hash (32 bytes) under a salt (32 bytes)."""
    return keccak256(b"\xff" + factory + salt + creation_code_hash)[12:]


def derived_address(contract: Artifact, factory: bytes = CUSTOMARY_FACTORY) -> bytes:
    """The address at which this factory deploys a compiled contract."""
    return create2_address(factory, SALT, contract.creation_code_hash)


def deploying_calldata(creation_code: bytes) -> bytes:
    """The calldata by which the factory deploys a creation code."""
    return SALT + creation_code
