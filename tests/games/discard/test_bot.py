"""The bot of Discard in a channel: whole hands, questions that come twice, and what it leaves for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache

import pytest

from forcemove import InvalidValue, MalformedBytes, NotOurTurn, VariablePart
from forcemove.testing.calls import ID
from forcemove_games.cards.curve import ORDER
from forcemove_games.cards.deck import decode_deck, encode_deck, first_deck
from forcemove_games.cards.key_proof import KeyProof
from forcemove_games.cards.shuffle_proof import shuffle
from forcemove_games.discard import steps
from forcemove_games.discard.bot import DiscardBot
from forcemove_games.discard.choices import choices
from forcemove_games.discard.evidence import DealtShares, MoveShares, ShownCards, ShuffleProof, evidence_of
from forcemove_games.discard.hand import PlayerSide, joint_of
from forcemove_games.discard.moves import made
from forcemove_games.discard.position import PositionType, decode
from forcemove_games.discard.rules import require_legal
from forcemove_games.discard.secrets import HandSecrets, HandSecretsLost
from tests.expected import known
from tests.games.cards.dealt import stream
from tests.games.discard.dealer import BALANCE, STAKE, begin
from tests.games.discard.players import Pair, amounts, kind_of
from tests.games.states import final, outcome

SET_UP = (
    PositionType.KEYED_FIRST,
    PositionType.KEYED,
    PositionType.SHUFFLED_FIRST,
    PositionType.SHUFFLED,
    PositionType.DEALT_FIRST,
    PositionType.DEALT,
)


ENDS = (PositionType.OVER, PositionType.TIED)


def ended(pair: Pair) -> VariablePart:
    """The state in which the pair's first hand ends."""
    return list(pair.play(lambda state: kind_of(state) in ENDS))[-1]


@cache
def tied() -> Pair:
    """A pair whose hand nobody has won."""
    pairs = (Pair(f"tie {number}", (0, 1)) for number in range(60))
    return next(pair for pair in pairs if kind_of(ended(pair)) is PositionType.TIED)


@cache
def won() -> Pair:
    """A pair whose hand somebody has won."""
    pairs = (Pair(f"hand {number}") for number in range(60))
    return next(pair for pair in pairs if kind_of(ended(pair)) is PositionType.OVER)


def test_bots_play_whole_hands_to_wins_and_ties_by_the_rules() -> None:
    ends = Counter(kind_of(ended(Pair(f"hand {number}", ((), (0, 1))[number % 2]))) for number in range(8))
    assert set(ends) == {PositionType.OVER, PositionType.TIED}
    assert sum(ends.values()) == 8


def test_hands_follow_each_other() -> None:
    last = list(Pair("three hands", hands=3).play())[-1]
    assert kind_of(last) is PositionType.READY
    assert decode(last.app_data).core.hand == 3


def test_who_wins_takes_a_stake_and_a_tie_takes_nothing() -> None:
    end = won().newest
    assert amounts(end)[end.turn_num % 2] == BALANCE + STAKE
    assert amounts(tied().newest) == (BALANCE, BALANCE)


def test_a_good_player_beats_a_careless_one_more_often_than_not() -> None:
    results: Counter[int] = Counter()
    for number in range(10):
        pair = Pair(f"contest {number}", (1,))
        if kind_of(ended(pair)) is PositionType.OVER:
            results[pair.newest.turn_num % 2] += 1
    assert results[0] > results[1]


# ------------------------------------------------------------------------------------------------------ being asked


@pytest.mark.parametrize("label", ["hand 0", "hand 3"])
def test_a_player_that_is_asked_twice_gives_the_same_position(label: str) -> None:
    """In one process, and in another one that has what was stored with its last move: at every point of a hand."""
    pair = Pair(label)
    while kind_of(pair.newest) not in ENDS:
        bot = pair.bot(pair.mover)
        first = known(bot.move(pair.newest, another_round=True))
        secrets = bot.secrets()
        assert bot.move(pair.newest, another_round=True) == first
        assert bot.secrets() == secrets
        if kind_of(pair.newest) not in (PositionType.READY, PositionType.KEYED_FIRST):
            assert pair.asked() == (first, secrets)
        # The commit went through, the answer was lost: who has stored it answers the same again.
        later = DiscardBot(pair.mover, secrets=secrets)
        assert later.move(pair.newest, another_round=True) == first
        assert later.secrets() == secrets
        pair.take(first, secrets)


