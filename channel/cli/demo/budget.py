"""What a demonstration needs, before anything is sent: deposits, and gas at the present fee. And what is there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from forcemove.channel.chain.addresses import show_address
from forcemove.channel.cli.amounts import format_amount
from forcemove.channel.cli.errors import Explained

if TYPE_CHECKING:
    from forcemove.channel.artifact import Artifact
    from forcemove.channel.chain.chain import Chain
    from forcemove.channel.game import PlayableApp
    from forcemove.channel.protocol.signing import Key

__all__ = [
    "DEPOSIT_IN_STAKES",
    "TRANSFER_GAS",
    "NotEnough",
    "gas_for_deployment",
    "gas_for_stories",
    "gas_for_token",
    "require_local_funds",
    "require_node_funds",
    "require_playable",
]

DEPOSIT_IN_STAKES = 5
TRANSFER_GAS = 75_000
"""Gas that must be paid for in advance to send ether: the limit has headroom."""
_STORY_GAS = 600_000
"""Gas that one player is given ether for: more than any story uses, in limits as well as in the end."""
_TOKEN_CALL_GAS = 120_000
_MAX_HOLDINGS = 2**254 - 1


class NotEnough(Explained):
    """An account has less than what is to be played for. `needed`, `there`: wei."""

    def __init__(self, who: str, needed: int, there: int, parts: Iterable[str], advice: str) -> None:
        lines = (f"  {part}" for part in parts)
        super().__init__(
            f"{who} needs {format_amount(needed)} and has {format_amount(there)}: nothing is played.\n"
            + "\n".join(lines),
            advice,
            needed=str(needed),
            there=str(there),
        )
        self.needed, self.there = needed, there


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


def gas_for_stories(stories: int) -> int:
    """What one player keeps for the gas of so many stories."""
    return _STORY_GAS * stories


def gas_for_token() -> int:
    """What a token for the occasion takes: to deploy it, to give both players some, and to let it be taken."""
    from forcemove.contracts import artifact

    return _gas_to_deploy(artifact("DemoToken")) + 4 * _TOKEN_CALL_GAS


def gas_for_deployment(chain: Chain, factory: bytes, games: Iterable[PlayableApp]) -> int:
    """What the contracts of these games take that are not deployed yet, the adjudicator, and the factory."""
    from forcemove.channel.chain.deployment import contracts_to_deploy
    from forcemove.channel.chain.factory import FACTORY_GAS, factory_stands
    from forcemove.channel.chain.genuine import derived_address

    missing = [each for each in contracts_to_deploy(games) if not chain.code(derived_address(each, factory))]
    gas = 0 if factory_stands(chain, factory) else TRANSFER_GAS + FACTORY_GAS
    return gas + sum(map(_gas_to_deploy, missing))


def _price_of_factory(chain: Chain, factory: bytes) -> tuple[int, int]:
    """Where there is none: the ether that the presigned transaction wants which brings it, and what it pays for a unit
    of gas, which nodes then suggest to pay, too."""
    from forcemove.channel.chain.create2 import PRESIGNED_COST, PRESIGNED_PRICE
    from forcemove.channel.chain.factory import factory_stands

    return (0, 0) if factory_stands(chain, factory) else (PRESIGNED_COST, PRESIGNED_PRICE)


def _gas_to_deploy(contract: Artifact) -> int:
    """At most: 200 gas for a byte that is kept, 16 for one that is sent, and a little for running the constructor."""
    return 60_000 + 220 * len(contract.bytecode)


def require_playable(stake: int, stories: int) -> None:
    """Refuse a stake that nothing can be played for, ether or token. Raises `click.UsageError`."""
    if stake == 0:
        raise click.UsageError("A stake of 0 plays for nothing: give --stake 1 or more.")
    most = _MAX_HOLDINGS // (2 * DEPOSIT_IN_STAKES * stories)
    if stake > most:
        raise click.UsageError(
            f"A stake of {_shown(stake)} is too high: both players deposit {DEPOSIT_IN_STAKES} stakes a story, and a "
            f"channel holds less than 2**254 of an asset; give --stake {_shown(most)} or less."
        )


def _shown(stake: int) -> str:
    return f"{stake:,} (the asset's smallest unit)"


def require_local_funds(chain: Chain, keys: tuple[Key, Key], stake: int, stories: int, *, in_ether: bool) -> None:
    """Refuse what one of two accounts of a chain of our own cannot pay. Raises `NotEnough`."""
    deposits = _deposits(stake, stories) if in_ether else 0
    gas = _Gas("gas", gas_for_stories(stories), chain.fees().max_fee_per_gas)
    for name, key in zip(("Alice", "Bob"), keys, strict=True):
        there = chain.balance(key.address)
        if there < deposits + gas.cost:
            parts = [_deposits_shown("", stake, stories), str(gas)]
            raise NotEnough(f"{name} ({show_address(key.address)})", deposits + gas.cost, there, parts, f"{_LESS}.")


def require_node_funds(
    chain: Chain,
    keys: tuple[Key, Key],
    stake: int,
    stories: int,
    factory: bytes,
    games: Iterable[PlayableApp],
    *,
    in_ether: bool,
) -> None:
    """Refuse what the payer on a node cannot pay, for both players and whatever is to be deployed for these games.
    Raises `NotEnough`."""
    payer, other = (key.address for key in keys)
    fee = chain.fees().max_fee_per_gas
    for_factory, dearer = _price_of_factory(chain, factory)
    deposits = _deposits(stake, stories) if in_ether else 0
    gas = [
        _Gas("gas for both players", 2 * gas_for_stories(stories) + 2 * TRANSFER_GAS, fee + dearer),
        _Gas("contracts to deploy", gas_for_deployment(chain, factory, games), fee),
        _Gas("a token to deploy", 0 if in_ether else gas_for_token(), fee + dearer),
    ]
    others_need = deposits + gas_for_stories(stories) * (fee + dearer)
    already = min(chain.balance(other), others_need)
    needed, there = 2 * deposits + sum(each.cost for each in gas) + for_factory - already, chain.balance(payer)
    if there >= needed:
        return
    parts = [_deposits_shown("2 players x ", stake, stories)] if in_ether else []
    parts += [str(each) for each in gas if each.gas]
    if for_factory:
        parts.append(f"bringing a factory for the contracts to this chain: {format_amount(for_factory)}")
    if already:
        parts.append(f"less what the counterparty {show_address(other)} has already: {format_amount(already)}")
    who = f"The account of --key, {show_address(payer)},"
    raise NotEnough(who, needed, there, parts, f"{_LESS}; or send it ether.")


_LESS = "Give a lower --stake, or play less with --game and --scenario"


def _deposits(stake: int, stories: int) -> int:
    return DEPOSIT_IN_STAKES * stake * stories


def _deposits_shown(players: str, stake: int, stories: int) -> str:
    count = "1 story" if stories == 1 else f"{stories} stories"
    total = _deposits(stake, stories) * (2 if players else 1)
    return f"deposits: {players}{count} x {DEPOSIT_IN_STAKES} stakes of {format_amount(stake)}, {format_amount(total)}"
