"""`forcemove inspect`: explain a signed state, a piece of hex, or a channel on a chain.

`--json` prints one object. Its `kind` is `signed-state`, `state`, `record`, `position` or `channel`; what else stands
in it, `signed_state.signed_state_finding` says for the first, `findings.hex_finding` for the next three, and
`standing.standing_finding` for the last.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import hexdigits
from typing import TYPE_CHECKING, Any

import click

from forcemove.channel.chain.addresses import parse_address, show_address
from forcemove.channel.cli.deploy import book_path, open_node
from forcemove.channel.cli.errors import EXIT_ERROR, Explained
from forcemove.channel.cli.findings import Finding, KnownApp, KnownBy, guess_app, hex_finding, show_hex
from forcemove.channel.cli.games import usable_games
from forcemove.channel.cli.pages import page
from forcemove.channel.cli.progress import waiting
from forcemove.channel.cli.signed_state import signed_state_finding
from forcemove.channel.errors import MalformedBytes
from forcemove.channel.protocol.encoding import channel_id
from forcemove.channel.protocol.json_text import MAX_LENGTH, parse_json
from forcemove.channel.protocol.wire import SignedStateFile, decode_file, parse_hex

if TYPE_CHECKING:
    from forcemove.channel.chain.adjudicator import Adjudicator
    from forcemove.channel.chain.book import AddressBook
    from forcemove.channel.chain.chain import Chain
    from forcemove.channel.cli.standing import Standing

__all__ = ["inspect"]


@click.command()
@click.argument("what", metavar="FILE|HEX|CHANNEL")
@click.option(
    "--chain", "endpoint", metavar="URL", help="Look at the chain, too: http(s)://, ws(s)://, or an IPC path."
)
@click.option(
    "--book",
    "book_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The address book that names the contracts.  [default: forcemove-CHAINID.json, where it exists]",
)
@click.option("--adjudicator", metavar="ADDRESS", help="The channel's adjudicator, where no book names it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a program to read.")
def inspect(what: str, endpoint: str | None, book_file: Path | None, adjudicator: str | None, as_json: bool) -> int:
    """Explain a signed state, a piece of hex, or a channel on a chain.

    FILE is a signed state, as `forcemove demo --save` writes them: its fields, the board, who has really signed, and
    what each participant could do now. With --chain the adjudicator itself is asked what it would accept.

    HEX begins with 0x: a state, a logged record or a game's position; its fields, and what is missing to check it.

    CHANNEL is a channel's id, 0x and 64 digits, and wants --chain: what is recorded, held and owed, and the seconds
    that are left of a challenge.

    Exits with 1 if a signature is wrong.
    """
    options = _Options(endpoint, book_file, None if adjudicator is None else parse_address(adjudicator))
    subject = _read(what)
    finding = _file_finding(subject, options) if isinstance(subject, SignedStateFile) else _hex(subject, options)
    click.echo(json.dumps(finding, indent=2) if as_json else page(finding))
    return EXIT_ERROR if _has_wrong_signature(finding) else 0


def _has_wrong_signature(finding: Finding) -> bool:
    """Bare hex names no signers, so its signatures cannot be wrong."""
    return finding["kind"] == "signed-state" and any(each["standing"] == "wrong" for each in finding["signatures"])


@dataclass(frozen=True, slots=True)
class _Options:
    endpoint: str | None
    book_file: Path | None
    adjudicator: bytes | None


# -------------------------------------------------------------------------------------------------------------- input


def _read(what: str) -> SignedStateFile | bytes:
    """What was named: a file's content, or bytes."""
    if what[:2].lower() == "0x":
        return _parse_hex(what)
    text = _read_file(what).strip()
    if text[:2].lower() == "0x":
        return _parse_hex(text)
    parse_json(text, "signed state")  # bounds the depth, which Python's own parser does not
    return decode_file(text)


def _parse_hex(text: str) -> bytes:
    if not set(text[2:]) <= set(hexdigits):
        raise MalformedBytes("piece of hex", "it has characters that are no hex digits")
    return parse_hex("0x" + text[2:], "piece of hex")


