"""A game's record as a file: JSON that has one encoding, so that nothing in it can be changed unseen.

    {"format": "forcemove-game-record/1", "channelId": "0x..", "contract": "TicTacToe", "states": [..], ..}

What the players have signed proves itself, and the result follows from it. `checksum` covers the rest, such as names:
it shows a mistake, and stops nobody who makes another one.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, to_builtins
from msgspec.structs import replace

from forcemove.chain.addresses import parse_address, show_address
from forcemove.errors import ForcemoveError, MalformedBytes
from forcemove.inspect.documents import Address, Amount, Decimal, Document, Hash, Hex, document_json
from forcemove.inspect.errors import RecordChanged
from forcemove.inspect.game_record import GameRecord, result_in
from forcemove.inspect.report_shapes import FixedPartJson, ShareJson
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.codec.json_text import hex_text, parse_decimal, require_format
from forcemove.protocol.codec.wire import parse_hex
from forcemove.protocol.encoding import Domain
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.machine.results import Share
from forcemove.protocol.outcome import Allocation, Outcome
from forcemove.protocol.state import SignedState, VariablePart
from forcemove.protocol.types import FixedPart, Signature

__all__ = [
    "FAMILY",
    "VERSION",
    "GameRecordDocument",
    "decode_game_record",
    "encode_game_record",
    "fixed_part_json",
    "record_in",
    "require_unchanged",
    "share_json",
]

FAMILY = "forcemove-game-record"
VERSION = 1
"""The version of records that this program writes and reads."""
_WHAT = "game record"
_INDENT = 1
_LATEST = 2**37
"""A time that still has a date."""


class PaymentJson(Document):
    """What a state would pay to a destination."""

    asset: Address
    destination: Hash
    amount: Amount


class RecordedTurnJson(Document):
    """A state. `outcome`: null where it is that of the turn before; `signatures`: by participant, null where there is
    none; `words`: the game's, which prove nothing."""

    turn_num: int
    is_final: bool
    app_data: Hex
    outcome: list[PaymentJson] | None
    signatures: list[Hex | None]
    words: str


class GameRecordDocument(Document):
    """A whole game. `contract`: the name of the game's; `names`: what the players
    called themselves, which nobody can check; `begunAt`: 0 where nobody has noted it; `result`: null where the states
    do not show an end that all have signed; `checksum`: the Keccak-256 of the file with an empty one."""

    format: str
    channel_id: Hash
    contract: str
    names: list[str]
    begun_at: Annotated[int, Meta(ge=0, le=_LATEST, description="Unix seconds")]
    result: list[ShareJson] | None
    chain_id: Decimal
    adjudicator: Address
    fixed_part: FixedPartJson
    states: list[RecordedTurnJson]
    checksum: str

    @property
    def domain(self) -> Domain:
        """The chain's id, and the adjudicator. Raises `MalformedBytes`."""
        return Domain(parse_decimal(self.chain_id, _WHAT, "chainId"), parse_address(self.adjudicator))


_DECODER = msgspec.json.Decoder(GameRecordDocument)


def encode_game_record(record: GameRecord, agreement: Agreement) -> str:
    """The text of a record's file. `agreement`: what its players agreed on."""
    return document_json(_document(record, agreement), _INDENT) + "\n"


def decode_game_record(text: str) -> GameRecordDocument:
    """What a file says; nothing of it is believed yet. Raises `MalformedBytes`, and `UnknownVersion`."""
    try:
        document = _DECODER.decode(text)
    except msgspec.DecodeError as error:
        raise MalformedBytes(_WHAT, f"{ascii(str(error))[1:-1]:.200}") from None
    require_format(document.format, FAMILY, VERSION, _WHAT)
    if document_json(document, _INDENT) != text.strip():
        raise MalformedBytes(_WHAT, "it is not written as records are written: spaces, an order or a spelling differ")
    return document


def record_in(document: GameRecordDocument) -> GameRecord:
    """The record that a file has. Raises `MalformedBytes`."""
    try:
        return _record(document)
    except MalformedBytes:
        raise
    except ForcemoveError as error:
        raise MalformedBytes(_WHAT, str(error)) from None


