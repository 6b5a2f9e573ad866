"""What players say to each other at a channel's table. Pure.

A line of chat is an entry of the table's log beside the channel's messages. Its sender signs it, with an EIP-712 type
of its own in the relay's domain, so that it can be taken for nothing that binds anybody to money. No journal and no
channel's history has it; the relay or the NATS server keeps it as it keeps all entries, and can read it. The bytes are
`CHAT_MARK`, by which an entry is known for chat, and then a version and the line as MessagePack
(`codec.msgpack_codec`).
"""

from __future__ import annotations

import re
import unicodedata

from msgspec import Struct

from forcemove.errors import InvalidValue, MalformedBytes
from forcemove.protocol.codec.msgpack_codec import Codec
from forcemove.protocol.encoding import word
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.signing import Key, recover
from forcemove.protocol.types import UINT64_MAX, Signature, require_bytes, require_uint
from forcemove.transport.terms import relay_digest, text_hash

CHAT_TYPE = b"Chat(bytes32 table,uint64 number,string text)"
_CHAT_TYPEHASH = keccak256(CHAT_TYPE)
CHAT_MARK = b"chat"
"""The first bytes of a log's entry that is chat. A channel's message begins with another character."""
MAX_CHAT = 200
"""Characters of a line."""
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
"""Surrogates: a terminal gives them for bytes that are not UTF-8."""
_MAX_BYTES = 1_024
"""Bytes of an entry: the most characters, each of four bytes, and what is around them."""


class ChatLine(Struct, frozen=True):
    """One line. Raises `InvalidValue`.

    - `table`: 32 bytes, the table's id.
    - `number`: rises with each line of a sender, so that none can be shown twice.
    - `text`: 1 to 200 characters in Unicode's form NFC, not all of them spaces; or empty, which says that the sender is
      there, and nothing else. The number is the sender's time in microseconds.
    """

    table: bytes
    number: int
    text: str

    def __post_init__(self) -> None:
        require_bytes("table", self.table, 32)
        require_uint("number", self.number, UINT64_MAX)
        is_normal = unicodedata.is_normalized("NFC", self.text) and not _HALF_CHARACTER.search(self.text)
        if self.text and not (self.text.strip() and len(self.text) <= MAX_CHAT and is_normal):
            raise InvalidValue("text", self.text, f"1 to {MAX_CHAT} characters, in Unicode's form NFC")

    @property
    def digest(self) -> bytes:
        """What the sender signs."""
        return relay_digest(_CHAT_TYPEHASH + self.table + word(self.number) + text_hash(self.text))


class SignedChat(Struct, frozen=True):
    """A line that its sender has signed."""

    line: ChatLine
    signature: Signature

    @classmethod
    def sign(cls, line: ChatLine, key: Key) -> SignedChat:
        """Sign a line."""
        return cls(line, key.sign(line.digest))

    @property
    def sender(self) -> bytes:
        """The address that has signed. Raises `SignatureMalleable` and `SignatureUnrecoverable`."""
        return recover(self.line.digest, self.signature)

    def encode(self) -> bytes:
        """The entry's bytes."""
        return CHAT_MARK + _CODEC.encode(self)

    @classmethod
    def decode(cls, entry: bytes) -> SignedChat:
        """The inverse of `encode`. Raises `MalformedBytes` and `UnknownVersion`."""
        if len(entry) > _MAX_BYTES:
            raise MalformedBytes("chat", f"it has {len(entry)} bytes; {_MAX_BYTES} are allowed")
        if not entry.startswith(CHAT_MARK):
            raise MalformedBytes("chat", "it does not begin as chat does")
        return _CODEC.decode(entry[len(CHAT_MARK) :])


_CODEC: Codec[SignedChat] = Codec("chat", SignedChat)
