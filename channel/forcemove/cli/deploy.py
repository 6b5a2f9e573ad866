"""`forcemove deploy`: bring the contracts to a chain, and write down where they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forcemove.chain.addresses import show_address
from forcemove.cli.endpoints import endpoint_name, require_lasting
from forcemove.cli.errors import MainnetRefused
from forcemove.cli.games import load_game, usable_games
from forcemove.cli.key import open_key_file
from forcemove.cli.parameters import FILE, KEY_FILE, NODE
from forcemove.cli.terminal import waiting
from forcemove.cli.wrapping import echo

if TYPE_CHECKING:
    from forcemove.chain.book import AddressBook
    from forcemove.chain.chain import Chain
    from forcemove.chain.progress import Progress
    from forcemove.cli.terminal import Terminal

MAINNET = 1


def book_path(chain_id: int) -> Path:
    """The usual path of a chain's address book: in the current directory."""
    return Path(f"forcemove-{chain_id}.json")


def open_book(path: Path | None, chain: Chain) -> AddressBook:
    """A chain's address book, at `book_path` unless another path is given. Raises `WrongChain` where the book is
    another chain's, and as `load_book`."""
    from forcemove.chain.book_file import load_book
    from forcemove.chain.errors import WrongChain

    book = load_book(path or book_path(chain.chain_id))
    if book.chain_id != chain.chain_id:
        raise WrongChain(chain.endpoint, book.chain_id, chain.chain_id)
    return book


def open_node(endpoint: str) -> Chain:
    """The chain of a node that outlives this command: a deployment to a chain of our own would be lost."""
    from forcemove.chain.local import connect

    require_lasting([endpoint])
    with waiting(f"Asking {endpoint_name(endpoint)}"):
        return connect(endpoint)


def require_not_mainnet(chain: Chain, allowed: bool) -> None:
    """Refuse to spend real money without permission."""
    if chain.chain_id == MAINNET and not allowed:
        raise MainnetRefused()


@click.command()
@NODE
@click.option(
    "--key",
    "key_file",
    required=True,
    type=KEY_FILE,
    help="The key file of the account that pays (see `forcemove key`).",
)
@click.option(
    "--out",
    type=FILE,
    help="The address book to write or continue.  [default: forcemove-CHAINID.json]",
)
@click.option(
    "--game",
    "names",
    multiple=True,
    metavar="NAME",
    help="Deploy the contract of this game; may be given several times.  [default: all installed games]",
)
@click.option("--allow-mainnet", is_flag=True, help="Deploy even to Ethereum's main network, for real money.")
@click.option("--json", "as_json", is_flag=True, help="Print the address book for a program to read.")
def deploy(
    endpoint: str, key_file: Path, out: Path | None, names: tuple[str, ...], allow_mainnet: bool, as_json: bool
) -> None:
    """Deploy the adjudicator and the games to a chain.

    The games are those that are installed, or those that are named with --game. What the address book names besides
    stays in it: a game that was installed later is added to it by the same command.

    Every address follows from the contract's code, and is the same on every chain that has the customary factory
    (0x4e59b44847b379578588920cA78FbF26c0B4956C). A chain without it gets it, for 0.01 ether; a node that does not take
    the transaction that brings it gets your factory, and addresses of its own. What anybody has deployed already
    is taken over, and nothing is sent for it.

    Writes an address book: each contract's address and since when it is there, the factory, the hashes of the code,
    the compiler's settings; and beside it the standard JSON input of each contract, which block explorers want for
    verifying the sources. The other commands read the book.

    If a deployment is interrupted, the same command goes on where it stopped and deploys nothing twice.
    """
    from forcemove.chain.deployment import deploy as bring

    games = tuple(map(load_game, names)) or usable_games()
    chain = open_node(endpoint)
    require_not_mainnet(chain, allow_mainnet)
    account = open_key_file(key_file)
    path = out or book_path(chain.chain_id)
    with waiting("Deploying") as terminal:
        book = bring(chain, account, path, games, on_progress=lambda progress: _notify(progress, terminal))
    if as_json:
        click.echo(json.dumps(book.to_json(), indent=2))
    else:
        echo(_summary(book, path))


def _notify(progress: Progress, terminal: Terminal) -> None:
    terminal.note(f"{progress.contract}: {progress.stage.value}, at {show_address(progress.address)}")
    if progress.gas_used is not None:
        terminal.note(f"  block {progress.block_number}, {progress.gas_used:,} gas")
    elif progress.block_number is not None:
        terminal.note(f"  {_since(progress)}")
    is_waiting = progress.stage.name in ("SENT", "RESUMED")
    terminal.status("Waiting for a block" if is_waiting else "Deploying")


def _since(progress: Progress) -> str:
    if progress.is_certain:
        return f"since block {progress.block_number}"
    return (
        "the node keeps no old states to tell since when; logs will be looked for from block "
        f"{progress.block_number} on, which may take long"
    )


def _summary(book: AddressBook, path: Path) -> str:
    lines = [f"Chain {book.chain_id}, from block {book.deployment_block}, by the factory {show_address(book.factory)}:"]
    lines += [f"  {show_address(entry.address)}  {name}" for name, entry in sorted(book.contracts.items())]
    inputs = path.with_name(f"{path.stem}.CONTRACT.standard-json-input.json")
    return "\n".join([*lines, f"Written to {path}; for block explorers, {inputs}."])
