"""`forcemove inspect`: explain a signed state, a game's record, a piece of hex, or a channel on a chain.

`--json` prints one object; `inspect.report_json` says what is in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forcemove.chain.addresses import parse_address
from forcemove.cli.deploy import book_path, open_node
from forcemove.cli.errors import EXIT_ERROR, Explained
from forcemove.cli.games import usable_games
from forcemove.cli.json_output import print_document
from forcemove.cli.pages import page
from forcemove.cli.parameters import ENDPOINT, FILE, JSON
from forcemove.cli.terminal import waiting
from forcemove.cli.wrapping import echo
from forcemove.inspect.bare import BareReport, CallReport, inspect_bytes, inspect_call, is_call
from forcemove.inspect.contracts import find_book
from forcemove.inspect.inspection import (
    AnyFile,
    Report,
    inspect_channel,
    inspect_file,
    inspect_record,
    parse_subject,
    require_channel_id,
)
from forcemove.inspect.onchain import ChannelReport
from forcemove.inspect.report_json import report_document
from forcemove.inspect.signed_state import SignedStateReport
from forcemove.protocol.codec.json_text import MAX_LENGTH
from forcemove.protocol.codec.wire import SignedStateFile

if TYPE_CHECKING:
    from forcemove.chain.book import AddressBook


@click.command()
@click.argument("what", metavar="FILE|HEX|CHANNEL")
@ENDPOINT
@click.option(
    "--book",
    "book_file",
    type=FILE,
    help="The address book that names the contracts.  [default: forcemove-CHAINID.json, where it exists]",
)
@click.option("--adjudicator", metavar="ADDRESS", help="The channel's adjudicator, where no book names it.")
@JSON
def inspect(what: str, endpoint: str | None, book_file: Path | None, adjudicator: str | None, as_json: bool) -> int:
    """Explain a signed state, a game's record, a piece of hex, or a channel on a chain.

    FILE is a signed state, as `forcemove demo --save` writes them: its fields, the board, who has really signed, and
    what each participant could do now. With --chain the adjudicator itself is asked what it would accept.

    FILE may be the record of a game, too: every signature and every move is checked,
    and the result is told; with --chain also whether the chain has paid it. A record that was changed is an error.

    HEX begins with 0x: a state, a logged record or a game's position; its fields, and what is missing to check it.

    CHANNEL is a channel's id, 0x and 64 digits, and wants --chain: what is recorded, held and owed, and the seconds
    that are left of a challenge.

    Exits with 1 if a signature is wrong.
    """
    options = _Options(endpoint, book_file, None if adjudicator is None else parse_address(adjudicator))
    report = _inspect(_read(what), options)
    if as_json:
        print_document(report_document(report))
    else:
        echo(page(report))
    return EXIT_ERROR if isinstance(report, SignedStateReport) and report.has_wrong_signature else 0


@dataclass(frozen=True, slots=True)
class _Options:
    endpoint: str | None
    book_file: Path | None
    adjudicator: bytes | None

    def find_book(self, chain_id: int) -> AddressBook | None:
        return find_book(chain_id, self.book_file, book_path(chain_id))


# -------------------------------------------------------------------------------------------------------------- input


def _read(what: str) -> AnyFile | bytes:
    """The content of what was named: a file's, or bytes."""
    return parse_subject(what if what[:2].lower() == "0x" else _read_file(what).strip())


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
        raise Explained(
            f"{name!r:.80} cannot be read: {reason}.", "Give a file with a signed state, or a game's record."
        ) from None
    if len(data) > MAX_LENGTH:
        raise Explained(
            f"{name!r:.80} is longer than any file to inspect ({MAX_LENGTH:,} bytes).", "It is something else."
        )
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Explained(
            f"{name!r:.80} is not text.", "A signed state and a game's record are JSON; hex begins with 0x."
        ) from None


# ------------------------------------------------------------------------------------------------------------- calling


def _inspect(subject: AnyFile | bytes, options: _Options) -> Report:
    if not isinstance(subject, bytes):
        return _inspect_file(subject, options)
    return _inspect_channel(subject, options) if len(subject) == 32 else _inspect_hex(subject, options)


def _inspect_hex(data: bytes, options: _Options) -> BareReport | CallReport:
    if options.endpoint or options.book_file or options.adjudicator:
        raise Explained(
            "Bare hex names neither its chain nor its channel, so there is nothing to look up.",
            "Leave --chain, --book and --adjudicator out, or give a signed-state file or a channel's id.",
        )
    return inspect_call(data, usable_games()) if is_call(data) else inspect_bytes(data, usable_games())


def _inspect_channel(id_: bytes, options: _Options) -> ChannelReport:
    if options.endpoint is None:
        raise Explained(
            "32 bytes are a channel's id or a hash; by themselves they say nothing.",
            "Name the channel's chain with --chain URL.",
        )
    require_channel_id(id_)
    chain = open_node(options.endpoint)
    book = options.find_book(chain.chain_id)
    with waiting("Reading the chain") as terminal:
        return inspect_channel(id_, usable_games(), chain, book, options.adjudicator, terminal.status)


def _inspect_file(file: AnyFile, options: _Options) -> Report:
    book, games = options.find_book(file.domain.chain_id), usable_games()
    inspect_any = partial(inspect_file, file) if isinstance(file, SignedStateFile) else partial(inspect_record, file)
    if options.endpoint is None:
        return inspect_any(games, book=book, adjudicator=options.adjudicator)
    chain = open_node(options.endpoint)
    with waiting("Reading the chain") as terminal:
        return inspect_any(games, chain, book, options.adjudicator, terminal.status)
