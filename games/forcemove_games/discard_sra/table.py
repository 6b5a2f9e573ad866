"""One side of a table at which Discard is played: the game's additions to a card table, and the end of a game."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from forcemove import ForcemoveError
from forcemove.flow.actions import Action, ActionCodec
from forcemove.flow.queue import ActionQueue, said_before
from forcemove.flow.signed import BadSignature, MessageReplayed, UnknownClient, UnsignedMessage
from forcemove.flow.transport import Transport
from forcemove_games.discard_sra import rules
from forcemove_games.discard_sra.cards import SIZE
from forcemove_games.discard_sra.rules import RULES, DiscardPhase, Kind, Move, NotStuck, Position
from forcemove_games.randomness import Randomness
from forcemove_games.sra.deck import begin
from forcemove_games.sra.pile import Pile, PileRules
from forcemove_games.sra.table import CARDS, CardTable


class CannotMove(Action, frozen=True):
    """Says that the pile is empty and that no card of the client's hand fits."""


class Leaves(Action, frozen=True):
    """The client takes no more turns: the game ends, and counts for nobody."""


ACTIONS: ActionCodec[Any] = ActionCodec(*CARDS.types, CannotMove, Leaves)
"""The codec of such a table."""


@dataclass(frozen=True, slots=True)
class DiscardResult:
    """How a game has ended. There is no winner before the deck was audited and all turns were found legal.

    `winner`: a client's id, or None where both could not move: then it `is_stuck`; or where a client has `left`: then
    nothing was audited. `counts`: how many cards each client holds at the end. `turns`: how many were taken.
    """

    winner: str | None
    is_stuck: bool
    counts: Mapping[str, int]
    turns: int
    left: str | None = None


def _nobody(_table: DiscardTable) -> None:
    """The watcher of tables that nobody watches."""


@dataclass
class DiscardTable(CardTable):
    """One side's context. `watch`: is called when the first discard lies open, after each turn, and with the result.
    `history`: the pile as it was at these times. `result`: None before the end, and after a fault forever."""

    rules: PileRules = RULES
    watch: Callable[[DiscardTable], object] = _nobody
    history: tuple[Pile, ...] = ()
    result: DiscardResult | None = None

    @property
    def phase(self) -> DiscardPhase:
        """The phase of the game."""
        if not self.shuffle.is_finished:
            return DiscardPhase.SHUFFLING
        if self.result is not None:
            return DiscardPhase.OVER
        if not self.history:
            return DiscardPhase.TURNING_UP if self.player.hand and self._other_has_its_hand else DiscardPhase.DEALING
        if rules.is_over(self.history):
            return DiscardPhase.AUDITING
        return (DiscardPhase.A_TO_MOVE, DiscardPhase.B_TO_MOVE)[rules.seat_to_move(self.history)]

    @property
    def _other_has_its_hand(self) -> bool:
        pile, seat = self.player.pile, self.player.seat
        return all(pile.has_key(index, seat) for index in pile.held_by(1 - seat))

    @property
    def position(self) -> Position:
        """The game as we see it, for deciding on our turn."""
        player, pile = self.player, self.player.pile
        hand = tuple(sorted(card for _, card in player.hand))
        return Position(hand, pile.laid, pile.left, len(pile.held_by(player.other)))

    @property
    def counts(self) -> dict[str, int]:
        """How many cards each client holds."""
        return {name: len(self.player.pile.held_by(seat)) for seat, name in enumerate(self.clients)}

    def act(self, move: Move) -> Action:
        """The action by which we make a move. Raises `NotStuck`, and what `CardTable.draw` and `discard` raise."""
        if move.kind is Kind.DRAW:
            return self.draw()
        if move.kind is Kind.CANNOT_MOVE:
            return self.cannot_move()
        indices = {card: index for index, card in self.player.hand}
        return self.discard(-1 if move.card is None else indices.get(move.card, -1))

    def cannot_move(self) -> CannotMove:
        """The action that says that we cannot move. Raises `NotStuck`."""
        position = self.position
        if position.left or position.fitting:
            raise NotStuck(position.left, position.fitting)
        return CannotMove(self.name)

    def require_lawful(self, action: Action) -> None:
        """See `CardTable.require_lawful`. Raises `NotStuck`, too."""
        if isinstance(action, CannotMove):
            self.cannot_move()
        super().require_lawful(action)


def sit_down(clients: tuple[str, str], seat: int, randomness: Randomness) -> DiscardTable:
    """A place at a table before the shuffle. `seat`: 0 or 1; 0 makes the first turn. `randomness`: of keys and order; a
    client that draws them from `forcemove_games.randomness.seeded` can resume the game."""
    return DiscardTable(clients, begin(SIZE, seat, randomness), randomness=randomness)


_BY_STRANGERS = (UnsignedMessage, UnknownClient, BadSignature, MessageReplayed)
"""The faults that anybody can cause on a log without a player's key."""


async def open_queue(transport: Transport, client_id: str) -> ActionQueue[Any]:
    """A client's queue at a table, for a game that begins and for one that the client resumes after a crash.

    `transport`: a signed one, of the two players and nobody else. Messages of strangers are passed over; a fault of a
    player's own message is raised in its place.
    """
    length = transport.length()
    said = await said_before(transport, ACTIONS, client_id)
    return ActionQueue(transport, ACTIONS, said=said, read_to=length, skip=_pass_over_strangers)


def _pass_over_strangers(fault: ForcemoveError) -> None:
    if not isinstance(fault, _BY_STRANGERS):
        raise fault
