"""Deploys the adjudicator and the games, and compares a deployment with what stands on the chain.

The address book is written before each transaction and after each contract, so that a deployment that was killed at any
point goes on where it stood: what stands is kept, what waits is waited for, what was dropped is sent anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from channel.chain.book import AddressBook, Deployed, Pending, load_book, save_book, write_atomically
from channel.chain.chain import Call, Chain, RawLog, Receipt, contract_address
from channel.chain.errors import NoContract, NotGenuine, TransactionReverted, WrongChain
from channel.chain.genuine import ADJUDICATOR, require_genuine_contract
from channel.errors import LocalError
from channel.protocol.signing import Key
from contracts import artifact, artifact_names, standard_json

__all__ = [
    "BookOfOtherContracts",
    "Progress",
    "Stage",
    "Standing",
    "Verdict",
    "contracts_to_deploy",
    "deploy",
    "verify",
]


@dataclass(eq=False)
class BookOfOtherContracts(LocalError):
    """The book at `path` is of another version: at the address of `contract` stands other code. It is kept as it is,
    because channels may live there."""

    path: str
    contract: str
    address: bytes


class Stage(Enum):
    """What has just happened to a contract of a deployment."""

    KEPT = "stands already"
    SENT = "sent"
    RESUMED = "was sent before"
    DEPLOYED = "deployed"


@dataclass(frozen=True, slots=True)
class Progress:
    """`gas_used` and `block_number` are known once the contract was deployed in this run."""

    contract: str
    stage: Stage
    address: bytes
    transaction_hash: bytes
    gas_used: int | None = None
    block_number: int | None = None


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

    `timeout`: real seconds to wait for each transaction. Raises `WrongChain`, `BookOfOtherContracts`, `BookUnwritable`,
    and what sending raises; whatever it raises, the same call later goes on from there.
    """
    deployment = _Deployment(chain, key, path, report, timeout)
    for contract in contracts_to_deploy():
        deployment.bring(contract)
    return deployment.book


class _Deployment:
    """One run: the book as it stands in the file."""

    def __init__(self, chain: Chain, key: Key, path: Path, report: Callable[[Progress], None], timeout: float) -> None:
        self._chain, self._key, self._path = chain, key, path
        self._report, self._timeout = report, timeout
        self.book = _open_book(chain, path)

    def bring(self, contract: str) -> None:
        """Let the contract stand at the end, whatever there was before."""
        if not self._stands(contract) and not self._resume(contract):
            self._create(contract)

    def _stands(self, contract: str) -> bool:
        entry = self.book.contracts.get(contract)
        if entry is None:
            return False
        try:
            require_genuine_contract(self._chain, contract, entry.address)
        except NoContract:
            return False  # a test chain began anew, or a reorganisation took it
        except NotGenuine:
            raise BookOfOtherContracts(str(self._path), contract, entry.address) from None
        self._report(Progress(contract, Stage.KEPT, entry.address, entry.transaction_hash))
        return True

    def _resume(self, contract: str) -> bool:
        """Take over what an earlier run has sent, if it was mined or still waits."""
        pending = self.book.pending
        if pending is None or pending.contract != contract:
            return False
        if not self._chain.knows(pending.transaction_hash):
            return False
        self._report(Progress(contract, Stage.RESUMED, pending.address, pending.transaction_hash))
        try:
            receipt = self._chain.wait_for(pending.transaction_hash, timeout=self._timeout)
            self._finish(pending, receipt)
        except TransactionReverted:
            return False
        except NotGenuine:
            raise BookOfOtherContracts(str(self._path), contract, pending.address) from None
        return True

    def _create(self, contract: str) -> None:
        call = Call(None, artifact(contract).bytecode)
        signed = self._chain.sign(call, self._key)
        address = contract_address(signed.sender, signed.nonce)
        pending = Pending(contract, address, signed.hash, self._chain.block_number())
        self._save(replace(self.book, pending=pending))
        self._chain.broadcast(signed)
        self._report(Progress(contract, Stage.SENT, address, signed.hash))
        self._finish(pending, self._chain.wait(signed, timeout=self._timeout))

    def _finish(self, pending: Pending, receipt: Receipt[RawLog]) -> None:
        code_hash = require_genuine_contract(self._chain, pending.contract, pending.address)
        entry = Deployed(pending.address, code_hash, receipt.transaction_hash, receipt.block_number)
        contracts = {**self.book.contracts, pending.contract: entry}
        self._save(replace(self.book, contracts=contracts, pending=None))
        self._report(
            Progress(
                pending.contract,
                Stage.DEPLOYED,
                pending.address,
                receipt.transaction_hash,
                receipt.gas_used,
                receipt.block_number,
            )
        )

    def _save(self, book: AddressBook) -> None:
        save_book(book, self._path)
        self.book = book


def _open_book(chain: Chain, path: Path) -> AddressBook:
    """The book in the file, brought up to these artifacts, or a new one; with the standard JSON beside it."""
    compiled = artifact(ADJUDICATOR)
    book = AddressBook(
        chain.chain_id,
        compiled.source_hash,
        compiled.compiler_version,
        compiled.compiler_settings,
        f"{path.stem}.standard-json-input.json",
    )
    if path.exists():
        earlier = load_book(path)
        _require_chain(chain, earlier)
        book = replace(book, contracts=earlier.contracts, pending=earlier.pending)
    write_atomically(path.with_name(book.standard_json), standard_json())
    return book


def _require_chain(chain: Chain, book: AddressBook) -> None:
    if chain.chain_id != book.chain_id:
        raise WrongChain(chain.endpoint, book.chain_id, chain.chain_id)


# ---------------------------------------------------------------------------------------------------------- verifying


class Standing(Enum):
    """How a contract of the book stands on the chain."""

    GENUINE = "genuine"
    MISSING = "missing"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`recorded` is the runtime code hash in the book, `found` the one on the chain (None: no code); 32 bytes each.

    Genuine is a contract only where the code is that of our artifacts and the hash that of the book.
    """

    contract: str
    address: bytes
    standing: Standing
    recorded: bytes
    found: bytes | None


def verify(chain: Chain, book: AddressBook) -> list[Verdict]:
    """Compare each contract of the book with the chain. Raises `WrongChain`, and `UnknownArtifact` for a contract of
    another version."""
    _require_chain(chain, book)
    return [_verdict(chain, contract, entry) for contract, entry in sorted(book.contracts.items())]


def _verdict(chain: Chain, contract: str, entry: Deployed) -> Verdict:
    try:
        found = require_genuine_contract(chain, contract, entry.address)
    except NoContract:
        return Verdict(contract, entry.address, Standing.MISSING, entry.runtime_code_hash, None)
    except NotGenuine as error:
        return Verdict(contract, entry.address, Standing.DIFFERENT, entry.runtime_code_hash, error.found)
    standing = Standing.GENUINE if found == entry.runtime_code_hash else Standing.DIFFERENT
    return Verdict(contract, entry.address, standing, entry.runtime_code_hash, found)
