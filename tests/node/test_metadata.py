"""What a journal keeps of a channel besides its snapshot can be read again, by this program and by later ones."""

from __future__ import annotations

from msgspec import msgpack

from forcemove.history.tokens import TokenFacts
from forcemove.node.metadata import METADATA, ChannelMetadata

OF_BEFORE = ("app", "from_block", "factory", "confirmations", "began", "begun_at")
"""What programs wrote that knew no tokens."""


def test_what_tokens_say_of_themselves_survives() -> None:
    tokens = (TokenFacts(b"\xa0" * 20, "USDC", 6),)
    metadata = ChannelMetadata("TicTacToe", 7, b"\xfa" * 20, 2, b"\x07" * 32, 9, tokens)
    assert METADATA.decode(METADATA.encode(metadata)) == metadata
    assert metadata.tokens == tokens


def test_what_was_written_before_tokens_were_known_is_read_and_written_as_it_was() -> None:
    metadata = ChannelMetadata("TicTacToe", 7, b"\xfa" * 20, 2, b"\x07" * 32, 9)
    written = METADATA.encode(metadata)
    assert tuple(msgpack.decode(written)[1]) == OF_BEFORE
    assert METADATA.decode(written).tokens == ()


def test_what_players_were_called_survives() -> None:
    metadata = ChannelMetadata("TicTacToe", 7, b"\xfa" * 20, 2, b"\x07" * 32, 9, player_names=("Ann", ""))
    assert METADATA.decode(METADATA.encode(metadata)).names == ("Ann", "")
