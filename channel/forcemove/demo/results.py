"""How a scenario has ended, in numbers, and as a document."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from msgspec import field

from forcemove.arena.balances import BalanceCheck
from forcemove.chain.addresses import show_address
from forcemove.inspect.documents import Address, Amount, CommandErrorJson, Decimal, Document, Hash
from forcemove.protocol.agreement import Agreement


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


def gas_cost_of(account: bytes, transactions: Iterable[TransactionJson]) -> int:
    """What the gas of an account's (20 bytes) transactions has cost, in wei."""
    return sum(int(each.gas_cost) for each in transactions if each.sender == show_address(account))


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """How one scenario has ended. `stake`: in the asset's smallest unit; `as_expected`: whether everything but the
    balances went as it must; `is_closed`: whether the channel has paid all."""

    game: str
    scenario: str
    agreement: Agreement
    stake: int
    players: tuple[BalanceCheck, ...]
    transactions: tuple[TransactionJson, ...]
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
        return sum(each.gas_used for each in self.transactions if each.sender == show_address(player.address))

    @property
    def document(self) -> ScenarioJson:
        """The result as a document."""
        ((asset, _),) = self.agreement.deposits
        players = [
            PlayerJson.of(each, gas_used=self.gas_used(each), balance_expected=each.expected, balance_found=each.found)
            for each in self.players
        ]
        return ScenarioJson.of(self, self.agreement, self.agreement.domain, asset=asset, players=players)
