"""Inspects a channel, or a signed state with its channel, with a chain at hand or without. Together with
`bare.inspect_bytes` and `calls.inspect_call`, these are the functions that other packages call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from string import hexdigits

from forcemove.chain.book import AddressBook
from forcemove.chain.chain import Chain
from forcemove.errors import MalformedBytes
from forcemove.game import Game
from forcemove.inspect.apps import guess_app
from forcemove.inspect.bare import BareReport, CallReport
from forcemove.inspect.contracts import adjudicator_address, find_app, open_adjudicator
from forcemove.inspect.errors import ChannelUnknown, NodeOfAnotherChain, NotThisAdjudicator, NotThisKindOfId
from forcemove.inspect.game_record import FAMILY, GameRecordFile, decode_game_record
from forcemove.inspect.game_record_report import GameRecordReport, report_record
from forcemove.inspect.onchain import ChannelReport, read_channel, report_channel
from forcemove.inspect.signed_state import SignedStateReport, report_signed_state
from forcemove.protocol.codec.json_text import parse_json
from forcemove.protocol.codec.wire import SignedStateFile, decode_file, parse_hex
from forcemove.protocol.encoding import Domain, channel_id
from forcemove.protocol.types import destination_address

Report = SignedStateReport | BareReport | CallReport | ChannelReport | GameRecordReport
"""Everything that an inspection can return."""
AnyFile = SignedStateFile | GameRecordFile
"""Everything that a file can be."""
Notify = Callable[[str], None]
"""Is called with what is done at the moment, in a few words."""


def parse_subject(text: str) -> AnyFile | bytes:
    """What a text is: the bytes of hex after `0x`, else a game's record, or a signed state with its channel. Raises
    `MalformedBytes` and `UnknownVersion`."""
    if text[:2].lower() != "0x":
        content = parse_json(text, "signed state")  # bounds the depth, which Python's own parser does not
        format_ = content.get("format") if isinstance(content, dict) else None
        return decode_game_record(text) if str(format_).startswith(FAMILY) else decode_file(text)
    if not set(text[2:]) <= set(hexdigits):
        raise MalformedBytes("piece of hex", "it has characters that are not hex digits")
    return parse_hex("0x" + text[2:], "piece of hex")


def _quietly(_: str) -> None:
    """Report no progress."""


def require_channel_id(data: bytes) -> None:
    """Refuse 32 bytes that are an address. Raises `NotThisKindOfId`."""
    if destination_address(data) is not None:
        raise NotThisKindOfId(data)


def inspect_channel(
    id_: bytes,
    games: Sequence[Game],
    chain: Chain,
    book: AddressBook | None = None,
    adjudicator: bytes | None = None,
    notify: Notify = _quietly,
) -> ChannelReport:
    """What the chain says of a channel.

    - `id_`: the channel's id, 32 bytes.
    - `games`: the games that the channel's app is looked for among.
    - `chain`: the channel's chain.
    - `book`: the address book, if there is one.
    - `adjudicator`: its address (20 bytes), where it is not the book's.
    - `notify`: is called with what is done now.

    Raises `NotThisKindOfId`, `AdjudicatorNotNamed`, `ChannelUnknown`, what `require_genuine_contract` raises, and what
    reading a chain raises.
    """
    require_channel_id(id_)
    address = adjudicator_address(chain.chain_id, adjudicator, book)
    notify("Reading the chain")
    court = open_adjudicator(chain, address, book)
    channel = read_channel(court, id_, _first_block(book))
    if channel.is_unknown:
        raise ChannelUnknown(address, id_)
    return report_channel(channel, lambda state: guess_app(state.app_data, games))


def inspect_file(
    file: SignedStateFile,
    games: Sequence[Game],
    chain: Chain | None = None,
    book: AddressBook | None = None,
    adjudicator: bytes | None = None,
    notify: Notify = _quietly,
) -> SignedStateReport:
    """What can be said of a signed state, by itself or with its chain at hand.

    - `file`: the signed state, and its channel.
    - `games`: the games that the channel's app is looked for among.
    - `chain`: the channel's chain; None asks no chain.
    - `book`: the address book, if there is one.
    - `adjudicator`: the address (20 bytes) that the state is expected to name; None expects none.
    - `notify`: is called with what is done now.

    Raises `NotThisAdjudicator`, `NodeOfAnotherChain`, what `require_genuine_contract` raises, and what reading a chain
    raises.
    """
    fixed_part, state = file.fixed_part, file.signed.state
    _require_named(file.domain, chain, adjudicator)
    app = find_app(fixed_part.app_definition, state.app_data, games, chain, book)
    if chain is None:
        return report_signed_state(file, app)
    notify("Reading the chain")
    court = open_adjudicator(chain, file.domain.adjudicator, book, app.game if app else None)
    id_ = channel_id(fixed_part, file.domain)
    channel = read_channel(court, id_, _first_block(book), fixed_part.participants, state.outcome)
    notify("Asking the adjudicator")
    return report_signed_state(file, app, (court, channel))


def inspect_record(
    file: GameRecordFile,
    games: Sequence[Game],
    chain: Chain | None = None,
    book: AddressBook | None = None,
    adjudicator: bytes | None = None,
    notify: Notify = _quietly,
) -> GameRecordReport:
    """What can be said of a game's record, by itself or with its chain at hand. Arguments and errors as of
    `inspect_file`; raises what `report_record` raises, too.

    - `file`: the record.
    - `games`: those that are installed.
    - `chain`: see `inspect_file`.
    - `book`: see `inspect_file`.
    - `adjudicator`: see `inspect_file`.
    - `notify`: see `inspect_file`.
    """
    report = report_record(file, games, book)
    record, app = report.record, report.app
    _require_named(record.domain, chain, adjudicator)
    if chain is None:
        return report
    notify("Reading the chain")
    court = open_adjudicator(chain, record.domain.adjudicator, book, app.game)
    id_, players = report.agreement.channel_id, record.fixed_part.participants
    channel = read_channel(court, id_, _first_block(book), players, record.states[-1].state.outcome)
    return replace(report, channel=report_channel(channel, lambda _: app, record.fixed_part))


def _require_named(domain: Domain, chain: Chain | None, adjudicator: bytes | None) -> None:
    """Raise `NotThisAdjudicator` or `NodeOfAnotherChain` where a file is of another one than was named."""
    if adjudicator not in (None, domain.adjudicator):
        raise NotThisAdjudicator(domain.adjudicator, adjudicator or b"")
    if chain is not None and chain.chain_id != domain.chain_id:
        raise NodeOfAnotherChain(chain.endpoint, domain.chain_id, chain.chain_id)


def _first_block(book: AddressBook | None) -> int:
    return book.deployment_block if book else 0
