"""False can't-moves: a liar never lays and never shows the denied card, and loses its stake unless the other leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from random import Random

import pytest

from forcemove import AppError, VariablePart
from forcemove_games.discard import steps
from forcemove_games.discard.errors import CardDenied
from forcemove_games.discard.evidence import evidence_of
from forcemove_games.discard.position import PositionType
from forcemove_games.discard.rules import valid_transition
from forcemove_games.discard_sra.cards import SIZE, fits
from tests.games.discard.dealer import BALANCE, STAKE, Dealer, core_of, draw_first
from tests.games.states import ID

LIES, MANY = 40, 30
Lie = tuple[Dealer, VariablePart, int]


@cache
def lied() -> list[Lie]:
    """The first of the lies: some games end before anybody could tell one."""
    return list(islice(lies(), MANY))


def lies() -> Iterator[Lie]:
    """States after a lie, with the liar's seat: it could have laid a card."""
    for number in range(LIES):
        dealer = Dealer(f"lie {number}")
        states = dealer.play(draw_first)
        for state in Random(number).sample(states, len(states)):
            core, seat = core_of(state), (state.turn_num + 1) % 2
            if core.position_type is not PositionType.PLAYING or core.drawn < SIZE or core.pending or core.passes:
                continue
            if any(fits(dealer.number(core, index), core.top) for index in steps.indices(core.held[seat])):
                yield dealer, dealer.made(state, steps.could_not_move(core, seat, core.root), None), seat
                break


def allowed(dealer: Dealer, state: VariablePart) -> tuple[list[VariablePart], list[AppError]]:
    """What may follow of what the dealer would do, and why the rest is refused."""
    found, errors = [], []
    for to in dealer.successors(state):
        try:
            valid_transition(ID, state, to, 2)
            found.append(to)
        except AppError as error:
            errors.append(error)
    return found, errors


def play_on(dealer: Dealer, state: VariablePart, liar: int, chance: Random) -> tuple[list[VariablePart], bool]:
    """A game after a lie, at random, until it is over or the liar has no move; whether it has none. The liar says
    again that it can't move where all that it could lay is denied."""
    states = [state]
    while core_of(states[-1]).position_type not in (PositionType.OVER, PositionType.TIED):
        last = states[-1]
        found, errors = allowed(dealer, last)
        core, seat = core_of(last), (last.turn_num + 1) % 2
        assert all(isinstance(error, CardDenied) for error in errors)
        assert not errors or seat == liar
        if not found and core.position_type is PositionType.PLAYING and core.passes < 2:
            found = [dealer.made(last, steps.could_not_move(core, seat, core.root), None)]
            assert valid_transition(ID, last, found[0], 2)
        if not found:
            assert seat == liar
            return states, True
        states.append(chance.choice(found))
    return states, False


def test_there_are_enough_lies() -> None:
    assert len(lied()) == MANY


@pytest.mark.parametrize("number", range(MANY))
def test_a_liar_loses_its_stake(number: int) -> None:
    dealer, state, liar = lied()[number]
    held = {dealer.number(core_of(state), index) for index in steps.indices(core_of(state).held[liar])}
    denied = {card for card in held if core_of(state).denied[liar] >> card & 1}
    assert denied
    states, is_stuck = play_on(dealer, state, liar, Random(number))
    last = states[-1]
    assert last.outcome[liar].amount == BALANCE - STAKE
    assert is_stuck or core_of(last).held[1 - liar] == 0
    assert not denied & set(_seen(states, liar))


def _seen(states: Sequence[VariablePart], liar: int) -> Iterator[int]:
    """The cards that the liar lays or shows."""
    for state in states[1:]:
        core, shown = core_of(state), evidence_of(state)
        if state.turn_num % 2 != liar:
            continue
        if core.position_type in (PositionType.SHOWING, PositionType.TIED):
            yield from (card.number for card in getattr(shown, "cards", ()))
        elif core.laid:
            yield core.top


def test_lies_end_both_ways() -> None:
    """The other lays its last card, or the liar has nothing that it may show."""
    ends = {play_on(dealer, state, liar, Random(at))[1] for at, (dealer, state, liar) in enumerate(lied())}
    assert ends == {True, False}
