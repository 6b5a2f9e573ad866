"""Deploys the adjudicator and the contracts of games.

The address of a contract follows from its creation code (`forcemove.chain.create2`): a contract that anybody has
deployed already is taken over. The address book is written before each transaction and after each contract, so that a
killed deployment continues where it stopped: deployed contracts are kept, waiting transactions are waited for, and
dropped ones are sent again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from forcemove.artifact import Artifact
from forcemove.chain.book import AddressBook, Deployed, Pending
from forcemove.chain.chain import Call, Chain, Fees, RawLog, Receipt, SignedTransaction, contract_address
from forcemove.chain.create2 import (
    CUSTOMARY_FACTORY,
    FACTORY_CREATION_CODE,
    FACTORY_RUNTIME_CODE,
    deploying_calldata,
    derived_address,
)
from forcemove.chain.deployment_book import DeploymentBook
from forcemove.chain.errors import CallRefused, TransactionRefused, TransactionReverted
from forcemove.chain.factory import FACTORY, FUNDS, bring_customary_factory, deployment_block, factory_stands, stood
from forcemove.chain.genuine import adjudicator_artifact, require_genuine_contract
from forcemove.chain.progress import BookOfOtherContracts, ContractNamedTwice, DeploymentStage, NotAFactory, Progress
from forcemove.game import PlayableApp
from forcemove.protocol.signing import Key
from forcemove.registry import installed_games

_LOOK_SECONDS = 0.1


def contracts_to_deploy(games: Iterable[PlayableApp]) -> tuple[Artifact, ...]:
    """The adjudicator, then the contract of each game. Raises `ContractNamedTwice`."""
    contracts: dict[str, Artifact] = {}
    for contract in (adjudicator_artifact(), *(game.artifact for game in games)):
        known = contracts.setdefault(contract.name, contract)
        if known.creation_code_hash != contract.creation_code_hash:
            raise ContractNamedTwice(contract.name)
    return tuple(contracts.values())


def deploy(
    chain: Chain,
    key: Key,
    path: Path,
    games: Iterable[PlayableApp] | None = None,
    *,
    on_progress: Callable[[Progress], None] = lambda _: None,
    timeout: float = 300.0,
) -> AddressBook:
    """Deploy the adjudicator and the games' contracts, as far as the chain does not have them yet.

    - `chain`: the chain to deploy on.
    - `key`: of the account that sends and pays.
    - `path`: the address book's file, which is read where it exists; other contracts that it names stay in it.
    - `games`: whose contracts are deployed; all installed games where this is None.
    - `on_progress`: is called after each thing that was done.
    - `timeout`: real seconds to wait for each transaction.

    A chain without the customary factory gets it, else a factory of our own, which the book then names. Raises
    `WrongChain`, `BookOfOtherContracts`, `ContractNamedTwice`, `NotAFactory`, `BookUnwritable`, `NoTransientStorage`,
    what reading the book raises, and what sending raises; after any error, the same call later continues from there.
    """
    games = installed_games().games if games is None else tuple(games)
    contracts = contracts_to_deploy(games)
    chain.require_transient_storage()
    deployment = _Deployment(chain, key, DeploymentBook(chain, path, games), on_progress, timeout)
    deployment.written.open(contracts)
    deployment.bring_factory()
    for contract in deployment.begun_first(contracts):
        deployment.bring(contract)
    return deployment.book


class _Deployment:
    """One run. `written`: what it has written down."""

    def __init__(
        self,
        chain: Chain,
        key: Key,
        written: DeploymentBook,
        on_progress: Callable[[Progress], None],
        timeout: float,
    ) -> None:
        self._chain, self._key, self.written = chain, key, written
        self._on_progress, self._timeout = on_progress, timeout
        self._fees: Fees | None = None

    @property
    def book(self) -> AddressBook:
        """The book as it is in the file."""
        return self.written.book

    def begun_first(self, contracts: tuple[Artifact, ...]) -> list[Artifact]:
        """The contracts in the order to bring them: first the one that an earlier run has sent, as the book remembers
        one transaction only. If that run has sent a contract of another game, its transaction is waited for; a later
        deployment of that game finds the contract."""
        pending = self.book.pending
        ours = {FACTORY, FUNDS, *(each.name for each in contracts)}
        if pending is not None and pending.contract not in ours:
            self._resume(pending.contract)
            self.written.change(pending=None)
        return sorted(contracts, key=lambda each: pending is None or each.name != pending.contract)

    # --------------------------------------------------------------------------------------------------- the factory

    def bring_factory(self) -> None:
        """Make sure that a factory is there at the end. Where the book's is missing, no contract that it deploys can be
        there, either."""
        if self._take_over_factory():
            return
        code = self._chain.code(self.book.factory)  # once: somebody else may bring it just now
        if code == FACTORY_RUNTIME_CODE:
            return
        if code:
            raise NotAFactory(str(self.written.path), self.book.factory)
        receipt = None
        if not factory_stands(self._chain, CUSTOMARY_FACTORY):
            # The price of the presigned transaction is fixed and high: a node would next suggest to pay as much.
            self._fees = self._chain.fees()
            receipt = bring_customary_factory(self._chain, self)
        if factory_stands(self._chain, CUSTOMARY_FACTORY):
            self._settle(CUSTOMARY_FACTORY, receipt)
        else:
            pending, receipt = self._send(FACTORY, Call(None, FACTORY_CREATION_CODE))
            self._settle(pending.address, receipt)

    def _take_over_factory(self) -> bool:
        """Take over a factory of our own that an earlier run has sent; whether there is one."""
        pending, receipt = self.book.pending, self._resume(FACTORY)
        if pending is None or receipt is None:
            return False
        self._settle(pending.address, receipt)
        return True

    def _settle(self, factory: bytes, receipt: Receipt[RawLog] | None) -> None:
        self.written.change(factory=factory, contracts={}, pending=None)
        if receipt is not None:
            self._report_deployed(FACTORY, factory, receipt)

    def fund(self, call: Call) -> None:
        """See `FactoryFunder`."""
        if self._resume(FUNDS) is None:
            self._send(FUNDS, call)

    def wait(self, signed: SignedTransaction) -> Receipt[RawLog]:
        """See `FactoryFunder`."""
        return self._chain.wait(signed, timeout=self._timeout)

    # -------------------------------------------------------------------------------------------------- the contracts

    def bring(self, contract: Artifact) -> None:
        """Make sure that the contract is there at the end, whatever was there before."""
        address = derived_address(contract, self.book.factory)
        self._require_same_version(contract, address)
        empty_at = self._chain.block_number()
        receipt = self._resume(contract.name)
        if receipt is not None:
            self._finish(contract, address, receipt)
        elif self._chain.code(address):
            self._take_over(contract, address)
        else:
            self._create(contract, address, empty_at)

    def _require_same_version(self, contract: Artifact, address: bytes) -> None:
        """Refuse to overwrite a contract that another version has deployed or sent."""
        entry, pending = self.book.contracts.get(contract.name), self.book.pending
        if entry is not None and entry.address != address and self._chain.code(entry.address):
            raise BookOfOtherContracts(str(self.written.path), contract.name, entry.address)
        if pending is None or pending.contract != contract.name or pending.address == address:
            return
        if self._resume(contract.name) is not None:
            raise BookOfOtherContracts(str(self.written.path), contract.name, pending.address)
        self.written.change(pending=None)

    def _take_over(self, contract: Artifact, address: bytes, empty_at: int = -1) -> None:
        """Write down a contract that is there already; it does not matter who has deployed it."""
        known = self.book.contracts.get(contract.name)
        if known is not None and known.address == address and self._is_early_enough(known):
            self.written.add(contract, address, known.block_number)
            self._on_progress(Progress(contract.name, DeploymentStage.KEPT, address))
            return
        block, is_certain = deployment_block(self._chain, address, self.book.factory, empty_at=empty_at)
        self.written.add(contract, address, block)
        self._on_progress(
            Progress(contract.name, DeploymentStage.FOUND, address, block_number=block, is_certain=is_certain)
        )

    def _is_early_enough(self, known: Deployed) -> bool:
        """Whether the book's block is not after the contract's own: a restarted test chain has other blocks."""
        if known.block_number > self._chain.block_number():
            return False
        return known.block_number == 0 or not stood(self._chain, known.address, known.block_number - 1)

    def _create(self, contract: Artifact, address: bytes, empty_at: int) -> None:
        """Send the contract; if somebody else has deployed it first, take theirs over."""
        call = Call(self.book.factory, deploying_calldata(contract.bytecode))
        try:
            _, receipt = self._send(contract.name, call, address)
        except (CallRefused, TransactionRefused, TransactionReverted):
            if not self._comes_to_stand(address):
                raise
            self._take_over(contract, address, empty_at)
        else:
            self._finish(contract, address, receipt)

    def _comes_to_stand(self, address: bytes) -> bool:
        """Whether the contract is there, deployed by somebody else. Waits while that transaction waits for a block."""
        deadline = time.monotonic() + self._timeout
        while not self._chain.code(address):
            if time.monotonic() > deadline or not self._chain.code(address, block="pending"):
                return False
            time.sleep(_LOOK_SECONDS)
        return True

    def _finish(self, contract: Artifact, address: bytes, receipt: Receipt[RawLog]) -> None:
        require_genuine_contract(self._chain, contract, address, self.book.factory)
        self.written.add(contract, address, receipt.block_number)
        self._report_deployed(contract.name, address, receipt)

    # ----------------------------------------------------------------------------------------------------- sending

    def _send(self, name: str, call: Call, address: bytes | None = None) -> tuple[Pending, Receipt[RawLog]]:
        """Write the transaction down, send it, and wait for it. `address`: of the contract that it deploys; None: its
        recipient, or the account's new contract."""
        signed = self._chain.sign(call, self._key, fees=self._fees)
        created = address or call.to or contract_address(signed.sender, signed.nonce)
        pending = Pending(name, created, signed.hash, self._chain.block_number())
        self.written.change(pending=pending)
        self._chain.broadcast(signed)
        self._on_progress(Progress(name, DeploymentStage.SENT, created, signed.hash))
        return pending, self.wait(signed)

    def _resume(self, name: str) -> Receipt[RawLog] | None:
        """Wait for the transaction that an earlier run has sent. None where there is none, where it was dropped, or
        where it failed, as it does when somebody else was first."""
        pending = self.book.pending
        if pending is None or pending.contract != name or not self._chain.knows(pending.transaction_hash):
            return None
        self._on_progress(Progress(name, DeploymentStage.RESUMED, pending.address, pending.transaction_hash))
        try:
            return self._chain.wait_for(pending.transaction_hash, timeout=self._timeout)
        except TransactionReverted:
            return None

    def _report_deployed(self, name: str, address: bytes, receipt: Receipt[RawLog]) -> None:
        gas, block = receipt.gas_used, receipt.block_number
        self._on_progress(Progress(name, DeploymentStage.DEPLOYED, address, receipt.transaction_hash, gas, block))