def test_one_process_plays_a_whole_hand_as_well() -> None:
    bots, state = (DiscardBot(0), DiscardBot(1)), begin()
    while kind_of(state) not in ENDS:
        move = known(bots[(state.turn_num + 1) % 2].move(state, another_round=True))
        after = move.after(state)
        require_legal(ID, state, after, 2)
        state = after


def test_a_seed_that_was_not_stored_is_never_used_again() -> None:
    """A process dies before its first key is stored: the next one shows another key."""
    pair = Pair("unstored")
    first, second = pair.asked()[0], pair.asked()[0]
    assert first is not None
    assert second is not None
    keys = [decode(move.app_data).core.keys[0] for move in (first, second)]
    assert keys[0] != keys[1]


def nonce_of(state: VariablePart, stored: bytes) -> int:
    """The nonce of the proof in a position, for who knows the secret of the key."""
    shown, secret = evidence_of(state), HandSecrets.decode(stored).seeds[-1].key
    assert isinstance(shown, KeyProof | DealtShares | MoveShares | ShownCards)
    proof = shown if isinstance(shown, KeyProof) else shown.proof
    return (proof.response - proof.challenge * secret) % ORDER


def test_no_nonce_serves_for_two_statements_of_a_hand() -> None:
    for pair in (won(), tied()):
        proofs = [
            state
            for state in pair.states[1:]
            if isinstance(evidence_of(state), KeyProof | DealtShares | MoveShares | ShownCards)
        ]
        nonces = [nonce_of(state, pair.stored[state.turn_num % 2]) for state in proofs]
        assert len(set(nonces)) == len(proofs) >= 8


def test_no_nonce_serves_for_two_moves_after_one_state() -> None:
    """A person chooses, and is asked again after a crash: whatever is chosen then, the key stays unknown."""
    pair = Pair("choices")
    pair.play_to(PositionType.DEALT)
    while len(found := choices(pair.newest, stream("any"), pair.stored[pair.mover])) < 3:
        assert pair.step()
    made = [each.move.after(pair.newest) for each in found]
    shares = [state for state in made if isinstance(evidence_of(state), MoveShares)]
    assert len({nonce_of(state, pair.stored[pair.mover]) for state in shares}) == len(shares) >= 2


def test_an_answer_to_another_state_of_the_same_turn_has_another_nonce() -> None:
    """The other signs two states for one turn, and we have answered one of them before a crash."""
    pair = Pair("equivocation")
    pair.play_to(PositionType.DEALT)
    lays = choices(pair.newest, stream("any"), pair.stored[pair.mover])
    seen: set[int] = set()
    for choice in lays:
        state, seat = choice.move.after(pair.newest), 1 - pair.mover
        answers = choices(state, stream("any"), pair.stored[seat])
        made = [each.move.after(state) for each in answers]
        nonces = {nonce_of(each, pair.stored[seat]) for each in made if evidence_of(each) is not None}
        assert not nonces & seen
        seen |= nonces
    assert len(lays) >= 2
    assert len(seen) >= 2


@pytest.mark.parametrize("kind", [PositionType.KEYED, PositionType.SHUFFLED_FIRST])
def test_a_shuffle_of_another_deck_has_other_masks(kind: PositionType) -> None:
    """Else who has both could read how the deck was shuffled."""
    first = Pair("masks")
    first.play_to(kind)
    other = Pair("masks", stored=list(first.stored), states=list(first.states))
    seat = first.mover
    if kind is PositionType.SHUFFLED_FIRST:
        other.states[-1] = shuffled_again(first.states[-2], first.stored[1 - seat])
    else:
        state = first.states[-2]
        move = known(DiscardBot(1 - seat, stream("another key")).move(state, another_round=True))
        other.states[-1] = move.after(state)
    masks = [_added_masks(pair) for pair in (first, other)]
    assert not masks[0] & masks[1]


def _added_masks(pair: Pair) -> set[bytes]:
    """rG of every mask that the pair's next move adds, among the differences of all new and all old cards."""
    position = decode(pair.newest.app_data)
    before = decode_deck(position.deck, 24) if position.deck else first_deck(24, joint_of(position.core))[:1]
    move, _ = pair.asked()
    assert move is not None
    after = decode_deck(decode(move.app_data).deck, 24)
    return {(new.c1 - old.c1).words for new in after for old in before}


