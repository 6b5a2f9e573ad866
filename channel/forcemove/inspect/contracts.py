"""Finds the contracts that a channel names: in an address book, or on its chain, where an address proves the code."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.book import AddressBook
from forcemove.chain.book_file import load_book
from forcemove.chain.chain import Chain
from forcemove.chain.create2 import CUSTOMARY_FACTORY
from forcemove.chain.errors import NoContract, NotGenuine
from forcemove.chain.genuine import adjudicator_artifact, require_genuine_contract
from forcemove.chain.reverts import NO_ERRORS, app_errors
from forcemove.game import Game
from forcemove.inspect.apps import KnownApp, KnownBy, app_in_book, guess_app
from forcemove.inspect.errors import AdjudicatorNotNamed, BookOfAnotherChain


def find_book(chain_id: int, named: Path | None, usual: Path) -> AddressBook | None:
    """The book that was named, else the usual one where it exists. Raises what `load_book` raises, and
    `BookOfAnotherChain`."""
    if named is None and not usual.exists():
        return None
    path = named or usual
    book = load_book(path)
    if book.chain_id != chain_id:
        raise BookOfAnotherChain(str(path), chain_id, book.chain_id)
    return book


def adjudicator_address(chain_id: int, named: bytes | None, book: AddressBook | None) -> bytes:
    """The adjudicator's address (20 bytes) that was named, else the book's. Raises `AdjudicatorNotNamed`,
    `NotInBook`."""
    if named is not None:
        return named
    if book is None:
        raise AdjudicatorNotNamed(chain_id)
    return book.adjudicator


def open_adjudicator(chain: Chain, address: bytes, book: AddressBook | None, game: Game | None = None) -> Adjudicator:
    """The adjudicator at an address, once it is known to be genuine: a look-alike could answer anything. `game`: the
    one whose errors it may revert with. Raises what `require_genuine_contract` raises."""
    require_genuine_contract(chain, adjudicator_artifact(), address, _factory(book))
    return Adjudicator(chain, address, app_errors(game.artifact, game.errors) if game else NO_ERRORS)


def find_app(
    address: bytes, app_data: bytes, games: Iterable[Game], chain: Chain | None, book: AddressBook | None
) -> KnownApp | None:
    """The game of a channel, None where it is not known: found by the contract on the chain if there is a chain, else
    by the book, else by its bytes.

    - `address`: 20 bytes, the `appDefinition` of the channel.
    - `app_data`: of one of its states.
    - `games`: the games to choose from.
    - `chain`: the channel's chain, if it is at hand.
    - `book`: the address book, if there is one.
    """
    games = tuple(games)
    if chain is not None:
        return app_on_chain(chain, address, book, games)
    return app_in_book(address, book, games) or guess_app(app_data, games)


def app_on_chain(chain: Chain, address: bytes, book: AddressBook | None, games: Iterable[Game]) -> KnownApp | None:
    """The game whose contract is at this address (20 bytes)."""
    for game in games:
        try:
            require_genuine_contract(chain, game.artifact, address, _factory(book))
        except (NotGenuine, NoContract):
            continue
        return KnownApp(game, KnownBy.CODE)
    return None


def _factory(book: AddressBook | None) -> bytes:
    """The book's factory, else the customary one."""
    return book.factory if book else CUSTOMARY_FACTORY
