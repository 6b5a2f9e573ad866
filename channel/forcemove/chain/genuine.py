"""Is it ours? Every client asks before it signs: does the address follow from the compiled contract's creation code?

A counterparty may name a look-alike adjudicator or game. Its runtime code proves nothing: other creation code can fill
the storage first, with a credit that nobody has paid for, and then return the very same runtime code. The address does:
see `forcemove.chain.create2`.
"""

from __future__ import annotations

from forcemove.artifact import ADJUDICATOR, Artifact
from forcemove.chain.chain import Chain
from forcemove.chain.create2 import CUSTOMARY_FACTORY, SALT, create2_address
from forcemove.chain.errors import NoContract, NotConfirmed, NotGenuine
from forcemove.contracts import artifact

__all__ = ["adjudicator_artifact", "are_genuine", "derived_address", "require_genuine", "require_genuine_contract"]


def adjudicator_artifact() -> Artifact:
    """The adjudicator as this version has it."""
    return artifact(ADJUDICATOR)


def derived_address(contract: Artifact, factory: bytes = CUSTOMARY_FACTORY) -> bytes:
    """Where a compiled contract is that this factory has deployed."""
    return create2_address(factory, SALT, contract.creation_code_hash)


def require_genuine_contract(
    chain: Chain, contract: Artifact, address: bytes, factory: bytes = CUSTOMARY_FACTORY, *, confirmations: int = 1
) -> None:
    """Refuse whatever is not exactly this compiled contract, at least `confirmations` blocks deep.

    That code is there is looked at, too: anybody can send ether to an address before anything is deployed there.
    Raises `NotGenuine`, `NoContract`, `NotConfirmed`.
    """
    expected = derived_address(contract, factory)
    if address != expected:
        raise NotGenuine(contract.name, address, expected)
    if not chain.code(address):
        raise NoContract(contract.name, address)
    if confirmations > 1 and not _stood(chain, address, chain.block_number() - confirmations + 1):
        raise NotConfirmed(contract.name, address, confirmations)


def _stood(chain: Chain, address: bytes, block: int) -> bool:
    return block >= 0 and bool(chain.code(address, block=block))


def require_genuine(
    chain: Chain,
    adjudicator: bytes,
    app: bytes,
    app_contract: Artifact,
    factory: bytes = CUSTOMARY_FACTORY,
    *,
    confirmations: int = 1,
) -> None:
    """Refuse a channel whose adjudicator, or whose app (the artifact that its game carries), is a look-alike.

    Raises what `require_genuine_contract` raises.
    """
    require_genuine_contract(chain, adjudicator_artifact(), adjudicator, factory, confirmations=confirmations)
    require_genuine_contract(chain, app_contract, app, factory, confirmations=confirmations)


def are_genuine(
    chain: Chain,
    adjudicator: bytes,
    app: bytes,
    app_contract: Artifact,
    factory: bytes = CUSTOMARY_FACTORY,
    *,
    confirmations: int = 1,
) -> bool:
    """Whether a channel's contracts are known to be genuine: not yet where one is less deep than that.

    Raises `NotGenuine`, `NoContract`, `ChainError`.
    """
    try:
        require_genuine(chain, adjudicator, app, app_contract, factory, confirmations=confirmations)
    except NotConfirmed:
        return False
    return True