def shuffled_again(state: VariablePart, stored: bytes) -> VariablePart:
    """Another honest shuffle after this state."""
    side = PlayerSide.of_mover(state, HandSecrets.decode(stored))
    deck, proof = shuffle(first_deck(24, joint_of(side.core)), joint_of(side.core), ID, state.turn_num + 1)
    shuffled = made(side, steps.shuffled(side.core), ShuffleProof(proof), side.secrets, encode_deck(deck))
    return shuffled.move.after(state)


# ---------------------------------------------------------------------------------------------------------- leaving


@pytest.mark.parametrize("make", [won, tied])
def test_nobody_leaves_where_it_would_lose(make: Callable[[], Pair]) -> None:
    """Who wants no further round leaves before the first deal and after a hand, with what it had; never in between."""
    pair = Pair(make().label, make().careless)
    while kind_of(pair.newest) not in ENDS:
        left = pair.bot(pair.mover).move(pair.newest, another_round=False) is None
        assert left == (kind_of(pair.newest) < PositionType.DEALT_FIRST)
        if left:
            assert amounts(pair.newest) == (BALANCE, BALANCE)
        pair.step()
    assert pair.bot(pair.mover).move(pair.newest, another_round=False) is None


def test_a_hand_that_somebody_cannot_pay_for_is_not_begun() -> None:
    poor = begin(paid=outcome(STAKE - 1, BALANCE))
    assert DiscardBot(0).move(poor, another_round=True) is None


def test_only_a_hand_that_the_other_has_won_is_lost() -> None:
    for state in (*won().states, *tied().states):
        mover = (state.turn_num + 1) % 2
        assert DiscardBot(mover).is_lost(state) == (kind_of(state) is PositionType.OVER)
        assert not DiscardBot(1 - mover).is_lost(state)
    assert not DiscardBot(1).is_lost(final())


def test_a_bot_answers_for_its_own_seat_and_knows_the_end() -> None:
    assert DiscardBot(1).move(final(), another_round=True) is None
    with pytest.raises(NotOurTurn):
        DiscardBot(1).move(begin(), another_round=True)
    with pytest.raises(InvalidValue):
        DiscardBot(2)


# ---------------------------------------------------------------------------------------------------------- secrets


@pytest.mark.parametrize("kind", [*SET_UP[1:], PositionType.PLAYING])
def test_a_client_whose_secrets_are_gone_is_told_what_was_lost(kind: PositionType) -> None:
    """From its first key on: before that there is nothing to lose."""
    pair = Pair("lost")
    pair.play_to(kind)
    bot = DiscardBot(pair.mover)
    with pytest.raises(HandSecretsLost) as found:
        bot.move(pair.newest, another_round=True)
    assert found.value.hand == 0
    assert found.value.what in ("the seed of the hand's key", "the masked deck", "the deck as we have shuffled it")


def test_a_deck_that_is_not_the_positions_is_not_used() -> None:
    pair = Pair("stale deck")
    pair.play_to(PositionType.PLAYING)
    old = HandSecrets.decode(pair.stored[pair.mover])
    (turn, deck) = old.decks[-1]
    stale = HandSecrets(old.seeds, ((turn, deck[:32] + deck[96:160] + deck[32:96] + deck[160:]),))
    with pytest.raises(HandSecretsLost) as found:
        DiscardBot(pair.mover, secrets=stale.encode()).move(pair.newest, another_round=True)
    assert found.value.what == "the masked deck"


def test_secrets_are_stored_as_they_are_and_other_bytes_are_refused() -> None:
    pair = Pair("stored")
    ended(pair)
    for stored in pair.stored:
        assert HandSecrets.decode(stored).encode() == stored
        assert len(stored) < 3_300
        for length in (1, 2, 3, 40, len(stored) - 1):
            with pytest.raises(MalformedBytes):
                DiscardBot(0, secrets=stored[:length])
    with pytest.raises(MalformedBytes):
        DiscardBot(0, secrets=b"\x02" + stored[1:])
    with pytest.raises(MalformedBytes):
        DiscardBot(0, secrets=stored + b"\x00")


def test_no_secret_is_in_a_repr() -> None:
    pair = Pair("repr")
    pair.play_to(PositionType.PLAYING)
    secrets = HandSecrets.decode(pair.stored[0])
    shown = repr((secrets, secrets.seeds, pair.bot(0)))
    for seed in secrets.seeds:
        assert seed.secret.hex() not in shown
        assert repr(seed.secret) not in shown
        assert str(seed.key) not in shown
