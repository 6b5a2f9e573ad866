"""Compares a deployment with what its address book and the installed games say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forcemove.artifact import ADJUDICATOR
from forcemove.chain.book import AddressBook
from forcemove.chain.chain import Chain
from forcemove.chain.prices import Prices
from forcemove.chain.verification import ContractStatus, ContractVerdict, verify
from forcemove.game import Game


@dataclass(frozen=True, slots=True)
class DeploymentReport:
    """`verdicts`: of each contract of the book; `absent`: the installed games that the book does not name;
    `has_adjudicator`: whether the book names the adjudicator, without which it is of no use; `prices`: what gas costs
    on the chain, as far as it can be found out."""

    verdicts: tuple[ContractVerdict, ...]
    absent: tuple[Game, ...]
    has_adjudicator: bool
    prices: Prices

    @property
    def unknown(self) -> tuple[ContractVerdict, ...]:
        """The contracts that cannot be checked here, because their games are not installed."""
        return tuple(each for each in self.verdicts if each.status is ContractStatus.UNKNOWN)

    @property
    def is_good(self) -> bool:
        """Whether the book names the adjudicator and every contract that can be checked is genuine."""
        fine = (ContractStatus.GENUINE, ContractStatus.UNKNOWN)
        return self.has_adjudicator and all(each.status in fine for each in self.verdicts)


def inspect_deployment(
    chain: Chain, book: AddressBook, games: Sequence[Game], *, confirmations: int = 1
) -> DeploymentReport:
    """Compare a deployment with its chain. `games`: those that are installed; `confirmations`: how many blocks deep the
    contracts must be. Raises as `verify`."""
    return DeploymentReport(
        tuple(verify(chain, book, games, confirmations=confirmations)),
        tuple(game for game in games if game.artifact.name not in book.contracts),
        ADJUDICATOR in book.contracts,
        chain.ask_prices(),
    )
