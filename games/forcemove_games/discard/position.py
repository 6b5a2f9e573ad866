"""Positions of Discard in a channel, as data and as bytes. A position that exists is valid, and has one encoding.

appData begins with the core, 19 words: positionType, stake, channelId, hand, key0.x, key0.y, key1.x, key1.y, root,
held0, held1, drawn, top, denied0, denied1, pending, passes, shared, laid. What a type does not use is zero. While the
deck is shuffled and dealt (types 3 to 5) its 49 words follow, as `forcemove_games.cards.deck` reads them. What shows
that a move was right is the state's evidence, see `evidence`. Knows no rule about two positions.
"""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from forcemove import UINT48_MAX, UINT256_MAX, InvalidValue, LabelledEnum, require_bytes, require_uint
from forcemove_games import two_player
from forcemove_games.cards.deck import deck_length
from forcemove_games.discard_sra.cards import SIZE

HAND_SIZE = 5
"""How many cards each side is dealt: indices 0 to 4 of the deck to A, who shows the first key, 5 to 9 to B."""
TOP_INDEX = 2 * HAND_SIZE
"""The index of the card that is turned up."""
DEAL_ITEMS = HAND_SIZE + 1
"""The shares of a deal: of the other's hand, and of the card that is turned up."""
SHOWN_AT_ONCE = 4
"""How many cards one move of showing has, unless fewer are left."""
KeyWords = tuple[int, int]
"""x and y of a key."""
NO_KEY: KeyWords = (0, 0)
"""In the place of a key that was not shown yet."""
CORE_LENGTH = 19 * 32
"""Bytes of the core."""
DECK_LENGTH = deck_length(SIZE)
"""Bytes of a deck."""
_ZERO = bytes(32)
_ALL_CARDS = 2**SIZE - 1


class PositionType(LabelledEnum):
    """What the mover of the state has done."""

    READY = 0
    KEYED_FIRST = 1
    KEYED = 2
    SHUFFLED_FIRST = 3
    SHUFFLED = 4
    DEALT_FIRST = 5
    DEALT = 6
    PLAYING = 7
    OVER = 8
    SHOWING = 9
    TIED = 10


_PLAYING = PositionType.PLAYING
_WITH_DECK = (PositionType.SHUFFLED_FIRST, PositionType.SHUFFLED, PositionType.DEALT_FIRST)


class CoreWord:
    """The places of words in the core; of pairs, that of participant 0."""

    POSITION_TYPE = 0
    STAKE = 1
    CHANNEL_ID = 2
    HAND = 3
    KEYS = 4
    ROOT = 8
    HELD = 9
    DRAWN = 11
    TOP = 12
    DENIED = 13
    PENDING = 15
    PASSES = 16
    SHARED = 17
    LAID = 18


def _limits(kind: PositionType) -> tuple[int, ...]:
    """The highest value of each word from the hand's number on."""
    keyed, dealt, played = (kind >= first for first in (PositionType.KEYED_FIRST, PositionType.DEALT, _PLAYING))
    in_play, shows = kind in (_PLAYING, PositionType.OVER), kind in (PositionType.SHOWING, PositionType.TIED)
    return (
        UINT48_MAX,
        *(UINT256_MAX * keyed,) * 2 * two_player.PLAYERS,
        UINT256_MAX * dealt,
        *(_ALL_CARDS * dealt,) * two_player.PLAYERS,
        SIZE * dealt,
        (SIZE - 1) * dealt,
        *(_ALL_CARDS * played,) * two_player.PLAYERS,
        SIZE * (kind is _PLAYING),
        2 * played,
        SIZE * in_play,
        SIZE * in_play + SHOWN_AT_ONCE * shows,
    )


_LIMITS = {kind: _limits(kind) for kind in PositionType}


