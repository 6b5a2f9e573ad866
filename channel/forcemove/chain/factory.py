"""Brings a factory to a chain that has none: the customary one, else one of our own. And finds out in which block a
contract was deployed.

The customary factory comes with a presigned transaction, whose sender is sent the ether for it first. That transaction
names no chain, and a node may refuse it for that reason; then our account creates the same code at an address
that only the address book knows. It serves as well: see `forcemove.chain.create2`.
"""

from __future__ import annotations

from typing import Protocol

from forcemove.chain.chain import Call, Chain, Fees, RawLog, Receipt, SignedTransaction
from forcemove.chain.create2 import (
    FACTORY_CREATION_CODE,
    FACTORY_RUNTIME_CODE,
    PRESIGNED,
    PRESIGNED_COST,
    PRESIGNED_GAS,
    PRESIGNED_HASH,
    PRESIGNED_PRICE,
    PRESIGNER,
)
from forcemove.chain.errors import EndpointFailed, InsufficientFunds, TransactionRefused, TransactionReverted

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
