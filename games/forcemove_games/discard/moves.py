"""The moves of a player of Discard, each with the secrets that must be stored before it is signed. Pure but for a new
seed at the beginning of a hand. A move that its player may not make is refused by the rules, not here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from forcemove import Move
from forcemove_games.cards import deck as decks
from forcemove_games.cards.key_proof import prove_key
from forcemove_games.cards.share_proof import ShareItem, ShareProof, prove_shares, share_of
from forcemove_games.cards.shuffle_proof import shuffle
from forcemove_games.discard import steps
from forcemove_games.discard.evidence import (
    DealtShares,
    Evidence,
    MoveShares,
    ShownCard,
    ShownCards,
    ShuffleProof,
    TouchedCard,
    encode_evidence,
)
from forcemove_games.discard.hand import PlayerSide, dealt_places, joint_of
from forcemove_games.discard.position import Core, Position, PositionType
from forcemove_games.discard.secrets import HandSecrets, HandSeed
from forcemove_games.discard.table import STAKES
from forcemove_games.discard_sra.cards import SIZE
from forcemove_games.randomness import Randomness
from forcemove_games.two_player import take_stakes

_SEED_LENGTH = 32


class MadeMove(NamedTuple):
    """A move, and the secrets with which its player goes on."""

    move: Move
    secrets: HandSecrets


def made(side: PlayerSide, core: Core, evidence: Evidence, secrets: HandSecrets, deck: bytes = b"") -> MadeMove:
    """The move to this position, with what its type pays.

    - `side`: of the mover, in the state before.
    - `core`: of the position.
    - `evidence`: of the move.
    - `secrets`: with which the mover goes on.
    - `deck`: of the position, where its type has one.
    """
    stakes = STAKES[core.position_type]
    outcome = take_stakes(side.state.outcome, side.seat, stakes, core.stake)
    return MadeMove(Move(outcome, Position(core, deck).encode(), encode_evidence(evidence)), secrets)


def next_hand(side: PlayerSide) -> MadeMove:
    """After a hand: another one."""
    return made(side, steps.next_hand(side.core), None, side.secrets)


# ------------------------------------------------------------------------------------------------------------ set-up


def set_up(side: PlayerSide, randomness: Randomness) -> MadeMove:
    """The next move before play begins: to show a key, to shuffle, or to deal. `randomness`: of a new seed."""
    kind = side.core.position_type
    if kind in (PositionType.READY, PositionType.KEYED_FIRST):
        return show_key(side, randomness)
    return _shuffle(side) if kind in (PositionType.KEYED, PositionType.SHUFFLED_FIRST) else deal(side)


def show_key(side: PlayerSide, randomness: Randomness) -> MadeMove:
    """The key of a new hand: from the seed that was drawn before for this turn, or a new one."""
    turn = side.state.turn_num + 1
    seed = side.secrets.seed_of(turn)
    secrets = side.secrets
    if seed is None:
        seed = HandSeed(turn, randomness(_SEED_LENGTH))
        secrets = secrets.with_seed(seed)
    key, proof = prove_key(seed.key, side.core.channel_id, turn, seed.source("key proof", side.state))
    return made(side, steps.keyed(side.core, side.seat, (key.x, key.y)), proof, secrets)


def _shuffle(side: PlayerSide) -> MadeMove:
    joint, turn = joint_of(side.core), side.state.turn_num + 1
    before = decks.decode_deck(side.position.deck, SIZE) if side.position.deck else decks.first_deck(SIZE, joint)
    deck, proof = shuffle(before, joint, side.core.channel_id, turn, side.seed.source("shuffle", side.state))
    shuffled = decks.encode_deck(deck)
    secrets = side.secrets.with_deck(turn, shuffled)
    return made(side, steps.shuffled(side.core), ShuffleProof(proof), secrets, shuffled)


class DealParts(NamedTuple):
    """What a deal is made of: the deck without the dealer's shares, the shares, and one proof for all of them. `top`:
    the masked card that is turned up, without all shares that were given of it."""

    deck: decks.Deck
    shares: DealtShares
    top: decks.MaskedCard


def deal_parts(side: PlayerSide) -> DealParts:
    """Our shares of the other's hand and of the card that is turned up, whatever that turns out to be."""
    is_first = side.core.position_type is PositionType.SHUFFLED
    places = dealt_places(PositionType.DEALT_FIRST if is_first else PositionType.DEALT)
    deck = decks.decode_deck(side.position.deck, SIZE)
    proof, items = _shares(side, [deck[place] for place in places])
    after = _without_ours(side, deck, places)
    return DealParts(after, DealtShares(proof, items), after[places[-1]])


