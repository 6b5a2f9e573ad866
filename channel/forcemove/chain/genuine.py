"""Whether contracts are genuine, which every client asks before it signs: the address must follow from the compiled
contract's creation code.

A counterparty may name a look-alike adjudicator or game. Its runtime code proves nothing: other creation code can fill
the storage first, with a credit that nobody has paid for, and then return the very same runtime code. The address
proves the creation code: see `forcemove.chain.create2`.
"""

from __future__ import annotations

from forcemove.artifact import ADJUDICATOR, Artifact
from forcemove.chain.asking import Steps, ask_now
from forcemove.chain.chain import Chain
from forcemove.chain.create2 import CUSTOMARY_FACTORY, derived_address
from forcemove.chain.errors import NoContract, NotConfirmed, NotGenuine
from forcemove.contracts import artifact


def adjudicator_artifact() -> Artifact:
    """This version's compiled adjudicator."""
    return artifact(ADJUDICATOR)


def require_genuine_contract(
    chain: Chain, contract: Artifact, address: bytes, factory: bytes = CUSTOMARY_FACTORY, *, confirmations: int = 1
) -> None:
    """Refuse an address that is not exactly this compiled contract's, or that has no code.

    - `chain`: the chain of the contract.
    - `contract`: the compiled contract that is expected.
    - `address`: 20 bytes, to be checked.
    - `factory`: 20 bytes, the factory that must have deployed the contract.
    - `confirmations`: the code must be at least this many blocks deep.

    The code is asked for, too, since anybody can send ether to an address before a contract is deployed there. Raises
    `NotGenuine`, `NoContract`, `NotConfirmed`.
    """
    ask_now(chain.rpc, _contract_steps(chain, contract, address, factory, confirmations))


def _contract_steps(
    chain: Chain, contract: Artifact, address: bytes, factory: bytes, confirmations: int
) -> Steps[None]:
    expected = derived_address(contract, factory)
    if address != expected:
        raise NotGenuine(contract.name, address, expected)
    if not (yield from chain.code.steps(address)):
        raise NoContract(contract.name, address)
    if confirmations > 1:
        block = (yield from chain.block_number.steps()) - confirmations + 1
        if block < 0 or not (yield from chain.code.steps(address, block=block)):
            raise NotConfirmed(contract.name, address, confirmations)


def genuine_steps(
    chain: Chain,
    adjudicator: bytes,
    app: bytes,
    app_contract: Artifact,
    factory: bytes = CUSTOMARY_FACTORY,
    *,
    confirmations: int = 1,
) -> Steps[None]:
    """Asks what refuses a channel whose adjudicator or app is a look-alike, or whose chain cannot pay. Raises what
    `require_genuine_contract` raises, and `NoTransientStorage`.

    - `chain`: the channel's chain.
    - `adjudicator`: 20 bytes, the address that the channel names.
    - `app`: 20 bytes, the `appDefinition` of the channel.
    - `app_contract`: the compiled contract that the game carries.
    - `factory`: 20 bytes, the factory that must have deployed both.
    - `confirmations`: both must be at least this many blocks deep.
    """
    yield from _contract_steps(chain, adjudicator_artifact(), adjudicator, factory, confirmations)
    yield from _contract_steps(chain, app_contract, app, factory, confirmations)
    yield from chain.require_transient_storage.steps()
