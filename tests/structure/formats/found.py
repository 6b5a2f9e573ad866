"""All formats that programs of different versions give each other or leave behind, each with its version, its shape and
the place of its version. What encodes or decodes them is found in the modules, so that a new one cannot be left out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import Any

from msgspec.json import Decoder as JsonDecoder
from msgspec.msgpack import Decoder as MsgpackDecoder

from forcemove import ActionCodec, keccak256
from forcemove.chain import book
from forcemove.flow.signed import ENVELOPE_VERSION
from forcemove.history import summary
from forcemove.inspect import game_record
from forcemove.inspect.game_record import GameRecord
from forcemove.protocol import encoding
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.codec import wire as messages
from forcemove.protocol.codec.msgpack_codec import Codec
from forcemove.protocol.types import ETHER, Signature
from forcemove.relay.storage import schema as relay_schema
from forcemove.store import migrations, transfer
from forcemove.transport import links, offers, terms, wire
from forcemove.transport.jetstream import stored_offer
from forcemove.watchtower import appointment
from forcemove_games.discard import secrets
from forcemove_games.discard.position import DECK_LENGTH
from tests.chain.test_book import BOOK, PENDING
from tests.protocol.builders import ALICE, BOB, DOMAIN, destination, final, fixed_part, signed, state
from tests.structure.formats.shapes import shape_of, shape_of_json
from tests.structure.imports import source_files

__all__ = ["Format", "formats", "unknown_codecs"]


@dataclass(frozen=True)
class Format:
    """`version`: as it is now; `place`: where it is raised."""

    version: str
    place: str
    shape: Any


Found = Mapping[str, Any]
"""What encodes or decodes, by module and name."""

_TABLES = (str(ENVELOPE_VERSION), "ENVELOPE_VERSION in channel/forcemove/flow/signed.py")
_MESSAGES = (str(messages.MESSAGE_VERSION), "MESSAGE_VERSION in channel/forcemove/protocol/codec/wire.py")
_RELAY = (str(wire.VERSION), "VERSION in channel/forcemove/transport/wire.py")
_SUMMARY = (str(summary._VERSION), "_VERSION in channel/forcemove/history/summary.py")
_STEPS = f"journal {len(migrations.STEPS)}"
_APPEND = "append a step to STEPS in channel/forcemove/store/migrations.py, which may be empty"
_DECODERS = {
    "forcemove.transport.wire._TO_RELAY": _RELAY,
    "forcemove.transport.wire._FROM_RELAY": _RELAY,
    "forcemove.flow.signed._DECODER": _TABLES,
    "forcemove_games.spectator._MESSAGE": _TABLES,
    "forcemove.history.summary._PROFILES": _SUMMARY,
    "forcemove.history.summary._PRESENTS": _SUMMARY,
    "forcemove.protocol.codec.wire._DECODER": _MESSAGES,
    "forcemove.store.history._DECODER": (_STEPS, _APPEND),
    "forcemove.transport.jetstream.stored_offer._DECODER": (
        str(stored_offer.VERSION),
        "VERSION in channel/forcemove/transport/jetstream/stored_offer.py",
    ),
}
"""Of each that is not a `Codec` the version, and its place."""
_JOURNAL = {
    "forcemove.history.packing._CODEC",
    "forcemove.node.metadata.CURSORS",
    "forcemove.node.metadata.METADATA",
    "forcemove.protocol.codec.msgpack_codec.CHANNELS",
    "forcemove.protocol.codec.msgpack_codec.SUBMISSIONS",
    "forcemove.sender.tx_codec._REQUESTS",
    "forcemove.sender.tx_codec._TXS",
    "forcemove.sessions.meetings.meeting.MEETINGS",
    "forcemove.watchtower.acceptance.STORED_APPOINTMENTS",
}
"""Codecs of what only journals have. A journal that has taken more steps is refused by older programs as well."""
_PARTS = {
    "forcemove.flow.actions._HEADER",
    "forcemove.flow.keys._VERSIONED",
    "forcemove.flow.signed._HEAD",
    "forcemove.protocol.codec.wire._HEAD",
    "forcemove.transport.wire._ONE_POST",
}
"""These read a part of what another one reads whole."""
_OTHERS = {
    "forcemove.protocol.codec.msgpack_codec._DECODER",
    "forcemove.transport.jetstream.session._ACKS",
    "forcemove_games.views.values._DECODER",
}
"""These read any value at all, or what a NATS server says."""
_DOMAINS = {
    "forcemove.protocol": (encoding.DOMAIN_TYPE, b"", encoding._VERSION_HASH),
    "forcemove.transport": (terms.RELAY_DOMAIN_TYPE, b"Forcemove relay", terms._SEPARATOR),
    "forcemove.watchtower": (encoding.TABLE_DOMAIN_TYPE, b"Forcemove tower", appointment._SEPARATOR),
}
"""By the room whose types are signed in it: each EIP-712 domain's type, name and separator; of the protocol's two
domains the hash of their version, which they share."""
_CODECS = (Codec, ActionCodec, JsonDecoder, MsgpackDecoder)


def formats() -> dict[str, Format]:
    """All of them, by name."""
    return {
        **{name: _of_codec(name, codec) for name, codec in _found().items() if _is_listed(name, codec)},
        **{f"typed data of {room}": _typed_data(room) for room in _DOMAINS},
        **_examples(),
        "forcemove.store.transfer.Parcel": Format(
            str(transfer.VERSION), "VERSION in channel/forcemove/store/transfer.py", shape_of(transfer.Parcel)
        ),
        "tables in a relay's store": Format(
            str(len(relay_schema.STEPS)),
            "append a step to STEPS in channel/forcemove/relay/storage/schema.py",
            shape_of(terms.TableTerms),
        ),
    }


def unknown_codecs() -> set[str]:
    """What decodes and is in none of the lists here; and names in the lists that are gone."""
    lists = {*_DECODERS, *_PARTS, *_OTHERS, *_JOURNAL}
    return {name for name, codec in _found().items() if not _is_listed(name, codec)} - lists | lists - _found().keys()


# -------------------------------------------------------------------------------------------------------------- codecs


@cache
def _found() -> Found:
    return {
        f"{module}.{name}": value
        for module, source in _sources()
        if re.search(r"Codec\(|Decoder\(", source)
        for name, value in vars(import_module(module)).items()
        if isinstance(value, _CODECS) and re.search(rf"^(?:\w+, )?{name}\b[^=\n]*= ", source, re.MULTILINE)
    }


def _sources() -> Iterator[tuple[str, str]]:
    return ((name, path.read_text("utf-8")) for name, path in source_files().items() if not name.startswith("scripts"))


def _is_listed(name: str, codec: Any) -> bool:
    """Whether its version is known."""
    return name in _DECODERS or (isinstance(codec, (Codec, ActionCodec)) and name not in _PARTS)


def _of_codec(name: str, codec: Any) -> Format:
    if isinstance(codec, Codec):
        shape, place = shape_of(codec._type), f"the version that {name} is made with"
        if name in _JOURNAL:
            return Format(f"{codec._version}, {_STEPS}", f"{place}; or {_APPEND}", shape)
        return Format(str(codec._version), place, shape)
    types = codec.types if isinstance(codec, ActionCodec) else [codec.type]
    version, place = _TABLES if isinstance(codec, ActionCodec) else _DECODERS[name]
    return Format(version, place, shape_of(*types))


# ----------------------------------------------------------------------------------------------------------- typed data


def _typed_data(room: str) -> Format:
    modules = [
        name for name, source in _sources() if name.startswith(room) and re.search(r"^\w+_TYPE = ", source, re.M)
    ]
    types = {
        name: value.decode()
        for module in modules
        for name, value in vars(import_module(module)).items()
        if name.endswith("_TYPE") and isinstance(value, bytes)
    }
    version, place = _version_in(*_DOMAINS[room]), f"the version of the EIP-712 domain in {room}"
    if room == offers.__name__.rpartition(".")[0]:  # what is signed of an offer travels in the offer's own version
        version, place = f"{version}, offers {offers.OFFER_VERSION}", f"{place}; of an offer OFFER_VERSION"
    return Format(version, place, types)


def _version_in(domain_type: bytes, name: bytes, separator: bytes) -> str:
    """The version that a separator was made of."""
    before = keccak256(domain_type) + keccak256(name)
    versions = map(str, range(1, 1_000))
    return next(
        each
        for each in versions
        if separator == (keccak256(before + keccak256(each.encode())) if name else keccak256(each.encode()))
    )


# ------------------------------------------------------------------------------------------------------------- examples


def _examples() -> dict[str, Format]:
    """Formats that are written by hand: their shape is that of one example, with all that there can be in it."""
    file = messages.SignedStateFile(DOMAIN, fixed_part(), signed(state(), ALICE, BOB))
    end = signed(final(), ALICE, BOB)
    agreement = Agreement(DOMAIN, fixed_part(), tuple(map(destination, (ALICE, BOB))), ((ETHER, (10, 10)),), b"")
    game = GameRecord(DOMAIN, fixed_part(), "Game", (end,), ("Alice", "Bob"), 1, ("the final state",))
    record = encoding.encode_record(state(), [Signature(bytes(64))])
    hand = secrets.HandSecrets((secrets.HandSeed(1, bytes(32)),), ((1, bytes(DECK_LENGTH)),))
    link = links.Link("wss://example.com", bytes(32), bytes(32))
    return {
        "state in a message": Format(*_MESSAGES, record.hex()),
        "signed-state file": Format(
            str(messages.FILE_VERSION),
            "FILE_VERSION in channel/forcemove/protocol/codec/wire.py",
            shape_of_json(json.loads(messages.encode_file(file))),
        ),
        "game record": Format(
            str(game_record.VERSION),
            "VERSION in channel/forcemove/inspect/game_record.py",
            shape_of_json(json.loads(game_record.encode_game_record(game, agreement))),
        ),
        "address book": Format(
            str(book.VERSION),
            "VERSION in channel/forcemove/chain/book.py",
            shape_of_json(replace(BOOK, pending=PENDING).to_json()),
        ),
        "link": Format(
            str(links.LINK_VERSION),
            "LINK_VERSION in channel/forcemove/transport/links.py",
            str(link).removeprefix(links.LINK_HEAD),
        ),
        "secrets of Discard": Format(
            str(secrets._VERSION), "_VERSION in games/forcemove_games/discard/secrets.py", hand.encode()[1:].hex()
        ),
    }
