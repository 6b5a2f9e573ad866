"""The rules of Discard in a channel: the twin of `Discard.sol`, with the same errors in the same order.

The contract looks into neither deck nor proof of a shuffle: players check those before they answer, and leave if they
are wrong. What moves are made of is in `steps`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from forcemove import VariablePart
from forcemove_games import two_player
from forcemove_games.cards.curve import ORDER, Point
from forcemove_games.cards.deck import CardWords, encode_words_of, require_opens, root_from, root_of, split_deck
from forcemove_games.cards.errors import CardUnknown, PointRefused
from forcemove_games.cards.key_proof import KeyProof, require_key
from forcemove_games.cards.share_proof import ShareProof, take_shares
from forcemove_games.discard import errors, steps
from forcemove_games.discard.evidence import (
    DealtShares,
    Evidence,
    MoveShares,
    ShownCards,
    TouchedCard,
    decode_evidence,
)
from forcemove_games.discard.position import (
    CORE_LENGTH,
    HAND_SIZE,
    TOP_INDEX,
    Core,
    CoreWord,
    Position,
    PositionType,
    decode,
)
from forcemove_games.discard.table import STAKES, TABLE
from forcemove_games.discard_sra.cards import SIZE, fits

__all__ = ["TABLE", "require_legal", "valid_transition"]

_ROWS = {(row.from_type, row.to_type) for row in TABLE}
_PASSES = 2


@dataclass(frozen=True, slots=True)
class _Move:
    """Two positions, who has made the second of the first, and by what it is shown to be right."""

    old: Position
    new: Position
    evidence: Evidence
    turn_num: int

    @property
    def seat(self) -> int:
        return self.turn_num % two_player.PLAYERS


# -------------------------------------------------------------------------------------------- the twin of the contract


def valid_transition(channel_id: bytes, from_: VariablePart, to: VariablePart, num_participants: int) -> bool:
    """Whether `to` may follow `from_`: True, or an `AppError`. The twin of `Discard.validTransition`."""
    require_legal(channel_id, from_, to, num_participants)
    return True


def require_legal(channel_id: bytes, from_: VariablePart, to: VariablePart, num_participants: int) -> None:
    """Refuse, with an `AppError`, a state that may not follow `from_` in this channel."""
    two_player.require_two_players(from_.outcome, to.outcome, num_participants)
    before, after = decode(from_.app_data), decode(to.app_data)
    old, new = before.core, after.core
    move = _Move(before, after, decode_evidence(new, to.evidence), to.turn_num)
    two_player.require_same_stake(old.stake, new.stake)
    _require_row(old, new)
    if old.channel_id != channel_id:
        raise errors.OtherChannel(channel_id, old.channel_id)
    if old.position_type is PositionType.READY:
        two_player.require_both_afford(from_.outcome, old.stake)
    two_player.require_paid(from_.outcome, to.outcome, move.seat, STAKES[new.position_type], old.stake)
    _CHECKS[new.position_type](move)


def _require_row(old: Core, new: Core) -> None:
    """After two can't-moves cards are shown, and not before."""
    row = (old.position_type, new.position_type)
    shows = new.position_type is PositionType.SHOWING
    if row not in _ROWS or (row[0] is PositionType.PLAYING and shows != (old.passes == _PASSES)):
        raise two_player.NoSuchTransition(*map(int, row))


def _require_core(move: _Move, expected: Core) -> None:
    for place, pair in enumerate(zip(expected.words, move.new.core.words, strict=True)):
        _require_word(place, *pair)


def _require_word(place: int, expected: int, submitted: int) -> None:
    if submitted != expected:
        raise errors.UnexpectedWord(place, expected, submitted)


# ----------------------------------------------------------------------------------------------------------- set-up


def _check_ready(move: _Move) -> None:
    _require_core(move, steps.next_hand(move.old.core))


def _check_keyed(move: _Move) -> None:
    key = move.new.core.keys[move.seat]
    _require_core(move, steps.keyed(move.old.core, move.seat, key))
    assert isinstance(move.evidence, KeyProof)  # noqa: S101  # by its type
    require_key(Point.from_coordinates(*key), move.evidence, move.new.core.channel_id, move.turn_num)


def _check_shuffled(move: _Move) -> None:
    _require_core(move, steps.shuffled(move.old.core))


