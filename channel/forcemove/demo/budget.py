"""What a demonstration costs, deposits and gas at the present fee, compared with the players' balances before any
transaction is sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from forcemove.artifact import Artifact
from forcemove.chain.addresses import show_address
from forcemove.chain.chain import Chain
from forcemove.chain.create2 import PRESIGNED_COST, PRESIGNED_PRICE, derived_address
from forcemove.chain.deployment import contracts_to_deploy
from forcemove.chain.factory import FACTORY_GAS, factory_stands
from forcemove.contracts import artifact
from forcemove.demo.errors import NotEnough
from forcemove.demo.names import NAMES
from forcemove.game import PlayableApp
from forcemove.protocol.agreement import DEPOSIT_IN_STAKES
from forcemove.protocol.signing import Key
from forcemove.text.amounts import format_amount

__all__ = ["Seats", "TRANSFER_GAS", "gas_for_scenarios", "require_funds", "scenarios_of"]

TRANSFER_GAS = 75_000
"""Gas to pay for in advance to send ether: the limit has headroom."""
Seats = Sequence[int]
"""The number of players of each scenario."""
_SCENARIO_GAS = 1_200_000
"""Gas that one player gets ether for: what any scenario uses, and the limit of its last transaction."""
_TOKEN_CALL_GAS = 120_000


def gas_for_scenarios(scenarios: int) -> int:
    """The gas that one player keeps ether for, for this many scenarios."""
    return _SCENARIO_GAS * scenarios


def scenarios_of(seat: int, seats: Seats) -> int:
    """The number of scenarios that have this seat."""
    return sum(seat < count for count in seats)


def require_funds(
    chain: Chain,
    keys: Sequence[Key],
    stake: int,
    seats: Seats,
    factory: bytes,
    games: Iterable[PlayableApp],
    *,
    in_ether: bool,
) -> None:
    """Refuse the scenarios if the payer cannot pay for all deployments, for itself, and for what the others lack.
    Raises `NotEnough`.

    - `chain`: asked for fees, balances and code.
    - `keys`: of the players, by seat; the first one pays.
    - `stake`: in the smallest unit of the asset.
    - `seats`: the number of players of each scenario.
    - `factory`: 20 bytes, of the factory that deploys.
    - `games`: whose contracts are deployed if the chain lacks them.
    - `in_ether`: whether ether is played for, and not a token made for the demonstration.
    """
    payer, *others = (key.address for key in keys)
    fee, deposit = chain.fees().max_fee_per_gas, DEPOSIT_IN_STAKES * stake if in_ether else 0
    has_factory = factory_stands(chain, factory)
    # Nodes suggest the price of gas of the presigned transaction that brings the factory, too.
    for_factory, dearer = (0, 0) if has_factory else (PRESIGNED_COST, PRESIGNED_PRICE)
    players = "both players" if len(others) == 1 else f"{len(keys)} players"
    gas = gas_for_scenarios(sum(seats)) + 2 * len(others) * TRANSFER_GAS
    parts = [
        (f"deposits: {_shown(seats)} x {DEPOSIT_IN_STAKES} stakes of {format_amount(stake)}, ", deposit * sum(seats)),
        _gas(f"gas for {players}", gas, fee + dearer),
        _gas("contracts to deploy", _gas_for_deployment(chain, factory, games, has_factory=has_factory), fee),
        _gas("a token to deploy", 0 if in_ether else _gas_for_token(len(keys)), fee + dearer),
        ("bringing a factory for the contracts to this chain: ", for_factory),
    ]
    for seat, other in enumerate(others, 1):
        scenarios = scenarios_of(seat, seats)
        need = deposit * scenarios + gas_for_scenarios(scenarios) * (fee + dearer)
        already = min(chain.balance(other), need)
        parts.append((f"less what the counterparty {show_address(other)} has already: ", -already))
    there, needed = chain.balance(payer), sum(cost for _, cost in parts)
    if there < needed:
        lines = "\n".join(f"  {what}{format_amount(abs(cost))}" for what, cost in parts if cost)
        raise NotEnough(NAMES[0], payer, needed, there, lines)


def _shown(seats: Seats) -> str:
    """The number of deposits, in as few words as the scenarios allow."""
    scenarios = "1 scenario" if len(seats) == 1 else f"{len(seats)} scenarios"
    if len(set(seats)) == 1:
        return f"{seats[0]} players x {scenarios}"
    return f"{sum(seats)} players in {scenarios}"


# ---------------------------------------------------------------------------------------------------------------- gas


def _gas(purpose: str, gas: int, fee: int) -> tuple[str, int]:
    """Words, and wei, for `gas` units at up to `fee` wei each."""
    return f"{purpose}: {gas:,} gas at up to {fee / 10**9:.9g} gwei, ", gas * fee


def _gas_for_deployment(chain: Chain, factory: bytes, games: Iterable[PlayableApp], *, has_factory: bool) -> int:
    """The gas for those contracts of these games, the adjudicator and the factory that are not deployed yet."""
    missing = [each for each in contracts_to_deploy(games) if not chain.code(derived_address(each, factory))]
    gas = 0 if has_factory else TRANSFER_GAS + FACTORY_GAS
    return gas + sum(map(_gas_to_deploy, missing))


def _gas_for_token(players: int) -> int:
    """The gas for a token of the demonstration: to deploy it, to give each player some, and to let it be taken."""
    return _gas_to_deploy(artifact("DemoToken")) + 2 * players * _TOKEN_CALL_GAS


def _gas_to_deploy(contract: Artifact) -> int:
    """At most: 200 gas for a byte that is stored, 16 for one that is sent, and a little for running the constructor."""
    return 60_000 + 220 * len(contract.bytecode)
