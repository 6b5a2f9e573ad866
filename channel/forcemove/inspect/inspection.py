"""Inspects a channel, or a signed state with its channel, with a chain at hand or without. Together with
`bare.inspect_bytes`, these are the functions that other packages call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import hexdigits

from forcemove.chain.book import AddressBook
from forcemove.chain.chain import Chain
from forcemove.errors import MalformedBytes
from forcemove.game import Game
from forcemove.inspect.apps import guess_app
from forcemove.inspect.bare import BareReport
from forcemove.inspect.contracts import adjudicator_address, find_app, open_adjudicator
from forcemove.inspect.errors import ChannelUnknown, NodeOfAnotherChain, NotThisAdjudicator, NotThisKindOfId
from forcemove.inspect.onchain import ChannelReport, read_channel, report_channel
from forcemove.inspect.signed_state import SignedStateReport, report_signed_state
from forcemove.protocol.codec.json_text import parse_json
from forcemove.protocol.codec.wire import SignedStateFile, decode_file, parse_hex
from forcemove.protocol.encoding import channel_id
from forcemove.protocol.outcome import destination_address

__all__ = ["Report", "inspect_channel", "inspect_file", "parse_subject", "require_channel_id"]

Report = SignedStateReport | BareReport | ChannelReport
"""Everything that an inspection can return."""
Notify = Callable[[str], None]
"""Is called with what is done at the moment, in a few words."""


def parse_subject(text: str) -> SignedStateFile | bytes:
    """What a text is: the bytes of hex after `0x`, else a signed state with its channel. Raises `MalformedBytes` and
    `UnknownVersion`."""
    if text[:2].lower() != "0x":
        parse_json(text, "signed state")  # bounds the depth, which Python's own parser does not
        return decode_file(text)
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
    address, fixed_part = file.domain.adjudicator, file.fixed_part
    if adjudicator not in (None, address):
        raise NotThisAdjudicator(address, adjudicator or b"")
    if chain is not None and chain.chain_id != file.domain.chain_id:
        raise NodeOfAnotherChain(chain.endpoint, file.domain.chain_id, chain.chain_id)
    state = file.signed.state
    app = find_app(fixed_part.app_definition, state.app_data, games, chain, book)
    if chain is None:
        return report_signed_state(file, app)
    notify("Reading the chain")
    court = open_adjudicator(chain, address, book, app.game if app else None)
    id_ = channel_id(fixed_part, file.domain)
    channel = read_channel(court, id_, _first_block(book), fixed_part.participants, state.outcome)
    notify("Asking the adjudicator")
    return report_signed_state(file, app, (court, channel))


def _first_block(book: AddressBook | None) -> int:
    return book.deployment_block if book else 0
