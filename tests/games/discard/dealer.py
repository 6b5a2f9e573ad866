"""Plays both seats of Discard, with all secrets: every honest move after a state, as the parity kit wants them.

All follows from a label: keys, orders and masks of each hand. A dealer knows the decks of the states that it has made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from forcemove import Move, Outcome, VariablePart
from forcemove.testing.calls import ID, outcome
from forcemove_games.cards import curve, key_proof, share_proof, shuffle_proof
from forcemove_games.cards.deck import (
    CardWords,
    Deck,
    MaskedCard,
    deck_root,
    decode_deck,
    encode_deck,
    first_deck,
    open_card,
    path_of,
    take_off,
)
from forcemove_games.discard import evidence, steps
from forcemove_games.discard.position import HAND_SIZE, TOP_INDEX, Core, Position, PositionType, decode, initial
from forcemove_games.discard.table import STAKES
from forcemove_games.discard_sra.cards import SIZE, fits
from forcemove_games.randomness import Randomness
from forcemove_games.two_player import take_stakes
from tests.games.cards.dealt import stream

__all__ = ["STAKE", "Dealer", "Made", "Strategy", "begin", "draw_first", "lay_first", "one_draws"]

STAKE, BALANCE = 3, 10
FIRST_TURN = 3


def begin(channel_id: bytes = ID, paid: Outcome | None = None) -> VariablePart:
    """The state in which a channel starts: participant 0 shows the first key."""
    return VariablePart(paid or outcome(BALANCE, BALANCE), initial(channel_id, STAKE).encode(), FIRST_TURN)


def core_of(state: VariablePart) -> Core:
    return decode(state.app_data).core


@dataclass(frozen=True)
class Made:
    """A seat's move to a core. Its proofs are dear: they are made where the evidence is asked for."""

    seat: int
    core: Core
    evidence: Callable[[], evidence.Evidence]
    deck: bytes = b""


Strategy = Callable[[Sequence[Made]], Made]


def lay_first(moves: Sequence[Made]) -> Made:
    """Lays the lowest card that fits, and draws only if there is none."""
    return max(moves, key=lambda made: bool(made.core.laid))


def draw_first(moves: Sequence[Made]) -> Made:
    """Draws as long as there are cards."""
    return max(moves, key=lambda made: bool(made.core.pending))


def one_draws(moves: Sequence[Made]) -> Made:
    """Participant 0 draws as long as there are cards, participant 1 lays what fits: one hand becomes long."""
    return (lay_first if moves[0].seat else draw_first)(moves)


