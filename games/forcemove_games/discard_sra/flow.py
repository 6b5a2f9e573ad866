"""The game of Discard in steps, on a signed log. `rules` says what is legal; `table` is one side's context.

Raises, with the culprit's name: `CardFault`s, `MalformedAction`, `UnexpectedAction`, `UnexpectedSender`,
`ActionMissing`. Then the game has no result. `LocalError`s are our own, raised before our action is posted.
"""

from __future__ import annotations

from typing import Any

from forcemove.flow.queue import ActionQueue
from forcemove.flow.steps import Step, Steps, local, repeat, sequence
from forcemove_games.discard_sra import rules
from forcemove_games.discard_sra.cards import HAND
from forcemove_games.discard_sra.table import CannotMove, DiscardResult, DiscardTable, Leaves
from forcemove_games.sra import flow
from forcemove_games.sra.table import DiscardCard, Draw


def discard(choose: flow.Choose[DiscardTable], *, within: float | None = None) -> Step[DiscardTable]:
    """A whole game. `choose`: gives our action when it is our turn. `within`: seconds that we wait for each message."""
    return sequence(
        [
            flow.shuffling(within=within),
            flow.dealing(HAND, within=within),
            flow.turning_up(within=within),
            local(note),
            repeat([turn(choose, within), unless_left(local(note))], until=is_over),
            unless_left(sequence(flow.auditing(within=within), local(settle))),
        ]
    )


def turn(choose: flow.Choose[DiscardTable], within: float | None) -> Step[DiscardTable]:
    """The mover discards, draws, says that it can't move, or leaves."""
    branches: dict[type[Any], Steps[DiscardTable]] = {
        DiscardCard: flow.discarding(),
        Draw: flow.drawing(within=within),
        CannotMove: flow.receiving(accept_cannot_move, expects=CannotMove),
        Leaves: flow.receiving(accept_leave, expects=Leaves),
    }
    return flow.card_turn(seat_to_move, choose, branches, within=within)


def seat_to_move(table: DiscardTable) -> int:
    """Whose turn it is."""
    return rules.seat_to_move(table.history)


def is_over(table: DiscardTable) -> bool:
    """Whether nothing is left to do."""
    return table.result is not None or rules.is_over(table.history)


def accept_leave(action: Leaves, table: DiscardTable) -> None:
    """End the game: nothing is audited, and nobody wins."""
    table.result = DiscardResult(None, False, table.counts, len(table.history) - 1, left=action.client_id)
    table.watch(table)


def unless_left(step: Step[DiscardTable]) -> Step[DiscardTable]:
    """The step, if nobody has left."""

    async def inner(queue: ActionQueue[Any], table: DiscardTable) -> None:
        if table.result is None:
            await step(queue, table)

    return inner


def accept_cannot_move(action: CannotMove, table: DiscardTable) -> None:
    """Believe until the audit that no card of the hand fits."""
    rules.require_pile_empty(table.player.pile, table.clients.index(action.client_id))


def note(_queue: ActionQueue[Any], table: DiscardTable) -> None:
    """Remember the pile as it is now."""
    table.history += (table.player.pile,)
    table.watch(table)


def settle(_queue: ActionQueue[Any], table: DiscardTable) -> None:
    """All cards are open: check that every turn was legal, and only then name the winner."""
    rules.require_rightful(table.history, table.order, table.clients)
    seat = rules.winner(table.history)
    winner = None if seat is None else table.clients[seat]
    table.result = DiscardResult(winner, winner is None, table.counts, len(table.history) - 1)
    table.watch(table)
