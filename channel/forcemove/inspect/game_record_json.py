"""A game's record as a file: JSON that has one encoding, so that nothing in it can be changed unseen.

    {"format": "forcemove-game-record/2", "channelId": "0x..", "contract": "TicTacToe", .., "turns": [..], ..}

What the players have signed proves itself, and the result follows from it. `checksum` covers the rest, such as names:
it shows a mistake, and stops nobody who makes another one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from forcemove.errors import ForcemoveError, MalformedBytes, UnknownVersion
from forcemove.inspect.errors import RecordChanged
from forcemove.inspect.game_record import GameRecord, result_in
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.codec.json_text import hex_text, parse_json, require_format
from forcemove.protocol.codec.wire import FileMembers, channel_in, channel_to_json, signed_in, signed_to_json
from forcemove.protocol.encoding import Domain
from forcemove.protocol.hashing import keccak256

FAMILY = "forcemove-game-record"
VERSION = 2
"""The version of records that this program writes and reads."""
_WHAT = "game record"
_LATEST = 2**37
"""A time that still has a date."""


@dataclass(frozen=True, slots=True)
class GameRecordFile:
    """What a file says; nothing of it is believed yet. `content`: its members."""

    record: GameRecord
    content: Mapping[str, Any]

    @property
    def domain(self) -> Domain:
        """The chain's id, and the adjudicator."""
        return self.record.domain


def encode_game_record(record: GameRecord, agreement: Agreement) -> str:
    """The text of a record's file. `agreement`: what its players agreed on."""
    return _text(_content(record, agreement)) + "\n"


def decode_game_record(text: str) -> GameRecordFile:
    """What a file says. Raises `MalformedBytes`, and `UnknownVersion`."""
    content = parse_json(text, _WHAT)
    try:
        record = _record(FileMembers(content, _WHAT))
    except (MalformedBytes, UnknownVersion):
        raise
    except ForcemoveError as error:
        raise MalformedBytes(_WHAT, str(error)) from None
    if _text(content) != text.strip():
        raise MalformedBytes(_WHAT, "it is not written as records are written: spaces or a spelling differ")
    return GameRecordFile(record, content)


def require_unchanged(file: GameRecordFile, agreement: Agreement) -> None:
    """Refuse a file in which something does not follow from the states, or from the checksum. Raises `RecordChanged`.
    `agreement`: what its players agreed on."""
    expected = _content(file.record, agreement)
    for member, value in expected.items():
        if file.content[member] != value:
            raise RecordChanged(member)
    if _text(expected) != _text(file.content):
        raise RecordChanged("order of members")


def _text(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=1)


def _content(record: GameRecord, agreement: Agreement) -> dict[str, Any]:
    shares, turns = result_in(agreement, record.states), zip(record.states, record.words, strict=True)
    content = {
        "format": f"{FAMILY}/{VERSION}",
        "channelId": hex_text(agreement.channel_id),
        "contract": record.contract,
        "names": list(record.names),
        "begunAt": record.begun_at,
        "result": [
            {"asset": hex_text(each.asset), "participant": each.participant, "amount": str(each.allocated)}
            for each in shares or ()
        ],
        **channel_to_json(record.domain, record.fixed_part),
        "turns": [{**signed_to_json(signed), "words": words} for signed, words in turns],
    }
    return content | {"checksum": hex_text(keccak256(_text(content).encode()))}


def _record(file: FileMembers) -> GameRecord:
    require_format(file.take("format", str), FAMILY, VERSION, _WHAT)
    contract, names, begun_at = file.take("contract", str), file.take("names", list), file.take("begunAt", int)
    if not all(isinstance(each, str) for each in names) or not 0 <= begun_at <= _LATEST:
        raise MalformedBytes(_WHAT, "its names are not text, or its time has no date")
    channel, states, words = channel_in(file), [], []
    for each in (FileMembers(each, "turn") for each in file.take("turns", list)):
        states.append(signed_in(each))
        words.append(each.take("words", str))
        each.done()
    for member, kind in (("channelId", str), ("result", list), ("checksum", str)):
        file.take(member, kind)  # which follow from the rest, see `require_unchanged`
    file.done()
    return GameRecord(*channel, contract, tuple(states), tuple(names), begun_at, tuple(words))