class Core(Struct, frozen=True):
    """The part that every position has. Pairs are by seat: the first is participant 0's.

    - `position_type`: what the mover has done.
    - `stake`: of a hand, uint256, in the asset's smallest unit.
    - `channel_id`: 32 bytes.
    - `hand`: the number of the hand from 0, uint48.
    - `keys`: x and y of each player's key for this hand; `NO_KEY` before it was shown.
    - `root`: 32 bytes, of the masked deck's tree, from `DEALT` on.
    - `held`: the indices of each player's cards in the deck, as bits.
    - `drawn`: the index of the next card of the pile; 24 where the pile is empty.
    - `top`: the card that was turned up or laid last.
    - `denied`: the cards that each player has said not to have, as bits.
    - `pending`: one more than the index of the card that this move draws, or 0. The answer has the share of it.
    - `passes`: how many moves in a row were "can't move", this one included: at most 2.
    - `shared`: one more than the index of the card of which this move has the share, or 0.
    - `laid`: one more than the index of the card that this move lays, or 0; while cards are shown, how many.

    Raises `InvalidValue` on what is no such number or bytes at all, then `MalformedPosition`.
    """

    position_type: PositionType
    stake: int
    channel_id: bytes
    hand: int = 0
    keys: tuple[KeyWords, KeyWords] = (NO_KEY, NO_KEY)
    root: bytes = _ZERO
    held: tuple[int, int] = (0, 0)
    drawn: int = 0
    top: int = 0
    denied: tuple[int, int] = (0, 0)
    pending: int = 0
    passes: int = 0
    shared: int = 0
    laid: int = 0

    def __post_init__(self) -> None:
        if type(self.position_type) is not PositionType:
            raise InvalidValue("position_type", self.position_type, "a PositionType")
        require_bytes("channel_id", self.channel_id, 32)
        require_bytes("root", self.root, 32)
        words = self.words
        for place, value in enumerate(words[1:], 1):
            require_uint(f"word {place}", value, UINT256_MAX)
        for place, limit in enumerate(_LIMITS[self.position_type], CoreWord.HAND):
            if words[place] > limit:
                raise two_player.MalformedPosition(place, words[place])

    @property
    def words(self) -> tuple[int, ...]:
        """The 19 words as integers."""
        return (
            int(self.position_type),
            self.stake,
            int.from_bytes(self.channel_id, "big"),
            self.hand,
            *self.keys[0],
            *self.keys[1],
            int.from_bytes(self.root, "big"),
            *self.held,
            self.drawn,
            self.top,
            *self.denied,
            self.pending,
            self.passes,
            self.shared,
            self.laid,
        )

    def encode(self) -> bytes:
        """The 608 bytes at the beginning of appData."""
        return two_player.encode_words(*self.words)

    @property
    def pile(self) -> int:
        """How many cards are left to draw, from `DEALT` on."""
        return SIZE - self.drawn


class Position(Struct, frozen=True):
    """One position: its core, and from `SHUFFLED_FIRST` to `DEALT_FIRST` the deck's 1,568 bytes; what they are, only
    players look at before it is dealt. Raises `InvalidValue` where they do not fit together."""

    core: Core
    deck: bytes = b""

    def __post_init__(self) -> None:
        require_bytes("deck", self.deck, _deck_length(self.core))

    @property
    def position_type(self) -> PositionType:
        """What the mover of the state has done."""
        return self.core.position_type

    @property
    def stake(self) -> int:
        """Of a hand, in the asset's smallest unit."""
        return self.core.stake

    def encode(self) -> bytes:
        """The bytes of appData: 608, with a deck 2,176."""
        return self.core.encode() + self.deck


@lru_cache(maxsize=two_player.DECODED_POSITIONS)
def decode(app_data: bytes) -> Position:
    """The position in appData. Raises `WrongPositionLength` where there is no core, then `MalformedPosition`, then
    `WrongPositionLength`."""
    if len(app_data) < CORE_LENGTH:
        raise two_player.WrongPositionLength(CORE_LENGTH, len(app_data))
    core = _decode_core(app_data[:CORE_LENGTH])
    expected = CORE_LENGTH + _deck_length(core)
    if len(app_data) != expected:
        raise two_player.WrongPositionLength(expected, len(app_data))
    return Position(core, app_data[CORE_LENGTH:])


def initial(channel_id: bytes, stake: int) -> Position:
    """The first position of a channel with this stake: who moves next shows the first key."""
    return Position(Core(PositionType.READY, stake, channel_id))


# ------------------------------------------------------------------------------------------------------------ parts


def _decode_core(data: bytes) -> Core:
    kind, stake, channel, hand, *words = (int.from_bytes(data[at : at + 32], "big") for at in range(0, CORE_LENGTH, 32))
    if kind > PositionType.TIED:
        raise two_player.MalformedPosition(CoreWord.POSITION_TYPE, kind)
    x0, y0, x1, y1, root, held0, held1, drawn, top, denied0, denied1, pending, passes, shared, laid = words
    return Core(
        PositionType(kind),
        stake,
        channel.to_bytes(32, "big"),
        hand,
        ((x0, y0), (x1, y1)),
        root.to_bytes(32, "big"),
        (held0, held1),
        drawn,
        top,
        (denied0, denied1),
        pending,
        passes,
        shared,
        laid,
    )


def _deck_length(core: Core) -> int:
    return DECK_LENGTH if core.position_type in _WITH_DECK else 0
