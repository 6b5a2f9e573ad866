"""`forcemove key`: make, import and show key files, and give their accounts ether on a development chain."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from forcemove.chain.addresses import show_address
from forcemove.cli.errors import Explained
from forcemove.cli.json_output import print_document
from forcemove.cli.parameters import AMOUNT, FILE, JSON, NODE
from forcemove.cli.terminal import waiting
from forcemove.cli.typed import ask
from forcemove.cli.wrapping import echo
from forcemove.keys.key_files import PRIVATE_KEY_VARIABLE, UNLOCK_VARIABLE
from forcemove.protocol.signing import Key
from forcemove.text.amounts import format_amount

Opened = TypeVar("Opened")
_FILE = click.argument("file", type=FILE)
_TRIES = 3
"""How often a person may type the passphrase of a key file."""


@click.group()
def key() -> None:
    """Make, import and show key files, and give them ether on a development chain.

    A key file holds a private key, encrypted with a passphrase, as wallets write it (Web3 Secret Storage). The
    passphrase is asked for, or read from the environment variable FORCEMOVE_PASSPHRASE; it is never an argument, which
    others could read.
    """


@key.command()
@_FILE
@JSON
def new(file: Path, as_json: bool) -> None:
    """Make a fresh key and write it to FILE, encrypted."""
    from forcemove.keys.key_files import new_key

    _write(file, new_key(), as_json)


@key.command("import")
@_FILE
@JSON
def import_(file: Path, as_json: bool) -> None:
    """Write an existing private key to FILE, encrypted.

    The key, 64 hex digits, is read from the environment variable FORCEMOVE_PRIVATE_KEY, else asked for or read from
    standard input.
    """
    from forcemove.keys.key_files import parse_private_key

    text = os.environ.get(PRIVATE_KEY_VARIABLE)
    if text is None:
        text = ask(click.prompt, "Private key", hide_input=True) if sys.stdin.isatty() else sys.stdin.readline()
    _write(file, parse_private_key(text), as_json)


@key.command()
@_FILE
@JSON
def show(file: Path, as_json: bool) -> None:
    """Show the address of FILE. The key itself is never shown. The passphrase is only needed where the file names no
    address."""
    _print(file, _account(file), as_json)


@key.command()
@_FILE
@NODE
@click.option(
    "--amount", type=AMOUNT, default="10 ether", show_default=True, metavar="AMOUNT", help="Such as '0.5 ether'."
)
@JSON
def fund(file: Path, endpoint: str, amount: int, as_json: bool) -> None:
    """Give the account of FILE ether on a development chain: one of anvil, hardhat, ganache or geth --dev.

    It comes from an account that the node holds unlocked or whose key everybody knows, or the node sets the balance.
    Any other chain is refused. The passphrase is only needed where the file names no address.
    """
    from forcemove.chain.local import connect
    from forcemove.cli.endpoints import endpoint_name, require_lasting
    from forcemove.cli.funding import fund as give
    from forcemove.inspect.documents import FundedKeyDocument

    account = _account(file)
    require_lasting([endpoint])
    with waiting(f"Asking {endpoint_name(endpoint)}"), connect(endpoint) as chain:
        funded = give(chain, account, amount)
    if as_json:
        balances = str(funded.before), str(funded.after)
        print_document(FundedKeyDocument(show_address(account), str(file), *balances), None)
        return
    echo(f"{show_address(account)}  {file}")
    echo(f"before      {format_amount(funded.before)}")
    echo(f"now         {format_amount(funded.after)}, from {funded.giver}")


def _write(file: Path, made: Key, as_json: bool) -> None:
    from forcemove.keys.key_files import KeyFileExists, write_key_file

    if file.exists():
        raise KeyFileExists(str(file))
    write_key_file(file, made, _passphrase(file, confirm=True))
    _print(file, made.address, as_json)
    if not as_json:
        click.echo("Keep the file and the passphrase: without both of them the key is lost.", err=True)


def _print(file: Path, address: bytes, as_json: bool) -> None:
    from forcemove.inspect.documents import KeyDocument

    document = KeyDocument(show_address(address), str(file))
    if as_json:
        print_document(document, None)
    else:
        click.echo(f"{document.address}  {file}")


def _account(file: Path) -> bytes:
    """The address of a key file, which is opened where it names none."""
    from forcemove.keys.key_files import address_in_key_file

    return address_in_key_file(file) or open_key_file(file).address


def open_key_file(file: Path) -> Key:
    """The key in a key file, see `open_with_passphrase`."""
    from forcemove.keys.key_files import read_key_file

    return open_with_passphrase(file, read_key_file)


def open_with_passphrase(file: Path, read: Callable[[Path, str], Opened]) -> Opened:
    """What `read` finds in a key file, the passphrase from the environment or asked for; a wrong one that was typed is
    asked for again. Raises what `read` raises, see `forcemove.keys.key_files`."""
    from forcemove.keys.key_files import WrongPassphrase, address_in_key_file

    address_in_key_file(file)  # a file that is not a key file is refused before anybody is asked for a passphrase
    tries = 1 if UNLOCK_VARIABLE in os.environ else _TRIES
    while True:
        tries -= 1
        try:
            passphrase = _passphrase(file, confirm=False)
            with waiting(f"Opening {file}"):
                return read(file, passphrase)
        except WrongPassphrase:
            if not tries:
                raise
            click.echo("That is not its passphrase. Try again.", err=True)


def _passphrase(file: Path, *, confirm: bool) -> str:
    given = os.environ.get(UNLOCK_VARIABLE)
    if given is not None:
        return given
    if not sys.stdin.isatty():
        raise Explained(
            f"The passphrase of {file} is needed, and there is nobody to ask.",
            f"Set the environment variable {UNLOCK_VARIABLE}.",
        )
    asked: str = ask(click.prompt, f"Passphrase of {file}", hide_input=True, confirmation_prompt=confirm)
    return asked
