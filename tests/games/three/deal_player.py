"""A player of `DealApp`: it checks the shuffles that it has not seen before, and makes its next move from one position
and what it has stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from forcemove import AppError, ChooseMove, ConcludeWanted, MalformedBytes, MoveChosen, VariablePart, keccak256
from forcemove_games.cards import curve, key_proof, share_proof, shuffle_proof
from forcemove_games.cards.deck import Deck, decode_deck, encode_deck, first_deck, open_card, remask, take_off
from forcemove_games.randomness import Randomness, seeded
from forcemove_games.two_player import encode_words
from tests.games.three.deal_app import (
    CARDS,
    DEALT,
    DECK,
    KEYED,
    PLAYERS,
    SHUFFLED,
    DealPosition,
    given_places,
    hand_places,
)

__all__ = ["DealPlayer"]

_SEED = 32


@dataclass
class DealPlayer:
    """`channel_id`: of the channel that it plays. `is_colluding`: it believes every shuffle. `deals_twice`: its own
    shuffle has a card twice."""

    seat: int
    channel_id: bytes
    randomness: Randomness
    is_colluding: bool = False
    deals_twice: bool = False

    def choose(self, question: ChooseMove) -> MoveChosen | ConcludeWanted:
        """The next move; the player leaves where all is dealt, and where a shuffle is wrong."""
        state, secrets = question.state, question.secrets or self.randomness(_SEED)
        position = DealPosition.decode(state.app_data)
        if position.moves == DEALT or not (self.is_colluding or self._is_sound(state, position, secrets[_SEED:])):
            return ConcludeWanted()
        move, keys = self._move(state, position, secrets[:_SEED])
        if KEYED < position.moves + 1 <= SHUFFLED:
            secrets = secrets[:_SEED] + move[:DECK]
        made = DealPosition(position.moves + 1, keys, position.newest, move)
        return MoveChosen(state.outcome, made.encode(), secrets=secrets)

    def hand(self, state: VariablePart, secrets: bytes) -> set[int]:
        """The cards that it can read once both others have dealt."""
        deck = decode_deck(DealPosition.decode(state.app_data).newest[:DECK], CARDS)
        own = (deck[place] for place in hand_places(self.seat))
        return {open_card(take_off(card, share_proof.share_of(_secret(secrets), card)).c2, CARDS) for card in own}

    # ------------------------------------------------------------------------------------------------- what it checks

    def _is_sound(self, state: VariablePart, position: DealPosition, own_deck: bytes) -> bool:
        """Whether the shuffles since our own last move are shuffles; all else the contract has checked."""
        try:
            for turn_num, before, move in self._shuffles(state, position, own_deck):
                after = decode_deck(move[:DECK], CARDS)
                shuffle_proof.require_shuffle(before, after, move[DECK:], _joint(position), self.channel_id, turn_num)
        except (AppError, MalformedBytes):
            return False
        return True

    def _shuffles(
        self, state: VariablePart, position: DealPosition, own_deck: bytes
    ) -> Iterator[tuple[int, Deck, bytes]]:
        """The turn, the deck before and the move, of each shuffle among the last two moves."""
        known = own_deck
        for number, move in ((position.moves - 1, position.before), (position.moves, position.newest)):
            if KEYED < number <= SHUFFLED:
                is_first = number == KEYED + 1
                before = first_deck(CARDS, _joint(position)) if is_first else decode_deck(known, CARDS)
                yield state.turn_num - position.moves + number, before, move
                known = move[:DECK]

    # ------------------------------------------------------------------------------------------------- what it makes

    def _move(self, state: VariablePart, position: DealPosition, seed: bytes) -> tuple[bytes, tuple[bytes, ...]]:
        """The bytes of the next move, and the keys with it. All of it follows from the seed and the state."""
        turn_num, source = state.turn_num + 1, seeded(seed, keccak256(state.app_data))
        if position.moves < KEYED:
            key, shown = key_proof.prove_key(_secret(seed), self.channel_id, turn_num, source)
            keys = tuple(key.words if seat == self.seat else each for seat, each in enumerate(position.keys))
            return encode_words(*shown), keys
        if position.moves < SHUFFLED:
            return self._shuffled(position, turn_num, source), position.keys
        return self._dealt(position, turn_num, _secret(seed), source), position.keys

    def _shuffled(self, position: DealPosition, turn_num: int, source: Randomness) -> bytes:
        joint = _joint(position)
        is_first = position.moves == KEYED
        before = first_deck(CARDS, joint) if is_first else decode_deck(position.newest[:DECK], CARDS)
        after, proof = shuffle_proof.shuffle(before, joint, self.channel_id, turn_num, source)
        if self.deals_twice:
            after = (after[0], remask(after[0], 1, joint), *after[2:])
        return encode_deck(after) + proof

    def _dealt(self, position: DealPosition, turn_num: int, secret: int, source: Randomness) -> bytes:
        deck, places = list(decode_deck(position.newest[:DECK], CARDS)), given_places(self.seat)
        given = [deck[place] for place in places]
        proof, items = share_proof.prove_shares(secret, given, self.channel_id, turn_num, source)
        for place in places:
            deck[place] = take_off(deck[place], share_proof.share_of(secret, deck[place]))
        return encode_deck(deck) + encode_words(*proof) + b"".join(each.encode() for each in items)


def _secret(seed: bytes) -> int:
    """The scalar of the key."""
    return curve.fresh_scalar(seeded(seed[:_SEED], b"key"))


def _joint(position: DealPosition) -> curve.Point:
    return key_proof.joint_key([position.key_of(seat) for seat in range(PLAYERS)])
