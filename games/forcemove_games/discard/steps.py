"""The core of the position after each kind of move. Pure. A step checks nothing: `rules` says whether it is allowed."""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from forcemove_games.discard.position import HAND_SIZE, SHOWN_AT_ONCE, TOP_INDEX, Core, KeyWords, PositionType
from forcemove_games.discard_sra.cards import SIZE, fits

_T = TypeVar("_T")
_FIRST_HAND = (1 << HAND_SIZE) - 1
_SECOND_HAND = _FIRST_HAND << HAND_SIZE


def fit_mask(top: int) -> int:
    """The cards that fit on this one, as bits; it is one of them."""
    return sum(1 << card for card in range(SIZE) if fits(card, top))


def indices(held: int) -> tuple[int, ...]:
    """The bits of a set, rising."""
    return tuple(index for index in range(SIZE) if held >> index & 1)


def shown_indices(held: int) -> tuple[int, ...]:
    """The indices that a player with these cards shows in one move: the lowest four, or all."""
    return indices(held)[:SHOWN_AT_ONCE]


def next_hand(core: Core) -> Core:
    """After the end of a hand: ready for the next one."""
    return Core(PositionType.READY, core.stake, core.channel_id, core.hand + 1)


def keyed(core: Core, seat: int, key: KeyWords) -> Core:
    """A player shows the key for this hand: A the first, B the second."""
    is_first = core.position_type is PositionType.READY
    kind = PositionType.KEYED_FIRST if is_first else PositionType.KEYED
    return replace(core, position_type=kind, keys=_with(core.keys, seat, key))


def shuffled(core: Core) -> Core:
    """A player shuffles the deck: A the first time, B the second."""
    is_first = core.position_type is PositionType.KEYED
    return replace(core, position_type=PositionType.SHUFFLED_FIRST if is_first else PositionType.SHUFFLED)


def dealt_first(core: Core) -> Core:
    """A gives its shares of B's hand and of the card that is turned up."""
    return replace(core, position_type=PositionType.DEALT_FIRST)


def dealt(core: Core, seat: int, root: bytes, top: int) -> Core:
    """B gives its shares of A's hand and of the card that is turned up.

    - `core`: of the position before.
    - `seat`: of B.
    - `root`: of the deck without all shares of the deal.
    - `top`: the card that is turned up.
    """
    held = (_FIRST_HAND, _SECOND_HAND) if seat == 1 else (_SECOND_HAND, _FIRST_HAND)
    return replace(core, position_type=PositionType.DEALT, root=root, held=held, drawn=TOP_INDEX + 1, top=top)


def laid(core: Core, seat: int, index: int, card: int, root: bytes) -> Core:
    """A player lays a card; its last one ends the hand.

    - `core`: of the position before.
    - `seat`: of the mover.
    - `index`: of the card in the deck.
    - `card`: its number.
    - `root`: of the deck without the share of what was pending; as before if nothing was. What is laid stays in the
      deck as it is.
    """
    held = core.held[seat] & ~(1 << index)
    return replace(
        _turned(core, root),
        position_type=PositionType.PLAYING if held else PositionType.OVER,
        held=_with(core.held, seat, held),
        top=card,
        laid=index + 1,
    )


def drew(core: Core, seat: int, root: bytes) -> Core:
    """A player draws the next card of the pile. `root`: as in `laid`."""
    held = core.held[seat] | 1 << core.drawn
    return replace(
        _turned(core, root),
        held=_with(core.held, seat, held),
        drawn=core.drawn + 1,
        pending=core.drawn + 1,
    )


def could_not_move(core: Core, seat: int, root: bytes) -> Core:
    """A player says that it can't move, and with that which cards it does not have. `root`: as in `laid`."""
    denied = core.denied[seat] | fit_mask(core.top)
    return replace(_turned(core, root), denied=_with(core.denied, seat, denied), passes=core.passes + 1)


def shown(core: Core, seat: int) -> Core:
    """After two can't-moves a player shows its next cards, none if it has shown all."""
    shows = shown_indices(core.held[seat])
    held = _with(core.held, seat, core.held[seat] & ~sum(1 << index for index in shows))
    kind = PositionType.SHOWING if any(held) else PositionType.TIED
    return replace(core, position_type=kind, held=held, pending=0, shared=0, laid=len(shows))


def _turned(core: Core, root: bytes) -> Core:
    """What every move of play does, before what it does itself."""
    return replace(
        core, position_type=PositionType.PLAYING, root=root, pending=0, passes=0, shared=core.pending, laid=0
    )


def _with(pair: tuple[_T, _T], seat: int, value: _T) -> tuple[_T, _T]:
    return (value, pair[1]) if seat == 0 else (pair[0], value)
