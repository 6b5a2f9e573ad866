"""Compares an address book with the chain that it is about: does each address follow from the compiled contract's
creation code, and does code stand there?
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from forcemove.channel.chain.book import AddressBook
from forcemove.channel.chain.chain import Chain
from forcemove.channel.chain.errors import NoContract, NotConfirmed, NotGenuine, WrongChain
from forcemove.channel.chain.genuine import derived_address, require_genuine_contract

__all__ = ["Standing", "Verdict", "require_chain", "verify"]


class Standing(Enum):
    """How a contract of the book stands on the chain."""

    GENUINE = "genuine"
    MISSING = "missing"
    UNCONFIRMED = "not deep enough yet"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`address`: what the book says; `derived`: what follows from the creation code (20 bytes each); `has_code`:
    whether code stands at the derived address. A contract is genuine where both are one and code stands deep enough."""

    contract: str
    address: bytes
    derived: bytes
    standing: Standing
    has_code: bool


def verify(chain: Chain, book: AddressBook, *, confirmations: int = 1) -> list[Verdict]:
    """Compare each contract of the book with the chain, `confirmations` blocks deep. Raises `WrongChain`, and
    `UnknownArtifact` for a contract of another version."""
    require_chain(chain, book)
    return [
        _verdict(chain, contract, entry.address, book.factory, confirmations)
        for contract, entry in sorted(book.contracts.items())
    ]


def _verdict(chain: Chain, contract: str, address: bytes, factory: bytes, confirmations: int) -> Verdict:
    derived, standing = derived_address(contract, factory), Standing.GENUINE
    try:
        require_genuine_contract(chain, contract, address, factory, confirmations=confirmations)
    except NotGenuine:
        standing = Standing.DIFFERENT
    except NoContract:
        standing = Standing.MISSING
    except NotConfirmed:
        standing = Standing.UNCONFIRMED
    return Verdict(contract, address, derived, standing, bool(chain.code(derived)))


def require_chain(chain: Chain, book: AddressBook) -> None:
    """Refuse the book of another chain. Raises `WrongChain`."""
    if chain.chain_id != book.chain_id:
        raise WrongChain(chain.endpoint, book.chain_id, chain.chain_id)