def require_unchanged(document: GameRecordDocument, record: GameRecord, agreement: Agreement) -> None:
    """Refuse a file in which something does not follow from the states, or from the checksum. Raises `RecordChanged`.

    - `document`: the file.
    - `record`: the record in it.
    - `agreement`: what its players agreed on.
    """
    found, expected = to_builtins(document), to_builtins(_document(record, agreement))
    for member in expected:
        if found[member] != expected[member]:
            raise RecordChanged(member)


# -------------------------------------------------------------------------------------------------------------- writing


def _document(record: GameRecord, agreement: Agreement) -> GameRecordDocument:
    shares, outcomes = result_in(agreement, record.states), [each.state.outcome for each in record.states]
    document = GameRecordDocument(
        f"{FAMILY}/{VERSION}",
        hex_text(agreement.channel_id),
        record.contract,
        list(record.names),
        record.begun_at,
        None if shares is None else [share_json(each) for each in shares],
        str(record.domain.chain_id),
        show_address(record.domain.adjudicator),
        fixed_part_json(record.fixed_part),
        [
            _turn(signed, agreement.count, before == signed.state.outcome, words)
            for signed, before, words in zip(record.states, [None, *outcomes[:-1]], record.words, strict=True)
        ],
        "",
    )
    return replace(document, checksum=hex_text(keccak256(document_json(document, _INDENT).encode())))


def _turn(signed: SignedState, count: int, is_same: bool, words: str) -> RecordedTurnJson:
    state, signatures = signed.state, [signed.signatures.get(seat) for seat in range(count)]
    pays = [
        PaymentJson(show_address(each.asset), hex_text(each.destination), str(each.amount)) for each in state.outcome
    ]
    shown = [None if each is None else hex_text(each.compact) for each in signatures]
    data = hex_text(state.app_data)
    return RecordedTurnJson(state.turn_num, state.is_final, data, None if is_same else pays, shown, words)


def fixed_part_json(fixed_part: FixedPart) -> FixedPartJson:
    """What never changes in a channel."""
    return FixedPartJson(
        [show_address(participant) for participant in fixed_part.participants],
        str(fixed_part.channel_nonce),
        show_address(fixed_part.app_definition),
        fixed_part.challenge_duration,
    )


def share_json(share: Share) -> ShareJson:
    """One participant's share."""
    amounts = (share.deposited, share.allocated, share.payable)
    return ShareJson(show_address(share.asset), share.participant, *map(str, amounts))


# -------------------------------------------------------------------------------------------------------------- reading


def _record(document: GameRecordDocument) -> GameRecord:
    fixed, states = document.fixed_part, list[SignedState]()
    for each in document.states:
        outcome = _outcome(each.outcome, states)
        state = VariablePart(outcome, parse_hex(each.app_data, '"appData"'), each.turn_num, each.is_final)
        given = {seat: text for seat, text in enumerate(each.signatures) if text is not None}
        signatures = {seat: Signature(parse_hex(text, "a signature")) for seat, text in given.items()}
        states.append(SignedState(state, signatures))
    return GameRecord(
        document.domain,
        FixedPart(
            tuple(map(parse_address, fixed.participants)),
            parse_decimal(fixed.channel_nonce, _WHAT, "channelNonce"),
            parse_address(fixed.app_definition),
            fixed.challenge_duration,
        ),
        document.contract,
        tuple(states),
        tuple(document.names),
        document.begun_at,
        tuple(each.words for each in document.states),
    )


def _outcome(payments: list[PaymentJson] | None, before: list[SignedState]) -> Outcome:
    if payments is None:
        if not before:
            raise MalformedBytes(_WHAT, "its first state has no outcome")
        return before[-1].state.outcome
    return tuple(
        Allocation(
            parse_address(each.asset),
            parse_hex(each.destination, '"destination"'),
            parse_decimal(each.amount, _WHAT, "amount"),
        )
        for each in payments
    )
