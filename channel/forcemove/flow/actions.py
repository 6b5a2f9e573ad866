"""Actions: what clients say to each other, as values and as bytes. Pure.

An action is a frozen struct with the id of the client that says it and a type; the actions of one game are a closed
union. Their bytes are canonical JSON: members sorted by name, no spaces, nothing unknown, nothing missing. One action
has one encoding, so that a signature over the bytes is a signature over the action.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import msgspec

from forcemove.errors import CounterpartyError, MalformedBytes
from forcemove.protocol.codec import json_text
from forcemove.protocol.codec.limits import MAX_ACTION, MAX_CLIENT_ID, MAX_NESTING

__all__ = ["Action", "ActionCodec", "MalformedAction", "client_of", "require_shallow", "type_of"]


class Action(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """What a client does. Subclass it for each type: `class Play(Action, frozen=True, tag="Play")`, with JSON fields.

    `client_id`: the client that does it, 1 to 64 characters. The type is the subclass's tag, its name unless it says
    otherwise.
    """

    client_id: str


A = TypeVar("A", bound=Action)


def type_of(action: type[Action]) -> str:
    """The type that actions of this class have in messages: its tag."""
    return str(action.__struct_config__.tag)


class MalformedAction(CounterpartyError):
    """Bytes on the log that are not an action of this game. `client_id`: the sender that they name, if they name
    one."""

    reason: str
    client_id: str | None = None


class ActionCodec(Generic[A]):
    """Encodes and decodes the actions of one game."""

    def __init__(self, *types: type[A]) -> None:
        """`types`: all the game's actions, each a subclass of `Action` with a tag of its own."""
        self.types = types
        union: Any = types[0]
        for each in types[1:]:
            union = union | each
        self._decoder: msgspec.json.Decoder[A] = msgspec.json.Decoder(union)
        self._encoder = msgspec.json.Encoder(order="sorted")

    def encode(self, action: A) -> bytes:
        """The canonical bytes. Raises `MalformedAction` where the action has values that do not decode again."""
        data = self._encoder.encode(action)
        self.decode(data)
        return data

    def decode(self, data: bytes) -> A:
        """The action. Raises `MalformedAction` on anything that `encode` would not have written."""
        if len(data) > MAX_ACTION:
            raise MalformedAction(f"it has {len(data)} bytes; {MAX_ACTION} are allowed")
        require_shallow(data)
        try:
            action = self._decoder.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise MalformedAction(str(error), _client_if_known(data)) from None
        if self._encoder.encode(action) != data:
            raise MalformedAction("it is not in canonical form", action.client_id)
        _require_client_id(action.client_id)
        return action


class _Header(msgspec.Struct):
    client_id: str


_HEADER = msgspec.json.Decoder(_Header)


def client_of(data: bytes) -> str:
    """The client that an action's bytes name. Raises `MalformedAction` where they name none."""
    require_shallow(data)
    try:
        client_id = _HEADER.decode(data).client_id
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MalformedAction(str(error)) from None
    _require_client_id(client_id)
    return client_id


def require_shallow(data: bytes) -> None:
    """Raise `MalformedAction` where JSON is nested deeper than an action may be: before any parser sees it."""
    try:
        json_text.require_shallow(data, "action", MAX_NESTING)
    except MalformedBytes as error:
        raise MalformedAction(error.reason) from None


def _client_if_known(data: bytes) -> str | None:
    try:
        return client_of(data)
    except MalformedAction:
        return None


def _require_client_id(client_id: str) -> None:
    if not 1 <= len(client_id) <= MAX_CLIENT_ID:
        raise MalformedAction(f"client_id has {len(client_id)} characters; 1 to {MAX_CLIENT_ID} are allowed")
