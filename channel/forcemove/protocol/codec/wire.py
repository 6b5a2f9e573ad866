"""What participants send each other, and the files that show a signed state to anybody: JSON, versioned.

A message is one JSON object in UTF-8, in canonical form: members sorted by name, no spaces, hex in lower case after 0x.
So one message has one encoding. It has a `version`, a `kind` and the channel's id. Of kind `state` it carries the state
once, with its signatures, in the layout that the adjudicator logs (`encoding.encode_record`), and names the `signers`,
indices of participants, in rising order, in which their signatures follow in the record. Of kind `greeting` it is
unsigned: its sender's index, and the turn of the state that it wants next.

    {"channelId":"0x..","kind":"state","record":"0x..","signers":[0,1],"version":1}
    {"channelId":"0x..","kind":"greeting","nextTurn":7,"sender":1,"version":1}

A file is JSON, too, but spelt out and complete: chain id, adjudicator, fixed part, every field of the state. Numbers
that can exceed 2**53 are decimal digits in quotes.

Decoding is strict: wrong types, unknown or missing names, and values that no channel can have raise `MalformedBytes`;
another version than ours raises `UnknownVersion`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from forcemove.errors import ForcemoveError, InvalidValue, MalformedBytes, UnknownVersion
from forcemove.protocol.codec.json_text import (
    hex_text,
    parse_decimal,
    parse_json,
    require_format,
    require_shallow,
    require_version,
)
from forcemove.protocol.codec.limits import MAX_MESSAGE
from forcemove.protocol.encoding import Domain, decode_record, encode_record
from forcemove.protocol.machine.inputs import Greeted, StateReceived
from forcemove.protocol.types import (
    MAX_PARTICIPANTS,
    UINT48_MAX,
    Allocation,
    FixedPart,
    Signature,
    SignedState,
    VariablePart,
)

MESSAGE_VERSION = 1
"""The version of messages that this program writes and reads."""
_FILE_FAMILY = "forcemove-signed-state"
FILE_VERSION = 2
"""The version of signed-state files that this program writes and reads."""

# ----------------------------------------------------------------------------------------------------------- messages


class _Message(Struct, frozen=True, tag_field="kind", rename="camel", forbid_unknown_fields=True):
    channel_id: str
    version: int


class _State(_Message, frozen=True, tag="state"):
    record: str
    signers: tuple[int, ...]


class _Greeting(_Message, frozen=True, tag="greeting"):
    next_turn: int
    sender: int


class _Head(Struct, frozen=True):
    version: object = None


_DECODER: msgspec.json.Decoder[_State | _Greeting] = msgspec.json.Decoder(_State | _Greeting)
_HEAD = msgspec.json.Decoder(_Head)
_ENCODER = msgspec.json.Encoder(order="sorted")


def encode_message(channel_id: bytes, signed: SignedState) -> bytes:
    """The message that carries a state to a counterparty. Raises `InvalidValue` where no channel can have such a state
    or signers."""
    signers = tuple(sorted(signed.signatures))
    if signers and not 0 <= signers[0] <= signers[-1] < MAX_PARTICIPANTS:
        raise InvalidValue("signers", signers, f"indices of participants, below {MAX_PARTICIPANTS}")
    record = encode_record(signed.state, [signed.signatures[index] for index in signers])
    return _encode_state(channel_id, record, signers)


def _encode_state(channel_id: bytes, record: bytes, signers: tuple[int, ...]) -> bytes:
    return _ENCODER.encode(_State(hex_text(channel_id), MESSAGE_VERSION, hex_text(record), signers))


def encode_greeting(channel_id: bytes, sender: int, next_turn: int) -> bytes:
    """The message by which participant `sender` says that it wants the state of turn `next_turn`."""
    return _ENCODER.encode(_Greeting(hex_text(channel_id), MESSAGE_VERSION, next_turn, sender))


def decode_message(data: bytes) -> tuple[bytes, StateReceived | Greeted]:
    """The channel's id, and the content of a counterparty's message: a state or a greeting. Raises `MalformedBytes` and
    `UnknownVersion`."""
    if len(data) > MAX_MESSAGE:
        raise MalformedBytes("message", f"it has {len(data)} bytes; {MAX_MESSAGE} are allowed")
    message = _parse_message(data)
    channel_id = parse_hex(message.channel_id, '"channelId"', 32)
    if isinstance(message, _Greeting):
        greeted = _decode_greeting(message)
        _require_canonical(encode_greeting(channel_id, greeted.sender, greeted.next_turn), data)
        return channel_id, greeted
    record = parse_hex(message.record, '"record"')
    signed = _decode_state_message(record, message.signers)
    _require_canonical(_encode_state(channel_id, record, message.signers), data)
    return channel_id, StateReceived(signed)


def _parse_message(data: bytes) -> _State | _Greeting:
    require_shallow(data, "message")
    try:
        require_version(_HEAD.decode(data).version, "message", MESSAGE_VERSION)
        return _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        reason = ascii(str(error))[1:-1]  # the error may repeat a stranger's names of members
        raise MalformedBytes("message", f"{reason:.200}") from None


def _decode_state_message(record: bytes, signers: tuple[int, ...]) -> SignedState:
    """The state of a record, which has no other encoding (`decode_record` is strict), with its signatures."""
    state, signatures = decode_record(record)
    if len(signers) != len(signatures):
        raise MalformedBytes("message", f"it names {len(signers)} signers, and has {len(signatures)} signatures")
    if list(signers) != sorted(set(signers)) or (signers and signers[0] < 0):
        raise MalformedBytes("message", "its signers do not rise")
    if signers and signers[-1] >= MAX_PARTICIPANTS:
        raise MalformedBytes("message", "no channel has as many participants as its signers would be")
    return SignedState(state, dict(zip(signers, signatures, strict=True)))


def _decode_greeting(message: _Greeting) -> Greeted:
    if not (0 <= message.sender < MAX_PARTICIPANTS and 0 <= message.next_turn <= UINT48_MAX + 1):
        raise MalformedBytes("greeting", "no channel has such a participant or turn")
    return Greeted(message.sender, message.next_turn)


def _require_canonical(canonical: bytes, data: bytes) -> None:
    if canonical != data:
        raise MalformedBytes("message", "it is not in canonical form")


# -------------------------------------------------------------------------------------------------------------- files


class SignedStateFile(Struct, frozen=True):
    """A signed state with all values that are needed to check it."""

    domain: Domain
    fixed_part: FixedPart
    signed: SignedState


def encode_file(file: SignedStateFile) -> str:
    """The text of a signed-state file. Raises `InvalidValue` where only the hash of the evidence is known."""
    content = {
        "format": f"{_FILE_FAMILY}/{FILE_VERSION}",
        **channel_to_json(file.domain, file.fixed_part),
        **signed_to_json(file.signed),
    }
    return json.dumps(content, indent=2) + "\n"


def channel_to_json(domain: Domain, fixed_part: FixedPart) -> dict[str, Any]:
    """The members of a file that say which channel it is of."""
    return {
        "chainId": str(domain.chain_id),
        "adjudicator": hex_text(domain.adjudicator),
        "fixedPart": {
            "participants": [hex_text(participant) for participant in fixed_part.participants],
            "channelNonce": str(fixed_part.channel_nonce),
            "appDefinition": hex_text(fixed_part.app_definition),
            "challengeDuration": fixed_part.challenge_duration,
            "asset": hex_text(fixed_part.asset),
            "total": str(fixed_part.total),
        },
    }


def signed_to_json(signed: SignedState) -> dict[str, Any]:
    """The members of a file that are a signed state. Raises as `encode_file`."""
    state = signed.state
    return {
        "state": {
            "turnNum": state.turn_num,
            "isFinal": state.is_final,
            "appData": hex_text(state.app_data),
            "evidence": hex_text(state.full_evidence()),
            "outcome": [
                {"asset": hex_text(each.asset), "destination": hex_text(each.destination), "amount": str(each.amount)}
                for each in state.outcome
            ],
        },
        "signatures": _signatures_to_json(signed),
    }


def decode_file(text: str | bytes) -> SignedStateFile:
    """The inverse of `encode_file`. Raises `MalformedBytes` and `UnknownVersion`."""
    try:
        return _decode_file(FileMembers(_parse(text, "signed state"), "signed state"))
    except (MalformedBytes, UnknownVersion):
        raise
    except ForcemoveError as error:
        raise MalformedBytes("signed state", str(error)) from None


def _decode_file(file: FileMembers) -> SignedStateFile:
    require_format(file.take("format", str), _FILE_FAMILY, FILE_VERSION, "signed-state file")
    found = SignedStateFile(*channel_in(file), signed_in(file))
    file.done()
    return found


def channel_in(file: FileMembers) -> tuple[Domain, FixedPart]:
    """The inverse of `channel_to_json`. Raises `MalformedBytes`, and `InvalidValue`."""
    domain = Domain(file.number("chainId"), file.hex("adjudicator", 20))
    return domain, _decode_fixed_part(FileMembers(file.take("fixedPart", dict), "fixedPart"))


def signed_in(file: FileMembers) -> SignedState:
    """The inverse of `signed_to_json`. Raises `MalformedBytes`, and `InvalidValue`."""
    state = _decode_state(FileMembers(file.take("state", dict), "state"))
    return SignedState(state, _signatures_from_json(file.take("signatures", dict)))


def _decode_fixed_part(fields: FileMembers) -> FixedPart:
    participants = tuple(parse_hex(each, "a participant", 20) for each in fields.take("participants", list))
    fixed_part = FixedPart(
        participants,
        fields.number("channelNonce"),
        fields.hex("appDefinition", 20),
        fields.take("challengeDuration", int),
        fields.hex("asset", 20),
        fields.number("total"),
    )
    fields.done()
    return fixed_part


def _decode_state(fields: FileMembers) -> VariablePart:
    outcome = tuple(_decode_allocation(FileMembers(each, "outcome")) for each in fields.take("outcome", list))
    app_data, evidence = fields.hex("appData"), fields.hex("evidence")
    state = VariablePart(outcome, app_data, fields.take("turnNum", int), fields.take("isFinal", bool), evidence)
    fields.done()
    return state


def _decode_allocation(fields: FileMembers) -> Allocation:
    allocation = Allocation(fields.hex("asset", 20), fields.hex("destination", 32), fields.number("amount"))
    fields.done()
    return allocation


class FileMembers:
    """The members of a JSON object, each to be taken once, by its type. All raise `MalformedBytes`."""

    def __init__(self, content: object, what: str) -> None:
        """`content`: should be an object; `what`: what it is called in errors."""
        if not isinstance(content, dict):
            raise MalformedBytes(what, "it is not a JSON object")
        self._content, self._what = dict(content), what

    def take(self, name: str, kind: type) -> Any:
        """A member of this type."""
        value = self._content.pop(name, None)
        if type(value) is not kind:
            raise MalformedBytes(self._what, f'"{name}" is missing, or not a JSON {_JSON_NAMES[kind]}')
        return value

    def hex(self, name: str, length: int | None = None) -> bytes:
        """A member that is hex of this many bytes."""
        return parse_hex(self.take(name, str), f'"{name}"', length)

    def number(self, name: str) -> int:
        """A number that other languages could not hold, as decimal digits in quotes."""
        return parse_decimal(self.take(name, str), self._what, name)

    def done(self) -> None:
        """Refuse members that nobody has taken."""
        if self._content:
            raise MalformedBytes(self._what, f"it has {len(self._content)} unknown members")


_JSON_NAMES = {int: "number", str: "string", bool: "boolean", list: "array", dict: "object"}


def parse_hex(text: object, what: str, length: int | None = None) -> bytes:
    """Bytes from hex with a leading 0x. Raises `MalformedBytes`, also where there are not `length` bytes."""
    if not isinstance(text, str) or not text.startswith("0x"):
        raise MalformedBytes(what, "it is not hex that starts with 0x")
    digits = text[2:]
    try:
        data = bytes.fromhex(digits)
    except ValueError:
        raise MalformedBytes(what, "it is not a whole number of hex bytes") from None
    if 2 * len(data) != len(digits):  # Python passes over spaces
        raise MalformedBytes(what, "it has characters that are not hex digits")
    if length is not None and len(data) != length:
        raise MalformedBytes(what, f"it has {len(data)} bytes, not {length}")
    return data


def _parse(text: str | bytes, what: str) -> object:
    try:
        decoded = text if isinstance(text, str) else text.decode()
    except UnicodeDecodeError:
        raise MalformedBytes(what, "it is not UTF-8") from None
    return parse_json(decoded, what)


def _signatures_to_json(signed: SignedState) -> dict[str, str]:
    return {str(index): hex_text(signature.compact) for index, signature in sorted(signed.signatures.items())}


def _signatures_from_json(content: Mapping[str, object]) -> dict[int, Signature]:
    signatures = {}
    for index, text in content.items():
        if index not in _INDICES:
            raise MalformedBytes("signatures", f"their names are the participants' indices, below {MAX_PARTICIPANTS}")
        signatures[int(index)] = Signature(parse_hex(text, "a signature", 64))
    return signatures


_INDICES = frozenset(map(str, range(MAX_PARTICIPANTS)))
