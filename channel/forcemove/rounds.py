"""A game's rounds in words: its moves, whose turn it is, how rounds ended, and the score. Pure.

A viewer is the seat that reads, who is called `You`; None for somebody who has no seat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from forcemove.game import Game, Names, RoundResult
from forcemove.protocol.types import Outcome, SignedState, VariablePart

GAME_OVER = "The game is over."
UNASKED = "\N{HORIZONTAL ELLIPSIS}"
"""The end of a prompt that asks nobody, see `Game.prompt`."""


class RoundCount:
    """Counts the rounds of one channel as its states come. `results`: of the rounds that are over, in their order;
    `settled`: the outcome with which the last of them ended, None where none is over."""

    def __init__(self, game: Game, states: Iterable[VariablePart] = ()) -> None:
        """`states`: those of the channel that there are already, in the order of turns."""
        self.results: list[RoundResult] = []
        self.settled: Outcome | None = None
        self._game, self._seen = game, -1
        for state in states:
            self.add(state)

    def add(self, state: VariablePart) -> RoundResult | None:
        """Look at one more state. Returns the result of the round that ends with it; None where none does, or where the
        state, or a later one, was seen before. Raises as `Game.result`."""
        if state.turn_num <= self._seen:
            return None
        self._seen = state.turn_num
        found = self._game.result(state)
        if found is not None:
            self.results.append(found)
            self.settled = state.outcome
        return found


def state_words(game: Game | None, before: VariablePart | None, state: VariablePart, count: int) -> str:
    """What a signed state says, in a few words: `placed an X in the middle`, `the terms`.

    - `game`: the channel's; None where it is not installed.
    - `before`: the state before, None where it is not at hand.
    - `state`: any.
    - `count`: the number of participants.

    Raises an `AppError` on bytes that are not a position.
    """
    if state.is_final:
        return "the end of the game"
    if state.turn_num < 2 * count:
        is_paid_for = any(each.amount for each in state.outcome)
        return "the terms" if state.turn_num < count else "all is paid in" if is_paid_for else "ready to play"
    return "a move" if game is None else game.move_text(_just_before(before, state), state)


def words_by_turn(game: Game | None, states: Iterable[VariablePart], count: int) -> Callable[[SignedState], str]:
    """Tells what signed states say, see `state_words`. `states`: among which are those before them."""
    known = {each.turn_num: each for each in states}
    return lambda signed: state_words(game, known.get(signed.state.turn_num - 1), signed.state, count)


def _just_before(before: VariablePart | None, after: VariablePart) -> VariablePart | None:
    """The state before, where it is that: the last one that a screen has shown may be of another channel."""
    return before if before is not None and before.turn_num == after.turn_num - 1 and not before.is_final else None


def _move_line(game: Game, before: VariablePart | None, after: VariablePart, names: Names, viewer: int | None) -> str:
    """A move as a sentence: `Bob placed an X in the middle.`"""
    return (
        f"{_subject(after.turn_num % len(names), names, viewer)} {game.move_text(_just_before(before, after), after)}."
    )


def _turn_line(prompt: str, state: VariablePart, names: Names, viewer: int | None) -> str:
    """Whose turn it is: `Your turn to place an O.`"""
    # In the opening nobody has moved: the first move of the game is participant 0's.
    seat = (max(state.turn_num, 2 * len(names) - 1) + 1) % len(names)
    whose = "Your" if seat == viewer else f"{names[seat]}'s"
    return f"{whose} turn to {prompt}."


def position_line(
    game: Game, before: VariablePart | None, state: VariablePart, names: Names, viewer: int | None = None
) -> str:
    """What was done last, how the round has ended with it, and whose turn it is; or what programs do by themselves.

    - `game`: the channel's.
    - `before`: the state before, None where it is not at hand.
    - `state`: any.
    - `names`: of the participants, by seat.
    - `viewer`: see the module.

    Raises an `AppError` on bytes that are not a position.
    """
    if state.is_final:
        return GAME_OVER
    prompt = game.prompt(state)
    if prompt.endswith(UNASKED):
        return prompt
    parts = [_turn_line(prompt, state, names, viewer)]
    if (result := game.result(state)) is not None:
        parts.insert(0, result_line(result, names, viewer))
    if state.turn_num >= 2 * len(names):
        parts.insert(0, _move_line(game, before, state, names, viewer))
    return " ".join(parts)


def result_line(result: RoundResult, names: Names, viewer: int | None) -> str:
    """How a round ended: `You win the round: paper beats rock.` `names`: of the participants, by seat."""
    if result.winner is None:
        return f"The round is drawn: {result.reason}."
    verb = "win" if result.winner == viewer else "wins"
    return f"{_subject(result.winner, names, viewer)} {verb} the round: {result.reason}."


def score_line(results: Sequence[RoundResult], names: Names, viewer: int | None) -> str:
    """How many rounds each has won: `You 2, Bob 1, drawn 1`; empty before the first is over."""
    if not results:
        return ""
    winners = [each.winner for each in results]
    seats = sorted(range(len(names)), key=lambda seat: (seat != viewer, seat))
    won = [f"{_subject(seat, names, viewer)} {winners.count(seat)}" for seat in seats]
    drawn = winners.count(None)
    return ", ".join([*won, *([f"drawn {drawn}"] if drawn else [])])


def _subject(seat: int, names: Names, viewer: int | None) -> str:
    return "You" if seat == viewer else names[seat]
