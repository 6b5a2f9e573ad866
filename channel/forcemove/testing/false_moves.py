"""What a game must keep to whose players judge moves themselves (`forcemove.game.PlayerChecked`), as a check.

Knows no game by name.
"""

from __future__ import annotations

from random import Random

from forcemove.game import Bot, FalseMove, Game, PlayerChecked
from forcemove.protocol.types import VariablePart
from forcemove.testing.calls import Bench, TransitionCall

__all__ = ["require_false_moves_seen"]


def require_false_moves_seen(
    bench: Bench, game: Game, begin: VariablePart, *, games: int = 1, turns: int = 60, seed: int = 0
) -> int:
    """Check the false moves that a cheat could make while bots play: bytecode and twin let each one pass, and where it
    is seen at once the next player leaves, as a bot and as a person, has a reason, and has lost nothing by the move.
    No reason is found in what a bot does. Returns the number of false moves.

    - `bench`: of the game's contract.
    - `game`: plays, and is a `PlayerChecked`.
    - `begin`: the state after which the first player moves.
    - `games`: how many are played.
    - `turns`: of each game, at most.
    - `seed`: what chance is drawn with.

    Raises `AssertionError`, and `TwinsDiffer`.
    """
    if not isinstance(game, PlayerChecked):
        raise AssertionError(f"{game.name} has no false moves: it is not a PlayerChecked")
    random, seats = Random(seed), len(begin.outcome)  # noqa: S311  # nothing secret
    found = 0
    for _ in range(games):
        bots = [game.bot(seat, random.randbytes) for seat in range(seats)]
        state, between = begin, (begin,) * (seats - 2)
        for _ in range(turns):
            mover = bots[(state.turn_num + 1) % seats]
            for false in game.false_moves(state, random.randbytes, mover.secrets()):
                _require_seen(bench, game, bots, state, false)
                found += 1
            move = mover.move(state, another_round=True, between=between)
            if move is None:
                break
            state, between = move.after(state), (*between, state)[1:]
            reason = game.objection(state, bots[(state.turn_num + 1) % seats].secrets())
            if reason:
                raise AssertionError(f"a bot is said to have cheated: it {reason}, with {state}")
    return found


def _require_seen(bench: Bench, game: Game, bots: list[Bot], state: VariablePart, false: FalseMove) -> None:
    to = false.move.after(state)
    bench.require_accepted(TransitionCall(state, to, len(bots)))
    if not false.is_seen:
        return
    seat = (to.turn_num + 1) % len(bots)
    secrets, what = bots[seat].secrets(), f"after a move that {false.label}"
    if game.bot(seat, secrets=secrets).move(to, another_round=True, between=()) is not None:
        raise AssertionError(f"the bot goes on {what}")
    if game.choices(to, Random(0).randbytes, secrets):  # noqa: S311  # nothing secret
        raise AssertionError(f"a person is asked for a move {what}")
    if not isinstance(game, PlayerChecked) or not game.objection(to, secrets):
        raise AssertionError(f"no reason is given {what}")
    if to.outcome[seat].amount < state.outcome[seat].amount:
        raise AssertionError(f"participant {seat} has lost something {what}")
