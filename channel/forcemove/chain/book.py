"""The address book of a deployment: it tells commands and clients the contracts' addresses on a chain. Its file is
`book_file`'s."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from forcemove.artifact import ADJUDICATOR
from forcemove.chain.addresses import show_address
from forcemove.chain.create2 import SALT
from forcemove.errors import LocalError
from forcemove.protocol.codec.json_text import hex_text

FORMAT, VERSION = "forcemove-address-book", 2
"""How a book's file names its format, and the version that this program writes and reads."""


class NotInBook(LocalError):
    """The deployment has no such contract: it is unfinished, or of another version."""

    contract: str


@dataclass(frozen=True, slots=True)
class GameOfContract:
    """The package that must be installed to use a contract: the game's `name`, and the `distribution` that had the game
    when it was deployed, with its version, where there was one. `compiler_version`: of the game's own compiler."""

    name: str
    distribution: str | None
    compiler_version: str


@dataclass(frozen=True, slots=True)
class Deployed:
    """A deployed contract.

    - `address`: 20 bytes.
    - `creation_code_hash`: the Keccak-256 of the creation code, 32 bytes.
    - `source_hash`: the SHA-256 of the sources and the compiler's settings, 32 bytes.
    - `standard_json`: the name of the file in the book's folder that block explorers want; None where the contract came
      without its sources.
    - `block_number`: the contract has no logs before this block: its own, where that could be found out.
    - `game`: the contract's game, where that was known.
    """

    address: bytes
    creation_code_hash: bytes
    source_hash: bytes
    standard_json: str | None
    block_number: int
    game: GameOfContract | None = None


@dataclass(frozen=True, slots=True)
class Pending:
    """A transaction that was about to be sent: the contract that it deploys, that contract's address, and an earlier
    block."""

    contract: str
    address: bytes
    transaction_hash: bytes
    block_number: int


@dataclass(frozen=True, slots=True)
class AddressBook:
    """The contracts that were deployed on a chain, the factory (20 bytes) that deployed them, and the compiler.

    `compiler_version` and `compiler_settings` are those of the adjudicator; a game's settings are in its standard JSON
    input. `pending` is not None while a deployment is unfinished.
    """

    chain_id: int
    factory: bytes
    compiler_version: str
    compiler_settings: Mapping[str, Any]
    contracts: Mapping[str, Deployed] = field(default_factory=dict)
    pending: Pending | None = None

    def find(self, contract: str) -> Deployed:
        """A contract by its name. Raises `NotInBook`."""
        if contract not in self.contracts:
            raise NotInBook(contract)
        return self.contracts[contract]

    @property
    def adjudicator(self) -> bytes:
        """The adjudicator's address. Raises `NotInBook`."""
        return self.find(ADJUDICATOR).address

    @property
    def deployment_block(self) -> int:
        """The first block that can have logs; 0 where no contract is deployed yet."""
        return min((entry.block_number for entry in self.contracts.values()), default=0)

    def to_json(self) -> dict[str, Any]:
        """The content of the file."""
        return {
            "format": f"{FORMAT}/{VERSION}",
            "chainId": str(self.chain_id),
            "factory": show_address(self.factory),
            "salt": hex_text(SALT),
            "deploymentBlock": self.deployment_block,
            "contracts": {name: _deployed_json(self.contracts[name]) for name in sorted(self.contracts)},
            "pending": self.pending and _pending_json(self.pending),
            "compiler": {"version": self.compiler_version, "settings": dict(self.compiler_settings)},
        }


def _deployed_json(entry: Deployed) -> dict[str, Any]:
    """Books that were written before games could come from elsewhere have no `game`."""
    content = {
        "address": show_address(entry.address),
        "block": entry.block_number,
        "creationCodeHash": hex_text(entry.creation_code_hash),
        "sourceHash": hex_text(entry.source_hash),
        "standardJson": entry.standard_json,
    }
    return content if entry.game is None else content | {"game": _game_json(entry.game)}


def _game_json(game: GameOfContract) -> dict[str, Any]:
    return {"name": game.name, "distribution": game.distribution, "compilerVersion": game.compiler_version}


def _pending_json(pending: Pending) -> dict[str, Any]:
    return {
        "contract": pending.contract,
        "address": show_address(pending.address),
        "transaction": hex_text(pending.transaction_hash),
        "block": pending.block_number,
    }
