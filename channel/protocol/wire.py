"""Signed states as text: what travels between participants, and the files that show one to anybody.

A message is JSON: the channel's id, the state (its ABI encoding, hex) and the signatures by participant. A greeting is
a message of its own, and unsigned: the channel's id, its sender's index, and the turn of the state that it wants next.
A file is JSON, too, but spelt out and complete: chain id, adjudicator, fixed part, every field of the state. Decoding
is strict: wrong types, unknown or missing names, and values that no channel can have raise `MalformedBytes`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from channel.errors import ForcemoveError, MalformedBytes
from channel.protocol.encoding import Domain, decode_variable_part, encode_variable_part
from channel.protocol.inputs import Greeted, StateReceived
from channel.protocol.json_text import parse_json
from channel.protocol.outcome import Allocation
from channel.protocol.state import SignedState, VariablePart
from channel.protocol.types import MAX_PARTICIPANTS, UINT48_MAX, FixedPart, Signature

__all__ = [
    "MAX_MESSAGE",
    "SignedStateFile",
    "decode_file",
    "decode_message",
    "encode_file",
    "encode_greeting",
    "encode_message",
    "parse_hex",
]

MAX_MESSAGE = 65_536
"""Bytes: more than the largest state with all its signatures takes."""


class SignedStateFile(Struct, frozen=True):
    """A signed state with all that it takes to check it."""

    domain: Domain
    fixed_part: FixedPart
    signed: SignedState


def encode_message(channel_id: bytes, signed: SignedState) -> bytes:
    """A state on its way to a counterparty, UTF-8 JSON."""
    message = {
        "channelId": _hex(channel_id),
        "state": _hex(encode_variable_part(signed.state)),
        "signatures": _signatures_to_json(signed),
    }
    return json.dumps(message, separators=(",", ":")).encode()


def encode_greeting(channel_id: bytes, sender: int, next_turn: int) -> bytes:
    """What participant `sender` says of where it is, UTF-8 JSON."""
    greeting = {"channelId": _hex(channel_id), "sender": sender, "nextTurn": next_turn}
    return json.dumps(greeting, separators=(",", ":")).encode()


def decode_message(data: bytes) -> tuple[bytes, StateReceived | Greeted]:
    """The channel's id, and what a counterparty says: a state, or where it is. Raises `MalformedBytes`."""
    if len(data) > MAX_MESSAGE:
        raise MalformedBytes("message", f"it has {len(data)} bytes; {MAX_MESSAGE} are allowed")
    message = _Fields(_parse(data, "message"), "message")
    channel_id = message.hex("channelId", 32)
    said = _decode_greeting(message) if "sender" in message else _decode_sent_state(message)
    message.done()
    return channel_id, said


def _decode_sent_state(message: _Fields) -> StateReceived:
    state = decode_variable_part(message.hex("state"))
    return StateReceived(SignedState(state, _signatures_from_json(message.take("signatures", dict))))


def _decode_greeting(message: _Fields) -> Greeted:
    sender, next_turn = message.take("sender", int), message.take("nextTurn", int)
    if not (0 <= sender < MAX_PARTICIPANTS and 0 <= next_turn <= UINT48_MAX + 1):
        raise MalformedBytes("greeting", "no channel has such a participant or turn")
    return Greeted(sender, next_turn)


def encode_file(file: SignedStateFile) -> str:
    """The text of a signed-state file."""
    fixed_part, state = file.fixed_part, file.signed.state
    content = {
        "chainId": file.domain.chain_id,
        "adjudicator": _hex(file.domain.adjudicator),
        "fixedPart": {
            "participants": [_hex(participant) for participant in fixed_part.participants],
            "channelNonce": fixed_part.channel_nonce,
            "appDefinition": _hex(fixed_part.app_definition),
            "challengeDuration": fixed_part.challenge_duration,
        },
        "state": {
            "turnNum": state.turn_num,
            "isFinal": state.is_final,
            "appData": _hex(state.app_data),
            "outcome": [
                {"asset": _hex(each.asset), "destination": _hex(each.destination), "amount": str(each.amount)}
                for each in state.outcome
            ],
        },
        "signatures": _signatures_to_json(file.signed),
    }
    return json.dumps(content, indent=2) + "\n"


def decode_file(text: str | bytes) -> SignedStateFile:
    """The inverse of `encode_file`. Raises `MalformedBytes`."""
    try:
        return _decode_file(_Fields(_parse(text, "signed state"), "signed state"))
    except MalformedBytes:
        raise
    except ForcemoveError as error:
        raise MalformedBytes("signed state", str(error)) from None


