"""How a scenario has ended, in numbers, and as documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from msgspec import field

from forcemove.arena.balances import BalanceCheck
from forcemove.chain.addresses import show_address
from forcemove.chain.chain import Receipt
from forcemove.inspect.documents import Address, Amount, CommandErrorJson, Decimal, Document, Hash
from forcemove.protocol.codec.json_text import hex_text

__all__ = ["DemoDocument", "MinedTransaction", "ScenarioResult"]


class TransactionJson(Document):
    """A mined transaction. `operation`: the adjudicator's function, or another name; `gasCost`: in wei."""

    hash: Hash
    operation: str
    sender: Address = field(name="from")
    gas_used: int
    gas_cost: Amount


class PlayerJson(Document):
    """One player of a scenario. `received`: what the channel has paid; `net`: what was received less the deposit, and,
    where ether is played for, less `gasCost`, which is in wei; the balances are those on the chain."""

    name: str
    address: Address
    deposit: Amount
    received: Amount
    net: Amount
    gas_used: int
    gas_cost: Amount
    balance_expected: Amount
    balance_found: Amount


class ScenarioJson(Document):
    """How a scenario has ended. `asExpected`: whether everything but the balances went as it must."""

    game: str
    scenario: str
    chain_id: Decimal
    adjudicator: Address
    channel_id: Hash
    asset: Address
    stake: Amount
    players: list[PlayerJson]
    transactions: list[TransactionJson]
    balances_as_expected: bool
    as_expected: bool


class DemoDocument(Document):
    """What `demo` prints. `otherTransactions`: those that are not part of a scenario that has ended; `error`: what has
    ended it, null where nothing has."""

    scenarios: list[ScenarioJson]
    other_transactions: list[TransactionJson]
    error: CommandErrorJson | None = None


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

    @property
    def document(self) -> TransactionJson:
        """The transaction as a document."""
        cost = str(self.gas_cost)
        return TransactionJson(hex_text(self.hash), self.operation, show_address(self.sender), self.gas_used, cost)


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

    @property
    def document(self) -> ScenarioJson:
        """The result as a document."""
        return ScenarioJson(
            self.game,
            self.scenario,
            str(self.chain_id),
            show_address(self.adjudicator),
            hex_text(self.channel_id),
            show_address(self.asset),
            str(self.stake),
            [self._player(player) for player in self.players],
            [transaction.document for transaction in self.transactions],
            self.balances_as_expected,
            self.as_expected,
        )

    def _player(self, player: BalanceCheck) -> PlayerJson:
        return PlayerJson(
            player.name,
            show_address(player.address),
            str(player.deposit),
            str(player.received),
            str(player.net),
            self.gas_used(player),
            str(player.gas_cost),
            str(player.expected),
            str(player.found),
        )
