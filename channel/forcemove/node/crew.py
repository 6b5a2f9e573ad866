"""The workers of a node: one for each adjudicator of a chain and depth of belief, one for each account."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from forcemove.node.accounts import AccountWorker, Hired
from forcemove.node.assemble import Assembly
from forcemove.node.journalled import JournalledTransactions, Wishes
from forcemove.node.keeping import Keeper
from forcemove.node.looking import Trouble, look_now
from forcemove.node.policy import own_clock
from forcemove.node.workers import ChainWorker, Worker
from forcemove.protocol.signing import Key
from forcemove.sender.sender import Sender
from forcemove.store.journal import Journal
from forcemove.store.records import Account

__all__ = ["Crew"]


class Crew:
    """`chains`: by chain id, adjudicator and confirmations; `accounts`: those that send for our channels."""

    def __init__(self, journal: Journal, keeper: Keeper, patience: float, clock: Callable[[], float]) -> None:
        """`patience`: seconds after which a transaction that waits is offered more for. `clock`: seconds."""
        self.chains: dict[tuple[int, bytes, int], ChainWorker] = {}
        self.accounts: dict[Account, AccountWorker] = {}
        self._journal, self._keeper, self._patience, self._clock = journal, keeper, patience, clock

    def chain(self, assembly: Assembly, confirmations: int) -> ChainWorker:
        """That reads the chain of a channel."""
        adjudicator = assembly.adjudicator
        name = (adjudicator.chain.chain_id, adjudicator.address, confirmations)
        if name not in self.chains:
            endpoints = (adjudicator, *assembly.others)
            own_time = own_clock(adjudicator.chain.chain_id)
            self.chains[name] = ChainWorker(endpoints, confirmations, self._clock, own_time)
        return self.chains[name]

    def account(self, account: Account, assembly: Assembly, key: Key, confirmations: int) -> AccountWorker:
        """That sends for a channel."""
        if account not in self.accounts:

            def hire() -> Hired | None:
                return self._hire(account, assembly, key, confirmations)

            wishes, endpoints = Wishes(self._journal, account), 1 + len(assembly.others)
            self.accounts[account] = AccountWorker(account, wishes, hire, endpoints, self._clock)
        self.accounts[account].understand(assembly.adjudicator.errors)
        return self.accounts[account]

    def _hire(self, account: Account, assembly: Assembly, key: Key, confirmations: int) -> Hired | None:
        """None while another process has the account's lease."""
        if not self._keeper.has(account):
            return None
        transactions = JournalledTransactions(self._journal, account)
        others = [each.chain for each in assembly.others]
        sender = Sender(
            assembly.adjudicator.chain,
            key,
            transactions,
            others=others,
            confirmations=confirmations,
            patience=self._patience,
            own_time=own_clock(account.chain_id),
        )
        return sender, transactions

    def __iter__(self) -> Iterator[Worker]:
        yield from tuple(worker for chain in self.chains.values() for worker in chain.workers)
        yield from tuple(self.accounts.values())

    @property
    def is_sending(self) -> bool:
        """Whether a transaction is on its way, or is to be sent."""
        return any(each.is_sending for each in self.accounts.values())

    def look_now(self, trouble: Trouble) -> None:
        """All of them, one after the other. `trouble`: is told of what fails."""
        for worker in self:
            look_now(worker, trouble)
        for account in self.accounts.values():
            if account.is_sending:  # on a chain that mines at once it is mined now
                look_now(account, trouble)