def _check_dealt_first(move: _Move) -> None:
    _require_core(move, steps.dealt_first(move.old.core))
    deck = encode_words_of(_dealt_deck(move, range(HAND_SIZE, TOP_INDEX + 1)))
    for at in range(0, len(deck), 32):
        pair = (int.from_bytes(data[at : at + 32], "big") for data in (deck, move.new.deck))
        _require_word((CORE_LENGTH + at) // 32, *pair)


def _check_dealt(move: _Move) -> None:
    new = move.new.core
    _require_core(move, steps.dealt(move.old.core, move.seat, new.root, new.top))
    deck = _dealt_deck(move, (*range(HAND_SIZE), TOP_INDEX))
    _require_root(new, root_of(deck))
    _require_opens(deck[TOP_INDEX], new.top)


def _dealt_deck(move: _Move, places: Sequence[int]) -> list[CardWords]:
    """The deck of the position before, without the mover's shares of these cards."""
    shares = move.evidence
    assert isinstance(shares, DealtShares)  # noqa: S101  # by its type
    deck = list(split_deck(move.old.deck))
    key, channel_id = _key(move), move.new.core.channel_id
    cards = [deck[place] for place in places]
    taken = take_shares(key, cards, shares.proof, shares.items, channel_id, move.turn_num)
    for place, card in zip(places, taken, strict=True):
        deck[place] = card
    return deck


# ------------------------------------------------------------------------------------------------------------- play


def _check_play(move: _Move) -> None:
    old, new = move.old.core, move.new.core
    root = new.root if old.pending else old.root
    if new.laid:
        _require_may_lay(old, move.seat, new.laid - 1, new.top)
        expected = steps.laid(old, move.seat, new.laid - 1, new.top, root)
    elif new.pending:
        if old.drawn == SIZE:
            raise errors.NothingToDraw(old.drawn)
        expected = steps.drew(old, move.seat, root)
    else:
        if old.drawn != SIZE:
            raise errors.CouldDraw(old.drawn)
        expected = steps.could_not_move(old, move.seat, root)
    _require_core(move, expected)
    if isinstance(move.evidence, MoveShares):
        _require_play_shares(move, move.evidence)


def _require_may_lay(old: Core, seat: int, index: int, card: int) -> None:
    if not old.held[seat] >> index & 1:
        raise errors.CardNotHeld(index)
    if not fits(card, old.top):
        raise errors.CardDoesNotFit(card, old.top)
    _require_not_denied(old, seat, card)


def _require_not_denied(old: Core, seat: int, card: int) -> None:
    if old.denied[seat] >> card & 1:
        raise errors.CardDenied(card)


def _require_play_shares(move: _Move, shares: MoveShares) -> None:
    new = move.new.core
    places = [place - 1 for place in (new.shared, new.laid) if place]
    taken = _take_touched(move, places, shares.proof, shares.touched)
    if shares.shared is not None:
        _require_root(new, root_from(places[0], taken[0].leaf(places[0]), shares.shared.path))
    if shares.laid is not None:
        _require_opens(taken[-1], new.top)


def _check_shown(move: _Move) -> None:
    old = move.old.core
    _require_core(move, steps.shown(old, move.seat))
    shown = move.evidence
    if not isinstance(shown, ShownCards):
        return
    for card in shown.cards:
        if card.number >= SIZE:
            raise CardUnknown(card.number)
        _require_not_denied(old, move.seat, card.number)
    places = steps.shown_indices(old.held[move.seat])
    taken = _take_touched(move, places, shown.proof, [card.touched for card in shown.cards])
    for card, words in zip(shown.cards, taken, strict=True):
        _require_opens(words, card.number)


_CHECKS: dict[PositionType, Callable[[_Move], None]] = {
    PositionType.READY: _check_ready,
    PositionType.KEYED_FIRST: _check_keyed,
    PositionType.KEYED: _check_keyed,
    PositionType.SHUFFLED_FIRST: _check_shuffled,
    PositionType.SHUFFLED: _check_shuffled,
    PositionType.DEALT_FIRST: _check_dealt_first,
    PositionType.DEALT: _check_dealt,
    PositionType.PLAYING: _check_play,
    PositionType.OVER: _check_play,
    PositionType.SHOWING: _check_shown,
    PositionType.TIED: _check_shown,
}


# ----------------------------------------------------------------------------------------------------------- shares


def _take_touched(
    move: _Move, places: Sequence[int], proof: ShareProof, touched: Sequence[TouchedCard]
) -> tuple[CardWords, ...]:
    """The cards with these indices without the mover's shares; they are in the deck of the position before."""
    old = move.old.core
    for place, each in zip(places, touched, strict=True):
        if root_from(place, each.card.leaf(place), each.path) != old.root:
            raise errors.CardNotInDeck(place)
    cards, items = [each.card for each in touched], [each.item for each in touched]
    return take_shares(_key(move), cards, proof, items, old.channel_id, move.turn_num)


def _key(move: _Move) -> Point:
    """The mover's key. It was checked when it was shown; where these states were never played, it may be none."""
    x, y = move.old.core.keys[move.seat]
    key = Point.from_coordinates(x, y)
    if not 0 < x < ORDER:
        raise PointRefused(x, y)
    return key


def _require_root(new: Core, root: bytes) -> None:
    _require_word(CoreWord.ROOT, int.from_bytes(root, "big"), int.from_bytes(new.root, "big"))


def _require_opens(card: CardWords, number: int) -> None:
    require_opens(Point.from_coordinates(card.c2x, card.c2y), number)
