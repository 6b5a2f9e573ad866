"""Whether contracts are genuine, which every client asks before it signs: the address must follow from the compiled
contract's creation code.

A counterparty may name a look-alike adjudicator or game. Its runtime code proves nothing: other creation code can fill
the storage first, with a credit that nobody has paid for, and then return the very same runtime code. The address
proves the creation code: see `forcemove.chain.create2`.
"""

from __future__ import annotations

from forcemove.artifact import ADJUDICATOR, Artifact
from forcemove.chain.chain import Chain
from forcemove.chain.create2 import CUSTOMARY_FACTORY, SALT, create2_address
from forcemove.chain.errors import NoContract, NotConfirmed, NotGenuine
from forcemove.contracts import artifact

__all__ = ["adjudicator_artifact", "derived_address", "require_genuine", "require_genuine_contract"]


def adjudicator_artifact() -> Artifact:
    """This version's compiled adjudicator."""
    return artifact(ADJUDICATOR)


def derived_address(contract: Artifact, factory: bytes = CUSTOMARY_FACTORY) -> bytes:
    """The address at which this factory deploys a compiled contract."""
    return create2_address(factory, SALT, contract.creation_code_hash)


def require_genuine_contract(
    chain: Chain, contract: Artifact, address: bytes, factory: bytes = CUSTOMARY_FACTORY, *, confirmations: int = 1
) -> None:
    """Refuse an address that is not exactly this compiled contract's, or that has no code.

    - `chain`: the chain of the contract.
    - `contract`: the compiled contract that is expected.
    - `address`: 20 bytes, to be checked.
    - `factory`: 20 bytes, the factory that must have deployed the contract.
    - `confirmations`: the code must be at least so many blocks deep.

    The code is asked for, too, since anybody can send ether to an address before a contract is deployed there. Raises
    `NotGenuine`, `NoContract`, `NotConfirmed`.
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
    """Refuse a channel whose adjudicator or app is a look-alike, or whose chain cannot pay. Raises what
    `require_genuine_contract` raises, and `NoTransientStorage`.

    - `chain`: the channel's chain.
    - `adjudicator`: 20 bytes, the address that the channel names.
    - `app`: 20 bytes, the `appDefinition` of the channel.
    - `app_contract`: the compiled contract that the game carries.
    - `factory`: 20 bytes, the factory that must have deployed both.
    - `confirmations`: both must be at least so many blocks deep.
    """
    require_genuine_contract(chain, adjudicator_artifact(), adjudicator, factory, confirmations=confirmations)
    require_genuine_contract(chain, app_contract, app, factory, confirmations=confirmations)
    chain.require_transient_storage()
