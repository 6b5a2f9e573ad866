"""How a scenario has ended, in numbers, and as values for JSON.

    {"stories": [...], "other_transactions": [...]}

Of each scenario: `game`, `scenario`, `chain_id`, `adjudicator`, `channel_id`, `asset` (an address; zero is ether),
`stake`; `players`, each with `name`, `address`, `deposit`, `received`, `net`, `gas_used`, `gas_cost`,
`balance_expected`, `balance_found`; `transactions`, each with `hash`, `operation`, `from`, `gas_used`, `gas_cost`;
`balances_as_expected`, and `as_told`: whether everything else went as it must.

Amounts are decimal numbers in quotes, in the asset's smallest unit, `gas_cost` always in wei; gas and the chain's id
are plain numbers. `net` is what was received less the deposit, and, where ether is played for, less `gas_cost`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from forcemove.arena.balances import BalanceCheck
from forcemove.chain.addresses import show_address
from forcemove.chain.chain import Receipt
from forcemove.protocol.codec.json_text import hex_text

__all__ = ["ScenarioResult", "MinedTransaction", "results_json"]


@dataclass(frozen=True, slots=True)
class MinedTransaction:
    """A mined transaction: `hash` 32 bytes, `operation` the adjudicator's function or another name, `sender` 20 bytes,
    `gas_cost` in wei."""

    hash: bytes
    operation: str
    sender: bytes
    gas_used: int
    gas_cost: int

    @classmethod
    def of(cls, receipt: Receipt[Any], operation: str, sender: bytes) -> MinedTransaction:
        """A transaction from its receipt."""
        cost = receipt.gas_used * receipt.gas_price
        return cls(receipt.transaction_hash, operation, sender, receipt.gas_used, cost)

    def to_json(self) -> dict[str, Any]:
        """See the module."""
        return {
            "hash": hex_text(self.hash),
            "operation": self.operation,
            "from": show_address(self.sender),
            "gas_used": self.gas_used,
            "gas_cost": str(self.gas_cost),
        }


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """How one scenario has ended. `as_expected`: whether everything but the balances went as it must; `is_closed`:
    whether the channel has paid all."""

    game: str
    scenario: str
    chain_id: int
    adjudicator: bytes
    channel_id: bytes
    asset: bytes
    stake: int
    players: tuple[BalanceCheck, ...]
    transactions: tuple[MinedTransaction, ...]
    as_expected: bool
    is_closed: bool

    @property
    def balances_as_expected(self) -> bool:
        """Whether every balance is as expected."""
        return self.is_closed and all(player.is_right for player in self.players)

    @property
    def is_right(self) -> bool:
        """Whether the scenario has gone as it must."""
        return self.as_expected and self.balances_as_expected

    def gas_used(self, player: BalanceCheck) -> int:
        """The gas of a player's transactions."""
        return sum(each.gas_used for each in self.transactions if each.sender == player.address)

    def _player_json(self, player: BalanceCheck) -> dict[str, Any]:
        return {
            "name": player.name,
            "address": show_address(player.address),
            "deposit": str(player.deposit),
            "received": str(player.received),
            "net": str(player.net),
            "gas_used": self.gas_used(player),
            "gas_cost": str(player.gas_cost),
            "balance_expected": str(player.expected),
            "balance_found": str(player.found),
        }

    def to_json(self) -> dict[str, Any]:
        """See the module."""
        return {
            "game": self.game,
            "scenario": self.scenario,
            "chain_id": self.chain_id,
            "adjudicator": show_address(self.adjudicator),
            "channel_id": hex_text(self.channel_id),
            "asset": show_address(self.asset),
            "stake": str(self.stake),
            "players": [self._player_json(player) for player in self.players],
            "transactions": [transaction.to_json() for transaction in self.transactions],
            "balances_as_expected": self.balances_as_expected,
            "as_told": self.as_expected,
        }


def results_json(scenarios: Sequence[ScenarioResult], others: Sequence[MinedTransaction]) -> dict[str, Any]:
    """See the module."""
    return {
        "stories": [scenario.to_json() for scenario in scenarios],
        "other_transactions": [transaction.to_json() for transaction in others],
    }
