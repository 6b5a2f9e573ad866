"""The factory of contracts: CREATE2, addresses that prove which code is at them, and how a factory comes to a chain.

The address commits to the factory, the salt and the creation code: 20 bytes of a hash over all three. So the code at
the address was made by this creation code, and its storage was written by nothing else; runtime code alone proves
neither. The deployer does not matter, and the factory's own code hardly does: a factory that does something else makes
no contract at that address. The factory is to come from one's own address book all the same. An attacker who may choose
it, too, could look for two creation codes with one address, for the square root of the work (2**80 hashes).

The customary factory comes with a presigned transaction, whose sender is sent the ether for it first. That transaction
names no chain, and a node may refuse it for that reason; then our account creates the same code at an address that only
the address book knows. It serves as well.
"""

from __future__ import annotations

from typing import Protocol

from forcemove.artifact import Artifact
from forcemove.chain.chain import Call, Chain, Fees, RawLog, Receipt, SignedTransaction
from forcemove.chain.errors import EndpointFailed, InsufficientFunds, TransactionRefused, TransactionReverted
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


# ----------------------------------------------------------------------------------------------------------- on a chain

FACTORY = "CREATE2 factory"
FUNDS = "funds for the CREATE2 factory"
_TRANSACTION = SignedTransaction(
    Call(None, FACTORY_CREATION_CODE),
    PRESIGNER,
    0,
    PRESIGNED_GAS,
    Fees(PRESIGNED_PRICE, PRESIGNED_PRICE),
    PRESIGNED_HASH,
    PRESIGNED,
)


class FactoryFunder(Protocol):
    """Pays for the factory, and writes down each transaction before it is sent."""

    def fund(self, call: Call) -> None:
        """Send the call that funds the presigned transaction, unless it was sent already; and wait for it."""

    def wait(self, signed: SignedTransaction) -> Receipt[RawLog]:
        """Wait for a transaction that has been sent."""


def factory_stands(chain: Chain, factory: bytes) -> bool:
    """Whether the factory's code is at this address."""
    return chain.code(factory) == FACTORY_RUNTIME_CODE


def bring_customary_factory(chain: Chain, sender: FactoryFunder) -> Receipt[RawLog] | None:
    """Bring the customary factory with the presigned transaction; its receipt. None where the chain or the node does
    not take that transaction, or somebody else has sent it first: `factory_stands` says whether the factory is there.
    Nothing is paid before the node has said that only funds are missing.

    Raises what sending raises, `InsufficientFunds` and `NotMined` among it.
    """
    if chain.fees().max_fee_per_gas > PRESIGNED_PRICE:
        return None  # the transaction could wait forever: its price is fixed
    try:
        _broadcast(chain, sender)
        return sender.wait(_TRANSACTION)
    except (TransactionRefused, TransactionReverted):
        return None


def _broadcast(chain: Chain, sender: FactoryFunder) -> None:
    try:
        chain.broadcast(_TRANSACTION)
    except InsufficientFunds:
        missing = PRESIGNED_COST - chain.balance(PRESIGNER)
        if missing > 0:
            sender.fund(Call(PRESIGNER, b"", missing))
        chain.broadcast(_TRANSACTION)


# ---------------------------------------------------------------------------------------------- since when it is there


def deployment_block(chain: Chain, address: bytes, factory: bytes, *, empty_at: int = -1) -> tuple[int, bool]:
    """The block in which a contract that is there now was deployed, and whether that is certain.

    `empty_at`: a block at which it was not there yet, if one is known. The block is found by bisection. Nodes that keep
    no old states cannot tell; the block is then an earlier one, from which on logs are found as well, only more slowly.
    """
    low, high, is_certain = empty_at, chain.block_number(), True
    while high - low > 1:
        middle = (low + high) // 2
        found = stood(chain, address, middle)
        if found:
            high = middle
        else:
            low, is_certain = middle, found is not None
    # Some nodes answer with nothing where they have forgotten a state: then they have forgotten the factory as well.
    if low != empty_at and is_certain:
        is_certain = bool(stood(chain, factory, low))
    return (high, True) if is_certain else (empty_at + 1, False)


def stood(chain: Chain, address: bytes, block: int) -> bool | None:
    """Whether there was code after this block; None where the node cannot tell."""
    try:
        return bool(chain.code(address, block=block))
    except EndpointFailed:
        return None
