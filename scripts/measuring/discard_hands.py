"""The gas of disputes about Discard, for the hands that follow from one label: proofs are random otherwise, and each
zero byte counts. See `scripts/measuring/gas.py`, whose channels these are."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from forcemove.protocol.types import VariablePart
from forcemove_games.discard.position import SHOWN_AT_ONCE, Core, PositionType, decode
from tests.games.discard.dealer import Dealer, draw_first

LABEL = "draw first 62"
"""Of hands in which both players show four cards at once, if they draw as long as they can."""


_Wanted = Callable[[Core, Core], object]


def disputed_states(
    row: str, channel_id: bytes, begin: VariablePart
) -> tuple[VariablePart, VariablePart, VariablePart]:
    """The state that the row's move makes, after the two states before it.

    - `row`: one of `ROWS`.
    - `channel_id`: of a fresh channel: the proofs hold in no other.
    - `begin`: the state from which its participant 0 moves first.
    """
    hand, wanted = Dealer(LABEL, channel_id), ROWS[row]
    for strategy in (Random(1).choice, draw_first):  # noqa: S311  # nothing secret
        states = hand.play(strategy, begin)
        for before, from_, to in zip(states, states[1:], states[2:], strict=False):
            if wanted(decode(from_.app_data).core, decode(to.app_data).core):
                left = VariablePart(from_.outcome, b"", from_.turn_num + 1, is_final=True)
                return before, from_, left if wanted is _leaves else to
    raise SystemExit(f"no such move in the hands of {LABEL!r}")


def _makes(kind: PositionType) -> _Wanted:
    return lambda _from, to: to.position_type is kind


def _leaves(from_: Core, _to: Core) -> bool:
    return from_.position_type is PositionType.SHUFFLED


ROWS: dict[str, _Wanted] = {
    "discard_challenge_share": lambda from_, to: from_.pending and from_.shared and to.laid,
    "discard_challenge_discard": lambda from_, to: from_.laid and not from_.shared and to.laid,
    "discard_respond_discard": lambda from_, to: from_.laid and not from_.shared and to.laid,
    "discard_respond_share": lambda from_, to: from_.pending and not from_.shared and to.pending,
    "discard_respond_share_discard": lambda from_, to: from_.pending and from_.shared and to.laid,
    "discard_challenge_deal": _makes(PositionType.DEALT_FIRST),
    "discard_challenge_second_deal": _makes(PositionType.DEALT),
    "discard_challenge_shuffle": _makes(PositionType.SHUFFLED),
    "discard_respond_leave": _leaves,
    "discard_challenge_show": lambda from_, to: (
        from_.position_type is PositionType.SHOWING and from_.laid == to.laid == SHOWN_AT_ONCE
    ),
}
"""By which positions, before and after, the move of each row is found."""
