"""`DealApp` beside its twin: a whole deal among three, each word of it changed, and each refusal by name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from msgspec.structs import replace

from forcemove import AppError, ChooseMove, ConcludeWanted, MoveChosen, Terms, VariablePart
from forcemove.contracts import artifact
from forcemove.testing.calls import FROM, ID, TO, Bench, TransitionCall, outcome
from forcemove_games.cards.curve import FIELD
from tests.games.cards.dealt import ABOVE_ORDER, stream
from tests.games.three.deal_app import DEALT, DECK, PLAYERS, DealApp, DealPosition, pair
from tests.games.three.deal_player import DealPlayer

APP = DealApp()
BENCH = Bench(artifact("DealApp"), APP)
FIRST_TURN = 5


def dealt() -> tuple[list[VariablePart], list[list[bytes]]]:
    """The states from the setup's last one to the end of the deal, and the secrets that all have after each."""
    players = [DealPlayer(seat, ID, stream(f"player {seat}")) for seat in range(PLAYERS)]
    secrets = [b""] * PLAYERS
    terms = Terms(ID, (), 0, ())
    states, stored = [VariablePart(outcome(5, 5, 5), APP.initial_app_data(terms), FIRST_TURN)], [list(secrets)]
    for _ in range(DEALT):
        seat = (states[-1].turn_num + 1) % PLAYERS
        chosen = players[seat].choose(ChooseMove(states[-1], secrets=secrets[seat]))
        assert isinstance(chosen, MoveChosen)
        secrets[seat] = chosen.secrets or b""
        states.append(VariablePart(chosen.outcome, chosen.app_data, states[-1].turn_num + 1))
        stored.append(list(secrets))
    return states, stored


STATES, SECRETS = dealt()
MOVES = list(pairwise(STATES))


@pytest.mark.parametrize("moves", [4, 5, 6])
@pytest.mark.parametrize("word_", [0, 1, 2**256 - 1])
def test_a_player_leaves_whatever_is_in_a_shuffle(moves: int, word_: int) -> None:
    """The contract looks into neither deck nor proof."""
    state = STATES[moves]
    position = DealPosition.decode(state.app_data)
    player = DealPlayer((state.turn_num + 1) % PLAYERS, ID, stream("leaves"))
    for place in (0, DECK - 32, DECK, len(position.newest) - 32):
        newest = bytearray(position.newest)
        newest[place : place + 32] = word_.to_bytes(32, "big")
        changed = replace(state, app_data=position._replace(newest=bytes(newest)).encode())
        BENCH.require_accepted(call(STATES[moves - 1], changed))
        assert player.choose(ChooseMove(changed, secrets=SECRETS[moves][player.seat])) == ConcludeWanted()


def call(from_: VariablePart, to: VariablePart) -> TransitionCall:
    return TransitionCall(from_, to, PLAYERS)


@pytest.mark.parametrize(("from_", "to"), MOVES)
def test_both_take_each_move_and_refuse_it_with_any_word_changed(from_: VariablePart, to: VariablePart) -> None:
    """But for the words of a shuffle, which players check."""
    whole, words = call(from_, to), len(to.app_data) // 32
    BENCH.require_accepted(whole)
    changed = [
        whole.word(TO, index, int.from_bytes(to.app_data[32 * index : 32 * index + 32], "big") ^ 1)
        for index in range(words)
    ]
    taken = [index for index, accepted in enumerate(BENCH.compare(whole, changed)) if accepted]
    position = DealPosition.decode(to.app_data)
    own = (len(to.app_data) - len(position.newest)) // 32 if position.moves in (4, 5, 6) else words
    assert taken == list(range(own, words))


@pytest.mark.parametrize("moves", [7, 8, 9])
def test_a_key_that_is_no_point_is_refused_by_both_where_nobody_has_shown_it(moves: int) -> None:
    """With all keys any state can be signed: that of before, too."""
    from_, to = MOVES[moves - 1]
    whole, mover = call(from_, to), to.turn_num % PLAYERS
    position = DealPosition.decode(to.app_data)
    x, y = pair(position.keys[mover])
    for place, other in ((0, 0), (0, x ^ 1), (0, FIELD + 1), (1, y ^ 2), (1, FIELD - y), (1, 2**256 - 1)):
        index = 1 + 2 * mover + place
        changed = whole.both(whole.word(FROM, index, other), whole.word(TO, index, other))
        assert not BENCH.compare(whole, [changed])[0]
    above = [
        whole.both(*(whole.word(side, 1 + 2 * mover + at, ABOVE_ORDER[at]) for side in (FROM, TO))) for at in (0, 1)
    ]
    assert not BENCH.compare(whole, [whole.both(*above)])[0]


def wrong_moves() -> Iterator[tuple[str, VariablePart, VariablePart]]:
    """Pairs of states, with the error that they are refused for."""
    first, key = STATES[0], STATES[1]
    deal = STATES[7]
    position = DealPosition.decode(deal.app_data)
    yield "WrongLength", first, replace(key, app_data=key.app_data[:-32])
    yield "WrongLength", replace(first, app_data=b""), key
    yield "WrongMoveCount", first, replace(STATES[2], turn_num=key.turn_num)
    yield "WrongMoveCount", STATES[-1], replace(STATES[-1], turn_num=STATES[-1].turn_num + 1)
    yield "OutcomeChanged", first, replace(key, outcome=outcome(6, 5, 4))
    yield "KeyChanged", STATES[6], replace(deal, app_data=_with_keys_turned(position))
    yield "KeyRefused", first, replace(key, turn_num=key.turn_num + PLAYERS)
    yield "MoveForgotten", STATES[6], replace(deal, app_data=_with(position, before=bytes(len(position.before))))
    yield "ShareRefused", STATES[6], replace(deal, turn_num=deal.turn_num + PLAYERS)
    other = bytearray(position.newest)
    other[63] ^= 1  # of the x of a C1
    yield "WrongDeck", STATES[6], replace(deal, app_data=_with(position, newest=bytes(other)))


def _with(position: DealPosition, **changed: bytes) -> bytes:
    return position._replace(**changed).encode()  # type: ignore[arg-type]


def _with_keys_turned(position: DealPosition) -> bytes:
    return position._replace(keys=position.keys[::-1]).encode()


@pytest.mark.parametrize(("error", "from_", "to"), list(wrong_moves()))
def test_a_wrong_move_is_refused_by_name(error: str, from_: VariablePart, to: VariablePart) -> None:
    BENCH.require_refused(call(from_, to))
    with pytest.raises(AppError) as found:
        APP.valid_transition(ID, from_, to, PLAYERS)
    assert type(found.value).__name__ == error
