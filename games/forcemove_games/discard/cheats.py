"""The moves that a cheat at Discard could try: those that the contract refuses, and false ones, which it lets pass.

Without secrets a cheat makes up a key. With those of the mover it can do worse.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from msgspec.structs import replace

from forcemove import AppError, FalseMove, Move, Randomness, VariablePart
from forcemove_games.cards.deck import CardWords, deck_root, decode_deck, encode_deck, first_deck, remask
from forcemove_games.cards.key_proof import KeyProof
from forcemove_games.cards.share_proof import ShareItem, ShareProof
from forcemove_games.cards.shuffle_proof import shuffle
from forcemove_games.cheats import Labelled, wrong_payments
from forcemove_games.discard import moves, steps
from forcemove_games.discard.evidence import (
    PROOF_LENGTH,
    DealtShares,
    Evidence,
    MoveShares,
    ShuffleProof,
    TouchedCard,
    encode_evidence,
    evidence_of,
)
from forcemove_games.discard.hand import PlayerSide, joint_of
from forcemove_games.discard.moves import MadeMove
from forcemove_games.discard.position import DECK_LENGTH, Core, PositionType
from forcemove_games.discard.secrets import HandSecrets, HandSecretsLost, HandSeed
from forcemove_games.discard_sra.cards import SIZE, fits
from forcemove_games.two_player import PLAYERS, encode_words, shift

_KEYS = (PositionType.READY, PositionType.KEYED_FIRST)
_SHUFFLES = (PositionType.KEYED, PositionType.SHUFFLED_FIRST)
_DEALS = (PositionType.SHUFFLED, PositionType.DEALT_FIRST)
_PLAYS = (PositionType.DEALT, PositionType.PLAYING)
_NOBODY = ShareItem(*(1,) * 9)


# ------------------------------------------------------------------------------------------------------------ illegal


def cheats(state: VariablePart, secrets: bytes) -> Iterator[Labelled]:
    """Moves to try after a reachable state, most of them illegal. Raises `MalformedBytes`."""
    side = PlayerSide.of_mover(state, HandSecrets.decode(secrets))
    core = side.core
    yield "repeats the position", Move(state.outcome, state.app_data, state.evidence)
    yield "changes the stake", Move(state.outcome, _words(core, 1, (core.stake + 1) % 2**256))
    yield "speaks of another channel", Move(state.outcome, _words(core, 2, 1))
    yield "sends half a position", Move(state.outcome, state.app_data[:304])
    again = moves.next_hand(side).move
    yield "begins another hand", again
    if core.stake and state.outcome[1 - side.seat].amount >= core.stake:
        yield "begins another hand and takes a stake", Move(shift(state.outcome, side.seat, core.stake), again.app_data)
    tied = replace(core, position_type=PositionType.TIED, pending=0, shared=0, laid=0)
    yield "says that nobody has won", _unpaid(side, tied)
    for part in (_of_type, _with_secrets):
        with suppress(AppError, HandSecretsLost):  # the deck is none, or not ours to read: there is no more to try
            yield from part(side)


def _words(core: Core, place: int, value: int) -> bytes:
    """The core's bytes with one word changed to a value that no core need have."""
    words = list(core.words)
    words[place] = value
    return encode_words(*words)


def _unpaid(side: PlayerSide, core: Core, evidence: Evidence = None) -> Move:
    return Move(side.state.outcome, core.encode(), encode_evidence(evidence))


def _of_type(side: PlayerSide) -> Iterator[Labelled]:
    """What can be tried without secrets."""
    kind, stake = side.core.position_type, side.core.stake
    if kind in _KEYS:
        yield from _bad_keys(side)
    elif kind in _SHUFFLES:
        empty = ShuffleProof(bytes(PROOF_LENGTH))
        shuffled = moves.made(side, steps.shuffled(side.core), empty, side.secrets, bytes(DECK_LENGTH))
        yield from wrong_payments(side.state, shuffled.move, stake)
    elif kind in _DEALS:
        yield "deals with shares of another key", _foreign_deal(side)
    elif kind in _PLAYS and side.core.passes < PLAYERS:
        yield from _bad_plays(side)


def _bad_keys(side: PlayerSide) -> Iterator[Labelled]:
    honest = moves.show_key(_with_made_up_key(side), _nothing).move
    yield from wrong_payments(side.state, honest, side.core.stake)
    proof = evidence_of(honest)
    if isinstance(proof, KeyProof):
        forged = encode_evidence(proof._replace(response=proof.challenge))
        yield "shows a key of another one's", honest._replace(evidence=forged)
    if side.core.position_type is PositionType.KEYED_FIRST:
        copied = steps.keyed(side.core, side.seat, side.core.keys[1 - side.seat])
        yield "copies the other's key and proof", _unpaid(side, copied, side.evidence)


def _foreign_deal(side: PlayerSide) -> Move:
    """A deal with a made-up key. What is left of the card that is turned up is not a card then: the first of all is
    named."""
    deck, shares, _ = moves.deal_parts(_with_made_up_key(side))
    is_first = side.core.position_type is PositionType.SHUFFLED
    core = steps.dealt_first(side.core) if is_first else steps.dealt(side.core, side.seat, deck_root(deck), 0)
    return moves.made(side, core, shares, side.secrets, encode_deck(deck) if is_first else b"").move


def _nothing(length: int) -> bytes:
    return bytes(length)


def _with_made_up_key(side: PlayerSide) -> PlayerSide:
    """The mover as one whose key is that of a seed of zeros."""
    seed = HandSeed(side.state.turn_num + 1, bytes(32))
    return PlayerSide(side.state, side.seat, HandSecrets((seed,), side.secrets.decks), seed)


