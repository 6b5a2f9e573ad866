"""The workers of a node: one for each adjudicator of a chain and number of confirmations, one for each account."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from forcemove.chain.adjudicator import Adjudicator
from forcemove.follower.endpoint_quorum import EndpointQuorum
from forcemove.node.assemble import Assembly
from forcemove.node.friendly import ChainSource, FriendlyAssembly, NullChainWorker
from forcemove.node.leases import NodeLeases
from forcemove.node.wallets import ExternalWallet
from forcemove.protocol.machine.effects import Submission
from forcemove.protocol.signing import Key
from forcemove.sender.sender import Sender
from forcemove.store.records import Account
from forcemove.workers.account_worker import AccountWorker, LeasedSender
from forcemove.workers.chain_defaults import own_clock
from forcemove.workers.outbox import JournalledTxStore, Outbox
from forcemove.workers.polling import OnPollError, PollingWorker, poll_once

if TYPE_CHECKING:
    from forcemove.store.journal import Journal


class Workers:
    """All workers of one node. `chains`: by chain id, adjudicator and confirmations; `accounts`: by account. `wallets`:
    the accounts that send elsewhere, for which nothing works here."""

    def __init__(self, journal: Journal, leases: NodeLeases, bump_after: float, clock: Callable[[], float]) -> None:
        """`bump_after`: seconds after which more is offered for a transaction that waits. `clock`: seconds."""
        self.chains: dict[tuple[int, bytes, int], ChainSource] = {}
        self.accounts: dict[Account, AccountWorker] = {}
        self.wallets: dict[Account, ExternalWallet] = {}
        self._journal, self._leases, self._bump_after, self._clock = journal, leases, bump_after, clock

    def chain(self, assembly: Assembly | FriendlyAssembly, confirmations: int) -> ChainSource:
        """The worker that reads the chain of a channel; one that reads nothing for a friendly channel."""
        domain = assembly.agreement.domain
        name = (domain.chain_id, domain.adjudicator, confirmations)
        if name not in self.chains and isinstance(assembly, FriendlyAssembly):
            self.chains[name] = NullChainWorker()
        elif name not in self.chains and isinstance(assembly, Assembly):
            return self.chain_through((assembly.adjudicator, *assembly.others), confirmations)
        return self.chains[name]

    def chain_through(self, endpoints: Sequence[Adjudicator], confirmations: int) -> ChainSource:
        """The worker that reads the chain of an adjudicator. `endpoints`: the adjudicator through each endpoint."""
        chain_id = endpoints[0].chain.chain_id
        name = (chain_id, endpoints[0].address, confirmations)
        if name not in self.chains:
            self.chains[name] = EndpointQuorum(endpoints, confirmations, self._clock, own_clock(chain_id))
        return self.chains[name]

    def watching(self, endpoints: Sequence[Adjudicator], confirmations: int) -> ChainSource:
        """What reads the chain of an adjudicator already, however deep it believes; else as `chain_through`."""
        read = (
            each
            for name, each in self.chains.items()
            if name[:2] == (endpoints[0].chain.chain_id, endpoints[0].address)
        )
        return next(read, None) or self.chain_through(endpoints, confirmations)

    def account(self, account: Account, assembly: Assembly, key: Key, confirmations: int) -> AccountWorker:
        """The worker that sends for a channel."""
        if account not in self.accounts:

            def acquire_sender() -> LeasedSender | None:
                return self._acquire_sender(account, assembly, key, confirmations)

            outbox, endpoints = Outbox(self._journal, account), 1 + len(assembly.others)
            self.accounts[account] = AccountWorker(account, outbox, acquire_sender, endpoints, self._clock)
        self.accounts[account].understand(assembly.adjudicator.errors)
        return self.accounts[account]

    def wallet(self, account: Account) -> ExternalWallet:
        """The requests for a wallet."""
        return self.wallets.setdefault(account, ExternalWallet(account))

    def _acquire_sender(
        self, account: Account, assembly: Assembly, key: Key, confirmations: int
    ) -> LeasedSender | None:
        """The account's sender; None while another process has the account's lease."""
        if not self._leases.has(account):
            return None
        transactions = JournalledTxStore(self._journal, account)
        others = [each.chain for each in assembly.others]
        sender = Sender(
            assembly.adjudicator.chain,
            key,
            transactions,
            others=others,
            confirmations=confirmations,
            bump_after=self._bump_after,
            own_time=own_clock(account.chain_id),
        )
        return sender, transactions

    def __iter__(self) -> Iterator[PollingWorker]:
        yield from tuple(worker for chain in self.chains.values() for worker in chain.viewers)
        yield from tuple(self.accounts.values())

    @property
    def is_sending(self) -> bool:
        """Whether any account is sending, see `AccountWorker`."""
        return any(each.is_sending for each in self.accounts.values())

    def is_sending_for(self, channel_id: bytes) -> bool:
        """Whether any account is sending for this channel."""
        return any(each.is_sending_for(channel_id) for each in self.accounts.values())

    def withdraw(self, channel_id: bytes, wanted: Collection[Submission]) -> None:
        """Send nothing more for a channel but what it still wants."""
        for each in self.accounts.values():
            each.withdraw(channel_id, wanted)

    def poll_once(self, on_error: OnPollError) -> None:
        """Let all workers look, one after the other. `on_error`: called with each error of a look."""
        for worker in self:
            poll_once(worker, on_error)
        for account in self.accounts.values():
            if account.is_sending:  # on a chain that mines at once it is mined now
                poll_once(account, on_error)