def deal(side: PlayerSide) -> MadeMove:
    """Our shares of the other's hand and of the card that is turned up."""
    deck, shares, top = deal_parts(side)
    encoded = decks.encode_deck(deck)
    secrets = side.secrets.with_deck(side.state.turn_num + 1, encoded)
    if side.core.position_type is PositionType.SHUFFLED:
        return made(side, steps.dealt_first(side.core), shares, secrets, encoded)
    core = steps.dealt(side.core, side.seat, decks.deck_root(deck), decks.open_card(top.c2, SIZE))
    return made(side, core, shares, secrets)


# -------------------------------------------------------------------------------------------------------------- play


def lay(side: PlayerSide, index: int) -> MadeMove:
    """Lay the card with this index of our hand."""
    root, secrets = _after_share(side)
    core = steps.laid(side.core, side.seat, index, side.number(index), root)
    return made(side, core, _move_shares(side, index), secrets)


def draw(side: PlayerSide) -> MadeMove:
    """Draw the next card of the pile."""
    root, secrets = _after_share(side)
    return made(side, steps.drew(side.core, side.seat, root), _move_shares(side), secrets)


def cannot_move(side: PlayerSide) -> MadeMove:
    """Say that we can't move."""
    root, secrets = _after_share(side)
    return made(side, steps.could_not_move(side.core, side.seat, root), _move_shares(side), secrets)


def show(side: PlayerSide) -> MadeMove:
    """Show our next cards, after two can't-moves."""
    places = steps.shown_indices(side.core.held[side.seat])
    core, secrets = steps.shown(side.core, side.seat), side.secrets.with_deck(*_deck_after(side, side.deck))
    if not places:
        return made(side, core, None, secrets)
    proof, touched = _touched(side, places)
    numbers = (side.number(place) for place in places)
    return made(side, core, ShownCards(proof, tuple(map(ShownCard, numbers, touched))), secrets)


def _after_share(side: PlayerSide) -> tuple[bytes, HandSecrets]:
    """The root and the secrets after our share of what the other has drawn."""
    deck = side.deck
    if side.core.pending:
        deck = _without_ours(side, deck, (side.core.pending - 1,))
    return decks.deck_root(deck), side.secrets.with_deck(*_deck_after(side, deck))


def _deck_after(side: PlayerSide, deck: decks.Deck) -> tuple[int, bytes]:
    return side.state.turn_num + 1, decks.encode_deck(deck)


def _without_ours(side: PlayerSide, deck: decks.Deck, places: Sequence[int]) -> decks.Deck:
    return tuple(
        decks.take_off(card, share_of(side.seed.key, card)) if place in places else card
        for place, card in enumerate(deck)
    )


def _move_shares(side: PlayerSide, index: int | None = None) -> MoveShares | None:
    """Our shares of what the other has drawn, and of what we lay."""
    pending = side.core.pending
    places = [*([pending - 1] if pending else []), *([] if index is None else [index])]
    if not places:
        return None
    proof, touched = _touched(side, places)
    return MoveShares(proof, touched[0] if pending else None, None if index is None else touched[-1])


def _touched(side: PlayerSide, places: Sequence[int]) -> tuple[ShareProof, list[TouchedCard]]:
    cards = [side.deck[place] for place in places]
    proof, items = _shares(side, cards)
    return proof, [
        TouchedCard(decks.CardWords.of(card), item, decks.path_of(side.deck, place))
        for card, item, place in zip(cards, items, places, strict=True)
    ]


def _shares(side: PlayerSide, cards: Sequence[decks.MaskedCard]) -> tuple[ShareProof, tuple[ShareItem, ...]]:
    turn = side.state.turn_num + 1
    return prove_shares(side.seed.key, cards, side.core.channel_id, turn, side.seed.source("shares", side.state))