def _decode_file(file: _Fields) -> SignedStateFile:
    domain = Domain(file.take("chainId", int), file.hex("adjudicator", 20))
    fixed_part = _decode_fixed_part(_Fields(file.take("fixedPart", dict), "fixedPart"))
    state = _decode_state(_Fields(file.take("state", dict), "state"))
    signed = SignedState(state, _signatures_from_json(file.take("signatures", dict)))
    file.done()
    return SignedStateFile(domain, fixed_part, signed)


def _decode_fixed_part(fields: _Fields) -> FixedPart:
    participants = tuple(parse_hex(each, "a participant", 20) for each in fields.take("participants", list))
    fixed_part = FixedPart(
        participants,
        fields.take("channelNonce", int),
        fields.hex("appDefinition", 20),
        fields.take("challengeDuration", int),
    )
    fields.done()
    return fixed_part


def _decode_state(fields: _Fields) -> VariablePart:
    outcome = tuple(_decode_allocation(_Fields(each, "outcome")) for each in fields.take("outcome", list))
    state = VariablePart(outcome, fields.hex("appData"), fields.take("turnNum", int), fields.take("isFinal", bool))
    fields.done()
    return state


def _decode_allocation(fields: _Fields) -> Allocation:
    asset, destination, amount = fields.hex("asset", 20), fields.hex("destination", 32), fields.take("amount", str)
    if not (amount.isascii() and amount.isdecimal() and len(amount) <= 78):
        raise MalformedBytes("outcome", "an amount is a decimal number in quotes")
    fields.done()
    return Allocation(asset, destination, int(amount))


class _Fields:
    """The members of a JSON object, each to be taken once, by its type."""

    def __init__(self, content: object, what: str) -> None:
        if not isinstance(content, dict):
            raise MalformedBytes(what, "it is no JSON object")
        self._content, self._what = dict(content), what

    def __contains__(self, name: str) -> bool:
        return name in self._content

    def take(self, name: str, kind: type) -> Any:
        value = self._content.pop(name, None)
        if type(value) is not kind:
            raise MalformedBytes(self._what, f'"{name}" is missing, or not a JSON {_JSON_NAMES[kind]}')
        return value

    def hex(self, name: str, length: int | None = None) -> bytes:
        return parse_hex(self.take(name, str), f'"{name}"', length)

    def done(self) -> None:
        if self._content:
            raise MalformedBytes(self._what, f"it has {len(self._content)} unknown members")


_JSON_NAMES = {int: "number", str: "string", bool: "boolean", list: "array", dict: "object"}


def parse_hex(text: object, what: str, length: int | None = None) -> bytes:
    """Bytes from hex with a leading 0x. Raises `MalformedBytes`, also where there are not `length` of them."""
    if not isinstance(text, str) or not text.startswith("0x"):
        raise MalformedBytes(what, "it is no hex that starts with 0x")
    digits = text[2:]
    if digits and not (digits.isascii() and digits.isalnum()):
        raise MalformedBytes(what, "it has characters that are no hex digits")
    try:
        data = bytes.fromhex(digits)
    except ValueError:
        raise MalformedBytes(what, "it is no whole number of hex bytes") from None
    if length is not None and len(data) != length:
        raise MalformedBytes(what, f"it has {len(data)} bytes, not {length}")
    return data


def _parse(text: str | bytes, what: str) -> object:
    try:
        decoded = text if isinstance(text, str) else text.decode()
    except UnicodeDecodeError:
        raise MalformedBytes(what, "it is no UTF-8") from None
    return parse_json(decoded, what)


def _signatures_to_json(signed: SignedState) -> dict[str, str]:
    return {str(index): _hex(signature.compact) for index, signature in sorted(signed.signatures.items())}


def _signatures_from_json(content: Mapping[str, object]) -> dict[int, Signature]:
    signatures = {}
    for index, text in content.items():
        if index not in _INDICES:
            raise MalformedBytes("signatures", f"their names are the participants' indices, below {MAX_PARTICIPANTS}")
        signatures[int(index)] = Signature(parse_hex(text, "a signature", 64))
    return signatures


_INDICES = frozenset(map(str, range(MAX_PARTICIPANTS)))


def _hex(data: bytes) -> str:
    return "0x" + data.hex()