def _bad_plays(side: PlayerSide) -> Iterator[Labelled]:
    """Moves with shares that are none."""
    core = side.core
    path = (bytes(32),) * 5
    nobody = TouchedCard(CardWords(1, 1, 0), _NOBODY, path)
    shared = nobody if core.pending else None
    fitting = next(card for card in range(SIZE) if fits(card, core.top))
    for label, held in (("its own", core.held[side.seat]), ("the other's", core.held[1 - side.seat])):
        index = steps.indices(held)[0]
        laid = steps.laid(core, side.seat, index, fitting, core.root)
        shares = MoveShares(ShareProof(1, 1), shared, nobody)
        yield f"lays a card of {label} without its share", moves.made(side, laid, shares, side.secrets).move
    empty = None if shared is None else MoveShares(ShareProof(1, 1), shared, None)
    if core.drawn < SIZE:
        drawn = steps.drew(core, side.seat, core.root)
        if shared is not None:
            yield "draws without giving its share", moves.made(side, drawn, empty, side.secrets).move
        stuck = steps.could_not_move(core, side.seat, core.root)
        yield "says that it can't move, with cards to draw", moves.made(side, stuck, empty, side.secrets).move


def _with_secrets(side: PlayerSide) -> Iterator[Labelled]:
    """What the mover can try who has its secrets. Raises `HandSecretsLost` where there are none."""
    kind, stake = side.core.position_type, side.core.stake
    if kind in _DEALS:
        honest = moves.deal(side).move
        yield from wrong_payments(side.state, honest, stake)
        yield from _bad_deals(honest)
    elif side.shows_next:
        yield from wrong_payments(side.state, moves.show(side).move, stake)
    elif kind in _PLAYS:
        for index, card in side.hand.items():
            if not fits(card, side.core.top):
                yield "lays a card that does not fit", moves.lay(side, index).move
                break
        honest = _any_play(side).move
        yield from wrong_payments(side.state, honest, stake)
        yield from _bad_shares(side, honest)


def _any_play(side: PlayerSide) -> MadeMove:
    lays = side.may_lay
    if lays:
        return moves.lay(side, next(iter(lays)))
    return moves.draw(side) if side.core.drawn < SIZE else moves.cannot_move(side)


def _bad_deals(honest: Move) -> Iterator[Labelled]:
    shares = evidence_of(honest)
    if isinstance(shares, DealtShares):
        swapped = (shares.items[1], shares.items[0], *shares.items[2:])
        yield "swaps two shares", honest._replace(evidence=encode_evidence(shares._replace(items=swapped)))
        yield "gives shares without a proof", _without_proof(honest, shares)


def _without_proof(honest: Move, shares: DealtShares | MoveShares) -> Move:
    forged = shares._replace(proof=ShareProof(*reversed(shares.proof)))
    return honest._replace(evidence=encode_evidence(forged))


def _bad_shares(side: PlayerSide, honest: Move) -> Iterator[Labelled]:
    shares = evidence_of(honest)
    if isinstance(shares, MoveShares):
        yield "gives a share without a proof", _without_proof(honest, shares)
        turn = side.state.turn_num
        kept = side.secrets.with_deck(turn + 1, side.secrets.deck_of(turn - 1) or b"")
        later = PlayerSide(replace(side.state, turn_num=turn + 2), side.seat, kept)
        yield "gives a share of another turn", _any_play(later).move._replace(outcome=honest.outcome)


# -------------------------------------------------------------------------------------------------------------- false


def false_moves(state: VariablePart, randomness: Randomness, secrets: bytes) -> Iterator[FalseMove]:
    """See `forcemove.game.PlayerChecked.false_moves`; `state` is not final."""
    side = PlayerSide.of_mover(state, HandSecrets.decode(secrets))
    if side.core.position_type in _SHUFFLES:
        yield from _false_shuffles(side, randomness)
    elif side.core.position_type in _PLAYS and side.core.drawn == SIZE and not side.shows_next and side.may_lay:
        lie = moves.cannot_move(side)
        yield FalseMove("says that it can't move, and could", lie.move, lie.secrets.encode(), is_seen=False)


def _false_shuffles(side: PlayerSide, randomness: Randomness) -> Iterator[FalseMove]:
    given, joint, turn = side.position.deck, joint_of(side.core), side.state.turn_num + 1
    first = first_deck(SIZE, joint)
    before = decode_deck(given, SIZE) if given else first
    deck, proof = shuffle(before, joint, side.core.channel_id, turn, randomness)
    twice = (deck[0], remask(deck[0], 1, joint), *deck[2:])
    yield _false_shuffle(side, "sends a deck that has a card twice", encode_deck(twice), proof)
    flipped = bytes((*proof[:40], proof[40] ^ 1, *proof[41:]))
    yield _false_shuffle(side, "sends a proof that does not hold", encode_deck(deck), flipped)
    yield _false_shuffle(side, "sends a deck that is none", bytes(DECK_LENGTH), proof)
    if isinstance(side.evidence, ShuffleProof):
        stacked, proof = shuffle(first, joint, side.core.channel_id, turn, randomness)
        yield _false_shuffle(side, "puts a deck of its own in place of the other's", encode_deck(stacked), proof)
        yield _false_shuffle(side, "sends the other's deck and proof again", given, side.evidence.proof)


def _false_shuffle(side: PlayerSide, label: str, deck: bytes, proof: bytes) -> FalseMove:
    secrets = side.secrets.with_deck(side.state.turn_num + 1, deck)
    made = moves.made(side, steps.shuffled(side.core), ShuffleProof(proof), secrets, deck)
    return FalseMove(label, made.move, secrets.encode())
