"""The address book of a deployment, in its file after each change, with what block explorers want beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from forcemove.artifact import Artifact
from forcemove.chain.book import AddressBook, Deployed, GameOfContract
from forcemove.chain.book_file import load_book, save_book, write_atomically
from forcemove.chain.chain import Chain
from forcemove.chain.create2 import CUSTOMARY_FACTORY
from forcemove.chain.genuine import adjudicator_artifact
from forcemove.chain.verification import require_chain
from forcemove.game import PlayableApp
from forcemove.registry import installed_games


class DeploymentBook:
    """What a deployment has written down. `path`: the file; `book`: as it is there."""

    def __init__(self, chain: Chain, path: Path, games: Iterable[PlayableApp]) -> None:
        """Take up the book in a file, or begin one.

        - `chain`: the book's.
        - `path`: the file.
        - `games`: whose contracts are deployed.

        Raises `WrongChain`, and what reading the book raises.
        """
        self.path, self._games = path, _games_of_contracts(games)
        self.book = _open_book(chain, path)

    def open(self, contracts: Iterable[Artifact]) -> None:
        """Write down what block explorers want of these contracts. Raises `BookUnwritable`."""
        for contract in contracts:
            if contract.standard_json_text is not None:
                path = self.path.with_name(_standard_json_name(self.path, contract.name))
                write_atomically(path, contract.standard_json_text)

    def change(self, **changes: Any) -> None:
        """Change fields of the book. Raises `BookUnwritable`."""
        book = replace(self.book, **changes)
        if book != self.book:
            save_book(book, self.path)
            self.book = book

    def add(self, contract: Artifact, address: bytes, block: int) -> None:
        """Write down a contract that is there since this block; no transaction is waited for any more. Raises
        `BookUnwritable`."""
        name = contract.name
        entry = Deployed(
            address,
            contract.creation_code_hash,
            contract.source_hash,
            None if contract.standard_json is None else _standard_json_name(self.path, name),
            block,
            self._games.get(name),
        )
        self.change(contracts={**self.book.contracts, name: entry}, pending=None)


def _open_book(chain: Chain, path: Path) -> AddressBook:
    """The book in the file, or a new one."""
    compiled = adjudicator_artifact()
    book = AddressBook(chain.chain_id, CUSTOMARY_FACTORY, compiled.compiler_version, compiled.compiler_settings)
    if path.exists():
        earlier = load_book(path)
        require_chain(chain, earlier)
        book = replace(book, factory=earlier.factory, contracts=earlier.contracts, pending=earlier.pending)
    return book


def _standard_json_name(path: Path, contract: str) -> str:
    return f"{path.stem}.{contract}.standard-json-input.json"


def _games_of_contracts(games: Iterable[PlayableApp]) -> dict[str, GameOfContract]:
    """The games by the names of their contracts. A contract that several games share is written down as the first
    one's."""
    found: dict[str, GameOfContract] = {}
    for game in games:
        distribution = installed_games().distribution_of(game)
        of = GameOfContract(game.name, distribution, game.artifact.compiler_version)
        found.setdefault(game.artifact.name, of)
    return found
