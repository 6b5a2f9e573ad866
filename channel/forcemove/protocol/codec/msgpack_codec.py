"""The machine's values as bytes and back: channels and submissions, for a journal. Pure.

The bytes are MessagePack: an array of the format's version and the value. A value is a map that names its class and its
fields, so that every member of a union can be told from the others. Bytes stay raw; an integer that MessagePack has no
room for, as an amount may be, is an extension of type 1 with its bytes, the highest first. A decoded value would be
encoded to the same bytes again: no field is ignored, and none that is absent is filled in.

The names of classes and fields are part of the format: with any of them `VERSION` changes.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import UNSET
from msgspec.msgpack import Decoder, Encoder, Ext
from msgspec.structs import replace

from forcemove.errors import ForcemoveError, InvalidValue, MalformedBytes, UnknownVersion
from forcemove.protocol.codec.depth import most_headers, require_shallow
from forcemove.protocol.codec.json_text import require_version
from forcemove.protocol.errors import ChannelOfOlderContracts
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.machine.effects import Submission
from forcemove.protocol.types import UINT256_MAX

VERSION = 1
"""The version of the format that this program writes and reads."""
ValueT = TypeVar("ValueT")
_BIG_INTEGER = 1
_MAX_NATIVE = 2**64 - 1
_BYTES_OF_AN_INTEGER = 32
_NEVER_DEEP = 2_048
"""Arrays and maps that are decoded without a look at how they are nested: no stack is too short for as many inside each
other."""


class Codec(Generic[ValueT]):
    """Encodes and decodes the values of one type, or of one closed union. A field that is `UNSET` is not part of the
    bytes."""

    def __init__(self, what: str, type_: Any, version: int = VERSION) -> None:
        """`what`: what the values are called in errors; `type_`: their type, or the union of their types; `version`: of
        their format, where it has changed by itself."""
        self._what, self._type, self._version = what, type_, version

    def encode(self, value: ValueT) -> bytes:
        """The bytes of a value. Raises `InvalidValue` where an integer in it has more than 256 bits."""
        try:
            return _ENCODER.encode((self._version, value))
        except OverflowError:
            builtins = msgspec.to_builtins(value, builtin_types=(bytes,), enc_hook=_to_dict)
            return _ENCODER.encode((self._version, _with_extensions(builtins)))

    def decode(self, data: bytes) -> ValueT:
        """The inverse. Raises `UnknownVersion`, and `MalformedBytes` where the bytes are not those of such a value."""
        if len(data) > _NEVER_DEEP and most_headers(data) > _NEVER_DEEP:
            require_shallow(data, self._what)
        try:
            decoded = _DECODER.decode(data)
            if not isinstance(decoded, list) or len(decoded) != 2:
                raise MalformedBytes(self._what, "it is not an array of a version and a value")
            require_version(decoded[0], self._what, self._version)
            value: ValueT = msgspec.convert(decoded[1], self._type, builtin_types=(bytes,))
        except (MalformedBytes, UnknownVersion):
            raise
        except (msgspec.DecodeError, ForcemoveError, ValueError, RecursionError) as error:
            raise MalformedBytes(self._what, f"{error!s:.200}") from None
        if self.encode(value) != data:
            raise MalformedBytes(self._what, "it is not in canonical form")
        return value


def _to_dict(value: object) -> dict[object, object]:
    """Signatures by participant cannot be changed once they are made, which is a kind of mapping unknown to msgspec."""
    if isinstance(value, MappingProxyType):
        return dict(value)
    raise NotImplementedError(type(value).__name__)


def _with_extensions(value: object) -> object:
    match value:
        case int() if value > _MAX_NATIVE:
            return _extension(value)
        case dict():
            return {name: _with_extensions(each) for name, each in value.items()}
        case list() | tuple():
            return [_with_extensions(each) for each in value]
        case _:
            return value


def _extension(value: int) -> Ext:
    if value > UINT256_MAX:
        raise InvalidValue("value", value, "an integer of at most 256 bits")
    return Ext(_BIG_INTEGER, value.to_bytes((value.bit_length() + 7) // 8))


def _read_extension(code: int, data: memoryview) -> int:
    if code != _BIG_INTEGER or len(data) > _BYTES_OF_AN_INTEGER:
        raise ValueError(f"it has an extension of type {code} with {len(data)} bytes")
    return int.from_bytes(data)


_ENCODER = Encoder(enc_hook=_to_dict)
_DECODER: Decoder[Any] = Decoder(ext_hook=_read_extension)


class StatesCodec(Codec[ValueT]):
    """Encodes and decodes values with a channel's states, whose signatures and hashes are those of one version of the
    contracts."""

    def decode(self, data: bytes) -> ValueT:
        """As `Codec.decode`. Raises `ChannelOfOlderContracts` where the contracts are those of version 1."""
        try:
            return super().decode(data)
        except UnknownVersion as error:
            if error.version == 1:
                raise ChannelOfOlderContracts(error.what, error.version, error.known, _LAST_RELEASE) from None
            raise


class _ChannelCodec(StatesCodec[Channel]):
    """Leaves out what the endpoints do not agree on: the next process asks the endpoints again."""

    def encode(self, value: Channel) -> bytes:
        """As `Codec.encode`."""
        return super().encode(value if value.views is UNSET else replace(value, views=UNSET))


_LAST_RELEASE = "0.3.0"
"""The last release that knows the contracts of version 1."""
CHANNELS: Codec[Channel] = _ChannelCodec("channel", Channel, 2)
SUBMISSIONS: Codec[Submission] = Codec("submission", Submission)