@dataclass
class Dealer:
    """`label`: what everything follows from. `hands`: after this many hands there are no more moves."""

    label: str = "dealer"
    channel_id: bytes = ID
    hands: int = 1
    _decks: dict[bytes, Deck] = field(default_factory=dict)

    def secret(self, hand: int, seat: int) -> int:
        return curve.fresh_scalar(stream(f"{self.label} key {hand} {seat}"))

    def moves(self, state: VariablePart) -> list[Move]:
        """All honest moves after a state; cards are laid by rising index, then there is drawing."""
        return [self.move(state, made.core, made.evidence(), made.deck) for made in self._made(state)]

    def successors(self, state: VariablePart) -> list[VariablePart]:
        return [move.after(state) for move in self.moves(state)]

    def play(self, strategy: Strategy, state: VariablePart | None = None) -> list[VariablePart]:
        """A game, from the beginning until there are no more moves."""
        states = [begin(self.channel_id) if state is None else state]
        while moves := list(self._made(states[-1])):
            chosen = strategy(moves)
            states.append(self.made(states[-1], chosen.core, chosen.evidence(), chosen.deck))
        return states

    def move(self, state: VariablePart, core: Core, shown: evidence.Evidence, deck: bytes = b"") -> Move:
        """The move to a position, paid for as the table says."""
        stakes = STAKES.get(core.position_type, 0)
        paid = take_stakes(state.outcome, (state.turn_num + 1) % 2, stakes, core.stake)
        return Move(paid, Position(core, deck).encode(), evidence.encode_evidence(shown))

    def made(self, state: VariablePart, core: Core, shown: evidence.Evidence, deck: bytes = b"") -> VariablePart:
        """The state after such a move."""
        return self.move(state, core, shown, deck).after(state)

    def _made(self, state: VariablePart) -> Iterator[Made]:
        core, turn = core_of(state), state.turn_num + 1
        seat, kind = turn % 2, core.position_type
        if kind in (PositionType.READY, PositionType.KEYED_FIRST):
            if core.hand < self.hands:
                yield self._keyed(core, seat, turn)
        elif kind in (PositionType.KEYED, PositionType.SHUFFLED_FIRST):
            yield self._shuffled(state, core, seat, turn)
        elif kind in (PositionType.SHUFFLED, PositionType.DEALT_FIRST):
            yield self._dealt(state, core, seat, turn)
        elif kind in (PositionType.OVER, PositionType.TIED):
            yield Made(seat, steps.next_hand(core), lambda: None)
        elif kind is PositionType.SHOWING or core.passes == 2:
            yield self._shown(core, seat, turn)
        else:
            yield from self._played(core, seat, turn)

    # ---------------------------------------------------------------------------------------------------- set-up

    def _keyed(self, core: Core, seat: int, turn: int) -> Made:
        key, proof = key_proof.prove_key(self.secret(core.hand, seat), self.channel_id, turn, self._random(turn, "key"))
        return Made(seat, steps.keyed(core, seat, (key.x, key.y)), lambda: proof)

    def _shuffled(self, state: VariablePart, core: Core, seat: int, turn: int) -> Made:
        given, joint = decode(state.app_data).deck, self.joint(core)
        before = decode_deck(given, SIZE) if given else first_deck(SIZE, joint)
        deck, proof = shuffle_proof.shuffle(before, joint, self.channel_id, turn, self._random(turn, "shuffle"))
        return Made(seat, steps.shuffled(core), lambda: evidence.ShuffleProof(proof), encode_deck(deck))

    def _dealt(self, state: VariablePart, core: Core, seat: int, turn: int) -> Made:
        is_first = core.position_type is PositionType.SHUFFLED
        places = range(HAND_SIZE, TOP_INDEX + 1) if is_first else (*range(HAND_SIZE), TOP_INDEX)
        deck = list(decode_deck(decode(state.app_data).deck, SIZE))
        secret = self.secret(core.hand, seat)
        proof, items = share_proof.prove_shares(
            secret, [deck[place] for place in places], self.channel_id, turn, self._random(turn, "deal")
        )
        for place in places:
            deck[place] = take_off(deck[place], share_proof.share_of(secret, deck[place]))
        shares = evidence.DealtShares(proof, items)
        if is_first:
            return Made(seat, steps.dealt_first(core), lambda: shares, encode_deck(deck))
        root = self._keep(tuple(deck))
        top = open_card(deck[TOP_INDEX].c2, SIZE)
        return Made(seat, steps.dealt(core, seat, root, top), lambda: shares)

    def joint(self, core: Core) -> curve.Point:
        return key_proof.joint_key([curve.Point.from_coordinates(*key) for key in core.keys])

    # ------------------------------------------------------------------------------------------------------ play

    def _played(self, core: Core, seat: int, turn: int) -> Iterator[Made]:
        deck, root = self._decks[core.root], core.root
        if core.pending:
            after = list(deck)
            drawn = deck[core.pending - 1]
            after[core.pending - 1] = take_off(drawn, share_proof.share_of(self.secret(core.hand, seat), drawn))
            root = self._keep(tuple(after))
        could_lay = False
        for index in steps.indices(core.held[seat]):
            card = self.number(core, index)
            if fits(card, core.top):
                could_lay = True
                yield self.lay(core, seat, turn, index, card, root)
        if core.drawn < SIZE:
            yield Made(seat, steps.drew(core, seat, root), partial(self._shares, core, seat, turn))
        elif not could_lay:
            yield Made(seat, steps.could_not_move(core, seat, root), partial(self._shares, core, seat, turn))

    def lay(self, core: Core, seat: int, turn: int, index: int, card: int, root: bytes) -> Made:
        """A card is laid, whether it fits or not."""
        return Made(seat, steps.laid(core, seat, index, card, root), partial(self._shares, core, seat, turn, index))

    def _shares(self, core: Core, seat: int, turn: int, laid: int | None = None) -> evidence.Evidence:
        places = [*([core.pending - 1] if core.pending else []), *([] if laid is None else [laid])]
        if not places:
            return None
        proof, touched = self._touched(core, seat, turn, places)
        return evidence.MoveShares(proof, touched[0] if core.pending else None, None if laid is None else touched[-1])

    def _shown(self, core: Core, seat: int, turn: int) -> Made:
        def shown() -> evidence.Evidence:
            places = steps.shown_indices(core.held[seat])
            if not places:
                return None
            proof, touched = self._touched(core, seat, turn, places)
            numbers = [self.number(core, place) for place in places]
            return evidence.ShownCards(proof, tuple(map(evidence.ShownCard, numbers, touched)))

        return Made(seat, steps.shown(core, seat), shown)

    def _touched(
        self, core: Core, seat: int, turn: int, places: Sequence[int]
    ) -> tuple[share_proof.ShareProof, list[evidence.TouchedCard]]:
        deck = self._decks[core.root]
        cards = [deck[place] for place in places]
        random = self._random(turn, "share")
        proof, items = share_proof.prove_shares(self.secret(core.hand, seat), cards, self.channel_id, turn, random)
        return proof, [
            evidence.TouchedCard(CardWords.of(card), item, path_of(deck, place))
            for card, item, place in zip(cards, items, places, strict=True)
        ]

    def number(self, core: Core, index: int) -> int:
        """The card with this index, of those whose share the other has given."""
        holder = 0 if core.held[0] >> index & 1 else 1
        card = self._decks[core.root][index]
        return open_card(card.c2 - share_proof.share_of(self.secret(core.hand, holder), card), SIZE)

    def deck(self, core: Core) -> Sequence[MaskedCard]:
        return self._decks[core.root]

    def _keep(self, deck: Deck) -> bytes:
        root = deck_root(deck)
        self._decks[root] = deck
        return root

    def _random(self, turn: int, what: str) -> Randomness:
        return stream(f"{self.label} {what} {turn}")