def _read_file(name: str) -> str:
    try:
        with Path(name).open("rb") as file:
            data = file.read(MAX_LENGTH + 1)
    except FileNotFoundError:
        raise Explained(
            f"There is no file {name!r:.80}.", "Hex begins with 0x; anything else is taken for the name of a file."
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Explained(f"{name!r:.80} cannot be read: {reason}.", "Give a file with a signed state.") from None
    if len(data) > MAX_LENGTH:
        raise Explained(
            f"{name!r:.80} is longer than any signed state ({MAX_LENGTH:,} bytes).", "It is something else."
        )
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Explained(f"{name!r:.80} is no text.", "A signed state is JSON; hex begins with 0x.") from None


def _games() -> Sequence[Any]:
    return usable_games()


def _book(options: _Options, chain_id: int) -> AddressBook | None:
    """The book that was named, else the usual one where it exists. Refuses that of another chain."""
    from forcemove.channel.chain.book import load_book

    path = options.book_file or book_path(chain_id)
    if options.book_file is None and not path.exists():
        return None
    book = load_book(path)
    if book.chain_id != chain_id:
        raise Explained(
            f"The address book {path} is of chain {book.chain_id}, but this is about chain {chain_id}.",
            "Name another with --book.",
        )
    return book


# ---------------------------------------------------------------------------------------------------------------- hex


def _hex(data: bytes, options: _Options) -> Finding:
    if len(data) == 32:
        return _channel(data, options)
    if options.endpoint or options.book_file or options.adjudicator:
        raise Explained(
            "Bare hex names neither its chain nor its channel, so there is nothing to look up.",
            "Leave --chain, --book and --adjudicator out, or give a signed-state file or a channel's id.",
        )
    return hex_finding(data, _games())


def _channel(id_: bytes, options: _Options) -> Finding:
    from forcemove.channel.protocol.outcome import destination_address

    if options.endpoint is None:
        raise Explained(
            "32 bytes are a channel's id or a hash; of itself it tells nothing.",
            "Name the channel's chain with --chain URL.",
        )
    if destination_address(id_) is not None:
        raise Explained(f"{show_hex(id_)} is no channel's id: its 12 high bytes are zero, as in an address.")
    chain = open_node(options.endpoint)
    book = _book(options, chain.chain_id)
    adjudicator = _adjudicator(chain, _address_of_adjudicator(options, book, chain.chain_id), _factory(book))
    standing = _standing(adjudicator, id_, book)
    if standing.is_unknown:
        raise Explained(
            f"The adjudicator {show_address(adjudicator.address)} knows nothing of channel {show_hex(id_)}.",
            "Nothing was ever paid in or recorded: the id, the chain or the adjudicator may be another.",
        )
    from forcemove.channel.cli.standing import standing_finding

    games = _games()
    return {"kind": "channel"} | standing_finding(standing, lambda state: guess_app(state.app_data, games))


def _address_of_adjudicator(options: _Options, book: AddressBook | None, chain_id: int) -> bytes:
    if options.adjudicator is not None:
        return options.adjudicator
    if book is None:
        raise Explained(
            f"Which adjudicator? There is no address book at {book_path(chain_id)}.",
            "Name a book with --book, or the contract with --adjudicator ADDRESS.",
        )
    return book.adjudicator


def _factory(book: AddressBook | None) -> bytes:
    """That of the book, else the customary one."""
    from forcemove.channel.chain.create2 import CUSTOMARY_FACTORY

    return book.factory if book else CUSTOMARY_FACTORY


def _adjudicator(chain: Chain, address: bytes, factory: bytes, game: Any = None) -> Adjudicator:
    """The adjudicator at an address, once it is known to be ours; a look-alike could answer anything."""
    from forcemove.channel.chain.adjudicator import Adjudicator
    from forcemove.channel.chain.genuine import adjudicator_artifact, require_genuine_contract
    from forcemove.channel.chain.reverts import NO_ERRORS, app_errors

    require_genuine_contract(chain, adjudicator_artifact(), address, factory)
    return Adjudicator(chain, address, app_errors(game.artifact, game.errors) if game else NO_ERRORS)


def _standing(adjudicator: Adjudicator, id_: bytes, book: AddressBook | None, **more: Any) -> Standing:
    from forcemove.channel.cli.standing import read_standing

    with waiting("Reading the chain"):
        return read_standing(adjudicator, id_, book.deployment_block if book else 0, **more)


# -------------------------------------------------------------------------------------------------------------- files


def _file_finding(file: SignedStateFile, options: _Options) -> Finding:
    chain_id, address = file.domain.chain_id, file.domain.adjudicator
    if options.adjudicator not in (None, address):
        raise Explained(
            f"The state names the adjudicator {show_address(address)}, not the one given.", "Leave --adjudicator out."
        )
    book = _book(options, chain_id)
    if options.endpoint is None:
        return signed_state_finding(file, _app(file, book, None))
    chain = open_node(options.endpoint)
    if chain.chain_id != chain_id:
        raise Explained(
            f"The state is of chain {chain_id}, but {chain.endpoint} is chain {chain.chain_id}.",
            "Give the node of the state's chain with --chain.",
        )
    app = _app(file, book, chain)
    adjudicator = _adjudicator(chain, address, _factory(book), app and app.game)
    state, participants = file.signed.state, file.fixed_part.participants
    id_ = channel_id(file.fixed_part, file.domain)
    standing = _standing(adjudicator, id_, book, accounts=participants, outcome=state.outcome)
    return signed_state_finding(file, app, adjudicator, standing)


def _app(file: SignedStateFile, book: AddressBook | None, chain: Chain | None) -> KnownApp | None:
    """The game of a channel: told by the contract on the chain where there is one, else by the book, else by its
    bytes."""
    games, address = _games(), file.fixed_part.app_definition
    if chain is not None:
        return _app_on_chain(chain, address, _factory(book), games)
    for game in games:
        contract = game.artifact.name
        if book and contract in book.contracts and book.contracts[contract].address == address:
            return KnownApp(game, KnownBy.BOOK)
    return guess_app(file.signed.state.app_data, games)


def _app_on_chain(chain: Chain, address: bytes, factory: bytes, games: Sequence[Any]) -> KnownApp | None:
    from forcemove.channel.chain.errors import NoContract, NotGenuine
    from forcemove.channel.chain.genuine import require_genuine_contract

    for game in games:
        try:
            require_genuine_contract(chain, game.artifact, address, factory)
        except (NotGenuine, NoContract):
            continue
        return KnownApp(game, KnownBy.CODE)
    return None
