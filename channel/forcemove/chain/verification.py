"""Compares an address book with its chain: whether each address follows from the compiled contract's creation code, and
has code.

A contract of a game that is not installed can only be compared with the creation code's hash in the book itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from forcemove.artifact import Artifact
from forcemove.chain.book import AddressBook, Deployed, GameOfContract
from forcemove.chain.chain import Chain
from forcemove.chain.create2 import SALT, create2_address, derived_address
from forcemove.chain.errors import NoContract, NotConfirmed, NotGenuine, WrongChain
from forcemove.chain.genuine import adjudicator_artifact, require_genuine_contract
from forcemove.game import PlayableApp
from forcemove.registry import installed_games


class ContractStatus(Enum):
    """How a contract of the book compares with the chain."""

    GENUINE = "genuine"
    MISSING = "missing"
    UNCONFIRMED = "not deep enough yet"
    DIFFERENT = "different"
    UNKNOWN = "of a game that is not installed"


@dataclass(frozen=True, slots=True)
class ContractVerdict:
    """The comparison of one contract. `address`: from the book; `derived`: what follows from the creation code (20
    bytes each); `has_code`: whether code is at the derived address. A contract is genuine where both addresses are one
    and the code is deep enough.

    The status of a contract of no installed game is `UNKNOWN`, unless the book contradicts itself (`DIFFERENT`) or
    there is no code (`MISSING`): `derived` then follows from the hash in the book, and `game` is the book's.
    """

    contract: str
    address: bytes
    derived: bytes
    status: ContractStatus
    has_code: bool
    game: GameOfContract | None = None


def verify(
    chain: Chain, book: AddressBook, games: Iterable[PlayableApp] | None = None, *, confirmations: int = 1
) -> list[ContractVerdict]:
    """Compare each contract of the book with the chain, `confirmations` blocks deep. `games`: those whose contracts are
    known, all installed ones unless given. Raises `WrongChain`, `NoTransientStorage`."""
    require_chain(chain, book)
    chain.require_transient_storage()
    known = {game.artifact.name: game.artifact for game in (installed_games().games if games is None else games)}
    known[adjudicator_artifact().name] = adjudicator_artifact()
    return [
        _verdict(chain, known[name], entry, book.factory, confirmations)
        if name in known
        else _verdict_by_book(chain, name, entry, book.factory)
        for name, entry in sorted(book.contracts.items())
    ]


def _verdict(chain: Chain, contract: Artifact, entry: Deployed, factory: bytes, confirmations: int) -> ContractVerdict:
    derived, status = derived_address(contract, factory), ContractStatus.GENUINE
    try:
        require_genuine_contract(chain, contract, entry.address, factory, confirmations=confirmations)
    except NotGenuine:
        status = ContractStatus.DIFFERENT
    except NoContract:
        status = ContractStatus.MISSING
    except NotConfirmed:
        status = ContractStatus.UNCONFIRMED
    return ContractVerdict(contract.name, entry.address, derived, status, bool(chain.code(derived)), entry.game)


def _verdict_by_book(chain: Chain, contract: str, entry: Deployed, factory: bytes) -> ContractVerdict:
    derived = create2_address(factory, SALT, entry.creation_code_hash)
    has_code = bool(chain.code(derived))
    status = ContractStatus.UNKNOWN if has_code else ContractStatus.MISSING
    if entry.address != derived:
        status = ContractStatus.DIFFERENT
    return ContractVerdict(contract, entry.address, derived, status, has_code, entry.game)


def require_chain(chain: Chain, book: AddressBook) -> None:
    """Refuse the book of another chain. Raises `WrongChain`."""
    if chain.chain_id != book.chain_id:
        raise WrongChain(chain.endpoint, book.chain_id, chain.chain_id)
