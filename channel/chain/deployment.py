"""Deploys the adjudicator and the games.

Where a contract stands follows from its creation code (`forcemove.channel.chain.create2`): what anybody has deployed
already is taken over. The address book is written before each transaction and after each contract, so that a killed
deployment goes on where it stood: what stands is kept, what waits is waited for, what was dropped is sent anew."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from forcemove.channel.chain.book import AddressBook, Deployed, Pending, load_book, save_book, write_atomically
from forcemove.channel.chain.chain import Call, Chain, Fees, RawLog, Receipt, SignedTransaction, contract_address
from forcemove.channel.chain.create2 import CUSTOMARY_FACTORY, FACTORY_CREATION_CODE, deploying_calldata
from forcemove.channel.chain.errors import (
    CallRefused,
    TransactionRefused,
    TransactionReverted,
)
from forcemove.channel.chain.factory import (
    FACTORY,
    FUNDS,
    bring_customary_factory,
    deployment_block,
    factory_stands,
    stood,
)
from forcemove.channel.chain.genuine import ADJUDICATOR, derived_address, require_genuine_contract
from forcemove.channel.chain.verification import require_chain
from forcemove.channel.errors import LocalError
from forcemove.channel.protocol.signing import Key
from forcemove.contracts import artifact, artifact_names, standard_json

__all__ = [
    "BookOfOtherContracts",
    "NotAFactory",
    "Progress",
    "Stage",
    "contracts_to_deploy",
    "deploy",
    "deploy_beside",
]

_LOOK_SECONDS = 0.1


@dataclass(eq=False)
class BookOfOtherContracts(LocalError):
    """The book at `path` is of another version, whose `contract` stands at `address`. It is kept as it is, because
    channels may live there."""

    path: str
    contract: str
    address: bytes


@dataclass(eq=False)
class NotAFactory(LocalError):
    """The book at `path` names a factory at whose address other code stands."""

    path: str
    factory: bytes


class Stage(Enum):
    """What has just happened to a contract of a deployment."""

    KEPT = "stands already"
    FOUND = "stands already, deployed by somebody"
    SENT = "sent"
    RESUMED = "was sent before"
    DEPLOYED = "deployed"


@dataclass(frozen=True, slots=True)
class Progress:
    """`contract`: its name, or that of the factory, or of the funds for it. `gas_used`: where it was deployed in this
    run. `block_number`: since when it stands, where that was found out in this run; `is_certain` tells whether it is
    that very block or an earlier one, because the node keeps no old states."""

    contract: str
    stage: Stage
    address: bytes
    transaction_hash: bytes | None = None
    gas_used: int | None = None
    block_number: int | None = None
    is_certain: bool = True


def contracts_to_deploy() -> tuple[str, ...]:
    """The adjudicator, then every game there is."""
    return (ADJUDICATOR, *(name for name in artifact_names() if name != ADJUDICATOR))


def deploy(
    chain: Chain,
    key: Key,
    path: Path,
    *,
    report: Callable[[Progress], None] = lambda _: None,
    timeout: float = 300.0,
) -> AddressBook:
    """Deploy whatever does not stand yet; `path` is the address book, which is read where it exists.

    A chain without the customary factory gets it, else one of our own, which the book then names. `timeout`: real
    seconds to wait for each transaction. Raises `WrongChain`, `BookOfOtherContracts`, `NotAFactory`, `BookUnwritable`,
    what reading the book raises, and what sending raises; whatever it raises, the same call later goes on from there.
    """
    deployment = _Deployment(chain, key, path, report, timeout)
    deployment.bring_factory()
    for contract in contracts_to_deploy():
        deployment.bring(contract)
    return deployment.book


def deploy_beside(chain: Chain, key: Key, contract: str, factory: bytes = CUSTOMARY_FACTORY) -> bytes:
    """Let one more compiled contract stand, such as the app of a game that is being tried; its address. The factory
    must stand. Raises `UnknownArtifact`, `NoContract` where the factory is none, and what sending raises."""
    address = derived_address(contract, factory)
    if not chain.code(address):
        chain.send(Call(factory, deploying_calldata(artifact(contract).bytecode)), key)
    require_genuine_contract(chain, contract, address, factory)
    return address


class _Deployment:
    """One run: the book as it stands in the file."""

    def __init__(self, chain: Chain, key: Key, path: Path, report: Callable[[Progress], None], timeout: float) -> None:
        self._chain, self._key, self._path = chain, key, path
        self._report, self._timeout = report, timeout
        self._fees: Fees | None = None
        self.book = _open_book(chain, path)

    # --------------------------------------------------------------------------------------------------- the factory

    def bring_factory(self) -> None:
        """Let a factory stand. Where there was none, nothing that it had to deploy can stand, either."""
        if self._take_over_factory() or factory_stands(self._chain, self.book.factory):
            return
        if self._chain.code(self.book.factory):
            raise NotAFactory(str(self._path), self.book.factory)
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
        """One of our own, which an earlier run has sent."""
        pending, receipt = self.book.pending, self._resume(FACTORY)
        if pending is None or receipt is None:
            return False
        self._settle(pending.address, receipt)
        return True

    def _settle(self, factory: bytes, receipt: Receipt[RawLog] | None) -> None:
        self._save(replace(self.book, factory=factory, contracts={}, pending=None))
        if receipt is not None:
            self._report_deployed(FACTORY, factory, receipt)

    def fund(self, call: Call) -> None:
        """As `Sender` says."""
        if self._resume(FUNDS) is None:
            self._send(FUNDS, call)

    def wait(self, signed: SignedTransaction) -> Receipt[RawLog]:
        """As `Sender` says."""
        return self._chain.wait(signed, timeout=self._timeout)

    # -------------------------------------------------------------------------------------------------- the contracts

    def bring(self, contract: str) -> None:
        """Let the contract stand at the end, whatever there was before."""
        address = derived_address(contract, self.book.factory)
        self._require_same_version(contract, address)
        empty_at = self._chain.block_number()
        receipt = self._resume(contract)
        if receipt is not None:
            self._finish(contract, address, receipt)
        elif self._chain.code(address):
            self._take_over(contract, address)
        else:
            self._create(contract, address, empty_at)

    def _require_same_version(self, contract: str, address: bytes) -> None:
        """What another version has deployed, or has sent, is not overwritten."""
        entry, pending = self.book.contracts.get(contract), self.book.pending
        if entry is not None and entry.address != address and self._chain.code(entry.address):
            raise BookOfOtherContracts(str(self._path), contract, entry.address)
        if pending is None or pending.contract != contract or pending.address == address:
            return
        if self._resume(contract) is not None:
            raise BookOfOtherContracts(str(self._path), contract, pending.address)
        self._save(replace(self.book, pending=None))

    def _take_over(self, contract: str, address: bytes, empty_at: int = -1) -> None:
        """What stands, whoever has deployed it."""
        known = self.book.contracts.get(contract)
        if known is not None and known.address == address and self._is_early_enough(known):
            self._write_down(contract, address, known.block_number)
            self._report(Progress(contract, Stage.KEPT, address))
            return
        block, is_certain = deployment_block(self._chain, address, self.book.factory, empty_at=empty_at)
        self._write_down(contract, address, block)
        self._report(Progress(contract, Stage.FOUND, address, block_number=block, is_certain=is_certain))

    def _is_early_enough(self, known: Deployed) -> bool:
        """Whether the book's block is not behind the contract's own: a test chain that began anew is another one."""
        if known.block_number > self._chain.block_number():
            return False
        return known.block_number == 0 or not stood(self._chain, known.address, known.block_number - 1)

    def _create(self, contract: str, address: bytes, empty_at: int) -> None:
        """Send it; that somebody else was first is as good."""
        call = Call(self.book.factory, deploying_calldata(artifact(contract).bytecode))
        try:
            _, receipt = self._send(contract, call, address)
        except (CallRefused, TransactionRefused, TransactionReverted):
            if not self._comes_to_stand(address):
                raise
            self._take_over(contract, address, empty_at)
        else:
            self._finish(contract, address, receipt)

    def _comes_to_stand(self, address: bytes) -> bool:
        """Whether somebody else's contract stands; where its transaction still waits for a block, once it does."""
        deadline = time.monotonic() + self._timeout
        while not self._chain.code(address):
            if time.monotonic() > deadline or not self._chain.code(address, block="pending"):
                return False
            time.sleep(_LOOK_SECONDS)
        return True

    def _finish(self, contract: str, address: bytes, receipt: Receipt[RawLog]) -> None:
        require_genuine_contract(self._chain, contract, address, self.book.factory)
        self._write_down(contract, address, receipt.block_number)
        self._report_deployed(contract, address, receipt)

    def _write_down(self, contract: str, address: bytes, block: int) -> None:
        compiled = artifact(contract)
        entry = Deployed(
            address, compiled.creation_code_hash, compiled.source_hash, _standard_json_name(self._path, contract), block
        )
        pending = self.book.pending
        left = None if pending is None or pending.contract == contract else pending
        self._save(replace(self.book, contracts={**self.book.contracts, contract: entry}, pending=left))

    # ----------------------------------------------------------------------------------------------------- sending

    def _send(self, name: str, call: Call, address: bytes | None = None) -> tuple[Pending, Receipt[RawLog]]:
        """Write down, send, wait. `address`: what it brings, where that is not a contract of the account's own."""
        signed = self._chain.sign(call, self._key, fees=self._fees)
        created = address or call.to or contract_address(signed.sender, signed.nonce)
        pending = Pending(name, created, signed.hash, self._chain.block_number())
        self._save(replace(self.book, pending=pending))
        self._chain.broadcast(signed)
        self._report(Progress(name, Stage.SENT, created, signed.hash))
        return pending, self.wait(signed)

    def _resume(self, name: str) -> Receipt[RawLog] | None:
        """Wait for what an earlier run has sent. None where there is nothing, where it was dropped, or where it failed,
        as it does when somebody else was first."""
        pending = self.book.pending
        if pending is None or pending.contract != name or not self._chain.knows(pending.transaction_hash):
            return None
        self._report(Progress(name, Stage.RESUMED, pending.address, pending.transaction_hash))
        try:
            return self._chain.wait_for(pending.transaction_hash, timeout=self._timeout)
        except TransactionReverted:
            return None

    def _report_deployed(self, name: str, address: bytes, receipt: Receipt[RawLog]) -> None:
        gas, block = receipt.gas_used, receipt.block_number
        self._report(Progress(name, Stage.DEPLOYED, address, receipt.transaction_hash, gas, block))

    def _save(self, book: AddressBook) -> None:
        if book != self.book:
            save_book(book, self._path)
            self.book = book


def _open_book(chain: Chain, path: Path) -> AddressBook:
    """The book in the file, brought up to these artifacts, or a new one; with the standard JSON inputs beside it."""
    compiled = artifact(ADJUDICATOR)
    book = AddressBook(chain.chain_id, CUSTOMARY_FACTORY, compiled.compiler_version, compiled.compiler_settings)
    if path.exists():
        earlier = load_book(path)
        require_chain(chain, earlier)
        book = replace(book, factory=earlier.factory, contracts=earlier.contracts, pending=earlier.pending)
    for contract in contracts_to_deploy():
        write_atomically(path.with_name(_standard_json_name(path, contract)), standard_json(contract))
    return book


def _standard_json_name(path: Path, contract: str) -> str:
    return f"{path.stem}.{contract}.standard-json-input.json"
