"""What a demonstration costs, deposits and gas at the present fee, compared with the players' balances before any
transaction is sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forcemove.chain.addresses import show_address
from forcemove.demo.errors import NotEnough
from forcemove.demo.names import NAMES
from forcemove.protocol.agreement import DEPOSIT_IN_STAKES
from forcemove.text.amounts import format_amount

if TYPE_CHECKING:
    from forcemove.artifact import Artifact
    from forcemove.chain.chain import Chain
    from forcemove.game import PlayableApp
    from forcemove.protocol.signing import Key

__all__ = [
    "Seats",
    "TRANSFER_GAS",
    "gas_for_deployment",
    "gas_for_scenarios",
    "gas_for_token",
    "require_local_funds",
    "require_node_funds",
    "scenarios_of",
]

TRANSFER_GAS = 75_000
"""Gas to pay for in advance to send ether: the limit has headroom."""
Seats = Sequence[int]
"""The number of players of each scenario."""
_SCENARIO_GAS = 1_200_000
"""Gas that one player gets ether for: what any scenario uses, and the limit of its last transaction."""
_TOKEN_CALL_GAS = 120_000


@dataclass(frozen=True, slots=True)
class _Gas:
    """`gas` units at up to `fee` wei each, for a purpose."""

    purpose: str
    gas: int
    fee: int

    @property
    def cost(self) -> int:
        return self.gas * self.fee

    def __str__(self) -> str:
        return f"{self.purpose}: {self.gas:,} gas at up to {self.fee / 10**9:.9g} gwei, {format_amount(self.cost)}"


def gas_for_scenarios(scenarios: int) -> int:
    """The gas that one player keeps ether for, for this many scenarios."""
    return _SCENARIO_GAS * scenarios


def scenarios_of(seat: int, seats: Seats) -> int:
    """The number of scenarios that have this seat."""
    return sum(seat < count for count in seats)


def gas_for_token(players: int) -> int:
    """The gas for a token of the demonstration: to deploy it, to give each player some, and to let it be taken."""
    from forcemove.contracts import artifact

    return _gas_to_deploy(artifact("DemoToken")) + 2 * players * _TOKEN_CALL_GAS


def gas_for_deployment(chain: Chain, factory: bytes, games: Iterable[PlayableApp]) -> int:
    """The gas for those contracts of these games, the adjudicator and the factory that are not deployed yet."""
    from forcemove.chain.deployment import contracts_to_deploy
    from forcemove.chain.factory import FACTORY_GAS, factory_stands
    from forcemove.chain.genuine import derived_address

    missing = [each for each in contracts_to_deploy(games) if not chain.code(derived_address(each, factory))]
    gas = 0 if factory_stands(chain, factory) else TRANSFER_GAS + FACTORY_GAS
    return gas + sum(map(_gas_to_deploy, missing))


def _price_of_factory(chain: Chain, factory: bytes) -> tuple[int, int]:
    """The ether for the presigned transaction that brings the factory, and its price of gas, which nodes then suggest,
    too; zeros where the chain has a factory."""
    from forcemove.chain.create2 import PRESIGNED_COST, PRESIGNED_PRICE
    from forcemove.chain.factory import factory_stands

    return (0, 0) if factory_stands(chain, factory) else (PRESIGNED_COST, PRESIGNED_PRICE)


def _gas_to_deploy(contract: Artifact) -> int:
    """At most: 200 gas for a byte that is stored, 16 for one that is sent, and a little for running the constructor."""
    return 60_000 + 220 * len(contract.bytecode)


def require_local_funds(chain: Chain, keys: Sequence[Key], stake: int, seats: Seats, *, in_ether: bool) -> None:
    """Refuse the scenarios if a player's account on a chain of our own cannot pay for them. Raises `NotEnough`.

    - `chain`: asked for fees and balances.
    - `keys`: of the players, by seat.
    - `stake`: in the smallest unit of the asset.
    - `seats`: the number of players of each scenario.
    - `in_ether`: whether ether is played for, and not a token.
    """
    fee = chain.fees().max_fee_per_gas
    for seat, (name, key) in enumerate(zip(NAMES, keys, strict=False)):
        scenarios, there = scenarios_of(seat, seats), chain.balance(key.address)
        deposits = _deposits(stake, scenarios) if in_ether else 0
        gas = _Gas("gas", gas_for_scenarios(scenarios), fee)
        if there < deposits + gas.cost:
            parts = [_deposits_shown(_scenarios_shown(scenarios), scenarios, stake), str(gas)]
            raise NotEnough(name, key.address, deposits + gas.cost, there, _lines(parts))


def require_node_funds(
    chain: Chain,
    keys: Sequence[Key],
    stake: int,
    seats: Seats,
    factory: bytes,
    games: Iterable[PlayableApp],
    *,
    in_ether: bool,
) -> None:
    """Refuse the scenarios if the payer on a node cannot pay for all players and all deployments. Raises `NotEnough`.

    - `chain`: asked for fees, balances and code.
    - `keys`: of the players, by seat; the first one pays.
    - `stake`: in the smallest unit of the asset.
    - `seats`: the number of players of each scenario.
    - `factory`: 20 bytes, of the factory that deploys.
    - `games`: whose contracts are deployed if the chain lacks them.
    - `in_ether`: whether ether is played for, and not a token made for the demonstration.
    """
    payer, *others = (key.address for key in keys)
    fee = chain.fees().max_fee_per_gas
    for_factory, dearer = _price_of_factory(chain, factory)
    deposits = _deposits(stake, sum(seats)) if in_ether else 0
    players = "both players" if len(others) == 1 else f"{len(keys)} players"
    gas = [
        _Gas(f"gas for {players}", gas_for_scenarios(sum(seats)) + 2 * len(others) * TRANSFER_GAS, fee + dearer),
        _Gas("contracts to deploy", gas_for_deployment(chain, factory, games), fee),
        _Gas("a token to deploy", 0 if in_ether else gas_for_token(len(keys)), fee + dearer),
    ]
    already = {}
    for seat, other in enumerate(others, 1):
        scenarios = scenarios_of(seat, seats)
        need = (_deposits(stake, scenarios) if in_ether else 0) + gas_for_scenarios(scenarios) * (fee + dearer)
        already[other] = min(chain.balance(other), need)
    there = chain.balance(payer)
    needed = deposits + sum(each.cost for each in gas) + for_factory - sum(already.values())
    if there >= needed:
        return
    parts = [_deposits_shown(_seats_shown(seats), sum(seats), stake)] if in_ether else []
    parts += [str(each) for each in gas if each.gas]
    if for_factory:
        parts.append(f"bringing a factory for the contracts to this chain: {format_amount(for_factory)}")
    for other, has in already.items():
        if has:
            parts.append(f"less what the counterparty {show_address(other)} has already: {format_amount(has)}")
    raise NotEnough(NAMES[0], payer, needed, there, _lines(parts))


def _lines(parts: Iterable[str]) -> str:
    return "\n".join(f"  {part}" for part in parts)


def _deposits(stake: int, count: int) -> int:
    return DEPOSIT_IN_STAKES * stake * count


def _deposits_shown(who: str, count: int, stake: int) -> str:
    total = format_amount(_deposits(stake, count))
    return f"deposits: {who} x {DEPOSIT_IN_STAKES} stakes of {format_amount(stake)}, {total}"


def _scenarios_shown(scenarios: int) -> str:
    return "1 scenario" if scenarios == 1 else f"{scenarios} scenarios"


def _seats_shown(seats: Seats) -> str:
    """The number of deposits, in as few words as the scenarios allow."""
    if len(set(seats)) == 1:
        return f"{seats[0]} players x {_scenarios_shown(len(seats))}"
    return f"{sum(seats)} players in {_scenarios_shown(len(seats))}"
