"""One player's side of a state of Discard: what its secrets open of the deck, and what is wrong with a shuffle. Pure.

The deck is remembered as of the player's own states. What the other's newest state has changed of it is in that state;
the deck is right when its root is the position's.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, lru_cache

from forcemove import AppError, MalformedBytes, VariablePart
from forcemove_games.cards.curve import Point
from forcemove_games.cards.deck import Deck, deck_root, decode_deck, first_deck, open_card, take_off
from forcemove_games.cards.key_proof import joint_key
from forcemove_games.cards.share_proof import ShareItem, share_of
from forcemove_games.cards.shuffle_proof import require_shuffle
from forcemove_games.discard.evidence import DealtShares, Evidence, MoveShares, ShuffleProof, decode_evidence
from forcemove_games.discard.position import HAND_SIZE, TOP_INDEX, Core, KeyWords, Position, PositionType, decode
from forcemove_games.discard.secrets import HandSecrets, HandSecretsLost, HandSeed
from forcemove_games.discard.steps import indices
from forcemove_games.discard_sra.cards import SIZE, fits
from forcemove_games.two_player import PLAYERS

DeckBytes = bytes
"""A deck as `forcemove_games.cards.deck.encode_deck` writes it."""


def joint_of(core: Core) -> Point:
    """The joint key of a hand. Raises an `AppError` where there is none."""
    return joint_key([Point.from_coordinates(*key) for key in core.keys])


def dealt_places(kind: PositionType) -> tuple[int, ...]:
    """The indices whose shares a deal of this type gives: the other's hand, and the card that is turned up."""
    first = 0 if kind is PositionType.DEALT else HAND_SIZE
    return (*range(first, first + HAND_SIZE), TOP_INDEX)


class PlayerSide:
    """What one player knows in one state, which is one of its own or the other's answer to one."""

    def __init__(self, state: VariablePart, seat: int, secrets: HandSecrets, seed: HandSeed | None = None) -> None:
        """Look at a state. Raises an `AppError` on bytes that are not a position, and on evidence of another one.

        - `state`: no final one.
        - `seat`: of the player.
        - `secrets`: of the player.
        - `seed`: in place of that of the player's key in the state, for a cheat that makes one up.
        """
        self.state, self.seat, self.secrets = state, seat, secrets
        self._seed = seed
        self.position: Position = decode(state.app_data)
        self.core = self.position.core
        self.evidence: Evidence = decode_evidence(self.core, state.evidence)

    @classmethod
    def of_mover(cls, state: VariablePart, secrets: HandSecrets) -> PlayerSide:
        """The side of the player who is to answer the state."""
        return cls(state, (state.turn_num + 1) % PLAYERS, secrets)

    @cached_property
    def seed(self) -> HandSeed:
        """The seed of our key in this hand. Raises `HandSecretsLost`."""
        seed = self._seed or self.secrets.seed_with(self.core.keys[self.seat])
        if seed is None:
            raise self._lost("the seed of the hand's key")
        return seed

    @cached_property
    def deck(self) -> Deck:
        """The masked deck as of this state, once it is dealt. Raises `HandSecretsLost`."""
        own = self.state.turn_num % PLAYERS == self.seat
        kept = self.secrets.deck_of(self.state.turn_num if own else self.state.turn_num - 1)
        if kept is None:
            raise self._lost("the masked deck")
        deck = decode_deck(kept, SIZE)
        if not own:
            deck = without(deck, _changes(self.core, self.evidence))
        if deck_root(deck) != self.core.root:
            raise self._lost("the masked deck")
        return deck

    @cached_property
    def hand(self) -> dict[int, int]:
        """Our cards that we can read, by their indices in the deck. One that we have drawn just now is not among them.
        Raises `HandSecretsLost`."""
        drawn_now = self.core.pending - 1 if self.state.turn_num % PLAYERS == self.seat else None
        return {index: self.number(index) for index in indices(self.core.held[self.seat]) if index != drawn_now}

    def number(self, index: int) -> int:
        """The card with this index, of which only our share is missing."""
        card = self.deck[index]
        return open_card(take_off(card, share_of(self.seed.key, card)).c2, SIZE)

    @property
    def may_lay(self) -> dict[int, int]:
        """Our cards that the rules let us lay after this state, by their indices."""
        denied = self.core.denied[self.seat]
        return {
            index: card for index, card in self.hand.items() if fits(card, self.core.top) and not denied >> card & 1
        }

    @property
    def shows_next(self) -> bool:
        """Whether cards are shown after this state: both can't move."""
        return self.core.position_type is PositionType.SHOWING or self.core.passes == PLAYERS

    @property
    def can_show(self) -> bool:
        """Whether we hold nothing that we have denied: an honest player never does."""
        return not any(self.core.denied[self.seat] >> card & 1 for card in self.hand.values())

    def _lost(self, what: str) -> HandSecretsLost:
        return HandSecretsLost(what, self.core.hand)


def without(deck: Deck, shares: Iterable[tuple[int, ShareItem]]) -> Deck:
    """The deck without these shares, by the indices of their cards."""
    cards = list(deck)
    for index, item in shares:
        cards[index] = take_off(cards[index], Point.from_coordinates(item.dx, item.dy))
    return tuple(cards)


def _changes(core: Core, evidence: Evidence) -> list[tuple[int, ShareItem]]:
    """The shares by which the deck of a state differs from that of the state before."""
    if isinstance(evidence, DealtShares):
        return list(zip(dealt_places(core.position_type), evidence.items, strict=True))
    if isinstance(evidence, MoveShares) and evidence.shared is not None:
        return [(core.shared - 1, evidence.shared.item)]
    return []


# ------------------------------------------------------------------------------------------------------- by consent


def objection(side: PlayerSide) -> str:
    """What is wrong with the shuffle in the other's newest state, which no contract has looked into; empty where
    nothing is, or it is not a shuffle. Raises `HandSecretsLost` where we have shuffled before, and have not kept it."""
    core, shown = side.core, side.evidence
    if not isinstance(shown, ShuffleProof):
        return ""
    before = b""
    if core.position_type is PositionType.SHUFFLED:
        kept = side.secrets.deck_of(side.state.turn_num - 1)
        if kept is None:
            raise side._lost("the deck as we have shuffled it")
        before = kept
    return _fault(before, side.position.deck, shown.proof, core.keys, core.channel_id, side.state.turn_num)


@lru_cache(maxsize=16)
def _fault(
    before: DeckBytes,
    after: DeckBytes,
    proof: bytes,
    keys: tuple[KeyWords, KeyWords],
    channel_id: bytes,
    turn_num: int,
) -> str:
    """What is wrong with a shuffle. It is asked more than once about one state.

    - `before`: the deck that was to be shuffled; no bytes for the first one of a hand.
    - `after`: the deck after it.
    - `proof`: that it is one.
    - `keys`: of both players.
    - `channel_id`: 32 bytes.
    - `turn_num`: of the state with the shuffle.
    """
    try:
        key = joint_key([Point.from_coordinates(*each) for each in keys])
        old = decode_deck(before, SIZE) if before else first_deck(SIZE, key)
        require_shuffle(old, decode_deck(after, SIZE), proof, key, channel_id, turn_num)
    except (AppError, MalformedBytes) as error:
        return f"has sent a deck that is not a shuffle of the one before ({type(error).__name__})"
    return ""
