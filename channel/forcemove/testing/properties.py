"""What every game must keep to so that its players are safe, as checks: each raises `AssertionError` with a state.

Each check looks at a `StateSpace`: all states that play reaches, or a sample of a game too large for that. Begin a
space with balances that last for a round or two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import inf
from random import Random

from forcemove.errors import AppError
from forcemove.game import Choice, Game, RoundResult
from forcemove.protocol.app import Rules
from forcemove.protocol.types import UINT256_MAX, Outcome, VariablePart, require_same_totals
from forcemove.testing.calls import FROM, ID, TO, Bench, TransitionCall, Variation
from forcemove.testing.space import StateSpace, Visit
from forcemove.testing.walk import Key, LegalMoves, key_of, successors

__all__ = [
    "WORD_CHANGES",
    "IsSettled",
    "neighbours",
    "require_both_alike",
    "require_choices",
    "require_legal_moves",
    "require_no_gain_by_leaving",
    "require_results",
    "require_successors",
]

IsSettled = Callable[[VariablePart], bool]
"""Whether no round is running, so that concluding costs nobody anything."""

WORD_CHANGES = 256
"""How many changes of words are tried on one move: all of two positions of up to 12 words, a sample of longer ones."""
_WORD = 32
_BITS = (1, 1 << 8, 1 << 64, 1 << 128, 1 << 255)
_VALUES = (0, 1, 2, 3, UINT256_MAX)


def require_legal_moves(rules: Rules, space: StateSpace) -> int:
    """Check that each move that the game makes is one that its own rules allow, and keeps the total of every asset.
    Returns the number of moves."""

    def look(visit: Visit) -> None:
        for to in visit.successors:
            _require_legal(rules, visit.state, to)

    return space.check("legal moves", look).moves


def _require_legal(rules: Rules, from_: VariablePart, to: VariablePart) -> None:
    require_same_totals(from_.outcome, to.outcome)
    try:
        is_legal = rules.valid_transition(ID, from_, to, len(from_.outcome))
    except AppError as error:
        raise AssertionError(f"the rules refuse the game's own move {from_} -> {to}: {error}") from error
    if is_legal is not True:
        raise AssertionError(f"the rules answer {is_legal} about {from_} -> {to}; a legal move is True")


def require_successors(space: StateSpace, is_settled: IsSettled) -> int:
    """Check that each state that play reaches has a legal move, or no round is running in it: no player ever has only
    losing states to sign. Returns the number of states."""

    def look(visit: Visit) -> None:
        if not visit.successors and not is_settled(visit.state):
            raise AssertionError(f"nothing legal can follow {visit.state}")

    return space.check("successors", look).states


# ------------------------------------------------------------------------------------------------------------- persons


def require_choices(game: Game, begin: VariablePart, *, games: int = 20, turns: int = 100) -> int:
    """Check that people can play from `begin` by the choices that the game offers, keeping nothing but a choice's
    secrets: each move is legal, and the words of a turn are different and can be typed. Plays at random; returns the
    number of choices."""
    offered = 0
    for state, choices, _ in (turn for seed in range(games) for turn in _walk(game, begin, seed, turns)):
        offered += len(choices)
        _require_words([each.word for each in choices], state)
        for each in choices:
            game.valid_transition(ID, state, each.move.after(state), len(state.outcome))
    return offered


def _walk(
    game: Game, begin: VariablePart, seed: int, turns: int
) -> Iterator[tuple[VariablePart, Sequence[Choice], VariablePart]]:
    """A game at random: each state, what could be chosen then, and the state after what was."""
    random = Random(seed)  # noqa: S311  # nothing secret
    state, secrets = begin, [b""] * len(begin.outcome)
    for _ in range(turns):
        mover = (state.turn_num + 1) % len(state.outcome)
        choices = game.choices(state, random.randbytes, secrets[mover])
        if not choices:
            return
        chosen = random.choice(choices)
        secrets[mover] = secrets[mover] if chosen.secrets is None else chosen.secrets
        after = chosen.move.after(state)
        yield state, choices, after
        state = after


def require_results(
    game: Game, begin: VariablePart, is_settled: IsSettled, *, games: int = 20, turns: int = 100
) -> int:
    """Check what the game says of its rounds, in games at random: a result just where a round ends, with the amounts by
    which the outcome has changed since it began; and that moves and prompts are words that a sentence can end with. A
    round that is over without a result, since it was turned down, changes nothing. Returns the number of results.

    - `game`: says how rounds end.
    - `begin`: the first state, in which no round is running.
    - `is_settled`: whether no round is running in a state.
    - `games`: how many.
    - `turns`: of each game at most.
    """
    found = 0
    for seed in range(games):
        outcome = begin.outcome
        for before, _, state in _walk(game, begin, seed, turns):
            for words in (game.move_text(before, state), game.move_text(None, state), game.prompt(state)):
                _require_phrase(words, state)
            is_over = is_settled(state) and not is_settled(before)
            result = game.result(state)
            if not is_over if result is not None else is_over and state.outcome != outcome:
                raise AssertionError(f"a round {'ends' if is_over else 'does not end'} with {state}; result: {result}")
            if result is not None:
                _require_changes(result, outcome, state)
                outcome, found = state.outcome, found + 1
    return found


def _require_phrase(words: str, state: VariablePart) -> None:
    if not words or not words.isprintable() or words != words.strip(" ."):
        raise AssertionError(f"a sentence cannot end with {words!r}, which the game says of {state}")


def _require_changes(result: RoundResult, before: Outcome, state: VariablePart) -> None:
    changes = tuple(new.amount - old.amount for new, old in zip(state.outcome, before, strict=True))
    if result.changes != changes:
        raise AssertionError(f"the outcome of {state} has changed by {changes}; the result says {result.changes}")
    winner = None if not any(changes) else changes.index(max(changes))
    if result.winner != winner:
        raise AssertionError(f"participant {winner} has gained most with {state}; the result says {result.winner}")
    _require_phrase(result.reason, state)


def _require_words(words: list[str], state: VariablePart) -> None:
    if len(set(words)) < len(words):
        raise AssertionError(f"two choices after {state} have the same word: {words}")
    for word in words:
        if word != word.strip().lower() or not word.isprintable() or not word or " " in word:
            raise AssertionError(f"a person cannot type the word {word!r} of a choice after {state}")


# ------------------------------------------------------------------------------------------------------------- leaving


def require_no_gain_by_leaving(space: StateSpace, is_settled: IsSettled, *, ahead: int = 3) -> int:
    """Check that no mover is better off by walking away than by its best move, whatever the others do then, leaving
    included. A leaver gets the outcome of the state that it does not answer. For games whose rounds end.

    Of a game too large to walk, only a gain within `ahead` moves is found. Returns the number of states. Of a game with
    hidden choices, the check finds what an all-knowing player could gain: the others can gain no more.
    """
    depth = None if space.is_whole else ahead
    leaving = _Leaving(space.moves, is_settled)

    def look(visit: Visit) -> None:
        state = visit.state
        mover = (state.turn_num + 1) % len(state.outcome)
        left, played = state.outcome[mover].amount, leaving.value(state, mover, depth)
        if left > played:
            raise AssertionError(f"participant {mover} gets {left} by leaving {state}, and {played} by playing on")

    what = "leaving" if depth is None else f"leaving, {depth} moves ahead"
    return space.check(what, look).states


class _Leaving:
    """The outcome that a participant can be sure of in a state: the worst that the others can do, and its own best."""

    def __init__(self, moves: LegalMoves, is_settled: IsSettled) -> None:
        self._moves, self._is_settled = moves, is_settled
        self._known: dict[tuple[Key, int], float] = {}

    def value(self, state: VariablePart, participant: int, depth: int | None) -> float:
        """The amount in the asset's smallest unit; infinity where this many moves ahead do not decide it. `depth`:
        None: to the end."""
        if depth is not None:
            return self._value(state, participant, depth)
        key = (key_of(state), participant)
        if key not in self._known:
            self._known[key] = self._value(state, participant, None)
        return self._known[key]

    def _value(self, state: VariablePart, participant: int, depth: int | None) -> float:
        amount = state.outcome[participant].amount
        if self._is_settled(state):
            return amount
        if depth == 0:
            return inf
        after = None if depth is None else depth - 1
        values = [self.value(successor, participant, after) for successor in successors(state, self._moves)]
        is_ours = (state.turn_num + 1) % len(state.outcome) == participant
        return max(values, default=amount) if is_ours else min([*values, amount])


# -------------------------------------------------------------------------------------------------------------- parity


def require_both_alike(bench: Bench, space: StateSpace, *, random_pairs: int = 200) -> int:
    """Check that bytecode and twin give one verdict, one error and the same values: about every legal move that play
    reaches, about calls that differ from it in one field, and about pairs of unrelated positions; of a game too large
    to walk, about a sample of each. Returns the number of cases. Raises `TwinsDiffer`."""
    random = Random(space.seed)  # noqa: S311  # nothing secret
    states = _Sample(random)

    def look_at_moves(visit: Visit) -> None:
        states.add(visit.state)
        for to in visit.successors:
            call = TransitionCall(visit.state, to, space.seats)
            if not bench.compare(call, [call.unchanged()])[0]:
                raise AssertionError(f"both refuse the legal move {visit.state} -> {to}")

    def look_at_neighbours(visit: Visit) -> None:
        for to in visit.played:
            call = TransitionCall(visit.state, to, space.seats)
            bench.compare(call, neighbours(call, random))
            for count in (space.seats - 1, space.seats + 1):
                another = TransitionCall(visit.state, to, count)
                bench.compare(another, [another.unchanged()])

    space.check("both alike: legal moves", look_at_moves)
    space.check("both alike: what differs from a move in one field", look_at_neighbours)
    _compare_strangers(bench, states.kept, random_pairs, random)
    return bench.cases


class _Sample:
    """At most this many of the added states, each with the same chance."""

    def __init__(self, random: Random, limit: int = 10_000) -> None:
        self.kept: list[VariablePart] = []
        self._random, self._limit, self._given = random, limit, 0

    def add(self, state: VariablePart) -> None:
        """Add a state."""
        self._given += 1
        if len(self.kept) < self._limit:
            self.kept.append(state)
        elif (place := self._random.randrange(self._given)) < self._limit:
            self.kept[place] = state


def _compare_strangers(bench: Bench, states: list[VariablePart], pairs: int, random: Random) -> None:
    for _ in range(pairs):
        from_, to = random.choice(states), random.choice(states)
        follower = VariablePart(to.outcome, to.app_data, from_.turn_num + 1, evidence=to.evidence)
        call = TransitionCall(from_, follower, len(from_.outcome))
        bench.compare(call, [call.unchanged()])


def neighbours(call: TransitionCall, random: Random | None = None) -> list[Variation]:
    """The call itself, and calls that differ from it in one field of either state: a bit or the value of a word, the
    length of appData or evidence, an amount. Of words, at most `WORD_CHANGES` are changed: of long positions a sample.
    `random`: what draws it; the same one in each run unless it is given."""
    changes = [
        partial(call.word, side, *change) for side in (FROM, TO) for change in _word_changes(_app_data(call, side))
    ]
    changes += [partial(call.evidence_word, *change) for change in _word_changes(call.to.evidence)]
    if len(changes) > WORD_CHANGES:
        changes = (random or Random(0)).sample(changes, WORD_CHANGES)  # noqa: S311  # nothing secret
    found = [call.unchanged(), *(change() for change in changes)]
    for side in (FROM, TO):
        found += [call.length(side, other) for other in _lengths(_app_data(call, side))]
        found += _amounts(call, side)
    return found + [call.evidence_length(other) for other in _lengths(call.to.evidence)]


def _app_data(call: TransitionCall, side: int) -> bytes:
    return (call.from_, call.to)[side].app_data


def _word_changes(data: bytes) -> Iterator[tuple[int, int]]:
    """The places of words with the values that are put there."""
    for index in range(len(data) // _WORD):
        value = int.from_bytes(data[index * _WORD : (index + 1) * _WORD], "big")
        yield from ((index, other) for other in sorted({*(value ^ bit for bit in _BITS), *_VALUES} - {value}))


def _lengths(data: bytes) -> list[int]:
    """Other lengths."""
    length = len(data)
    return [other for other in {0, length - 1, length + 1, length + _WORD} - {length} if other >= 0]


def _amounts(call: TransitionCall, side: int) -> Iterator[Variation]:
    """Outcomes with a unit moved from each participant to each other, and with a unit more or less in the total."""
    amounts = [entry.amount for entry in (call.from_, call.to)[side].outcome]
    for giver in range(len(amounts)):
        for taker in range(len(amounts)):
            if amounts[giver] and amounts[taker] < UINT256_MAX and giver != taker:
                changes = [(seat == taker) - (seat == giver) for seat in range(len(amounts))]
                yield call.amounts(side, *(amount + change for amount, change in zip(amounts, changes, strict=True)))
        if amounts[giver] < UINT256_MAX:
            yield call.amounts(side, *(amount + (seat == giver) for seat, amount in enumerate(amounts)))
