"""Two clients shuffle, deal, draw and discard over a shared log, in steps.

A client's action counts when the log gives it back, for itself as for the other. To draw, a client asks for the card at
the top, and the other gives its key if the game's rules let the drawer draw. To discard, a client gives its own key,
and the other sees the card. Both sides refuse a move that the rules forbid: our own before it is posted, with a
`LocalError`, the other's with a `CardFault` that names its client. When the hand is over, both give all their keys and
check that no card was missing or there twice; if one was, they see which client has cheated.

Play it on a signed log (`forcemove.flow.signed`): nothing here proves that an action comes from the client that it
names. Keys are in memory only; a client that draws them from `forcemove_games.randomness.seeded` can resume a hand
after a crash.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from forcemove import InvalidValue
from forcemove.flow.actions import Action, type_of
from forcemove.flow.queue import ActionQueue
from forcemove.flow.steps import Step, Steps, choice, local, repeat, sequence, transition
from forcemove_games.sra import deck, player
from forcemove_games.sra.arithmetic import encode_numbers
from forcemove_games.sra.deck import DisclosedKeys
from forcemove_games.sra.faults import CardFault, WrongCount
from forcemove_games.sra.player import Player
from forcemove_games.sra.table import (
    AllKeys,
    CardTable,
    Deal,
    Deck,
    DiscardCard,
    Draw,
    Queue,
    Serve,
    TurnUp,
    keys_of,
    numbers_of,
)
from forcemove_games.two_player import PLAYERS

_Expected = TypeVar("_Expected", bound=Action)
_Table = TypeVar("_Table", bound=CardTable)
Choose = Callable[[_Table], Action | Awaitable[Action]]
"""Our decision on our turn, at once or awaited: `CardTable.draw` and `CardTable.discard` make the actions of cards."""


def receiving(
    accept: Callable[[_Expected, _Table], object],
    *,
    expects: type[_Expected],
    sender: tuple[str, ...] | Callable[[_Table], str | tuple[str, ...]] = (),
    within: float | None = None,
) -> Step[_Table]:
    """A `transition` whose `CardFault`s name their culprit. `accept` is not an async function.

    The culprit is the client whose action it was. A fault in an action of our own is the other client's, whose false
    key came before: our own actions are checked before we post them.
    """

    def judged(action: _Expected, table: _Table) -> None:
        try:
            accept(action, table)
        except CardFault as fault:
            fault.culprit = table.other if table.is_ours(action) else action.client_id
            raise

    return transition(judged, expects=expects, sender=sender, within=within)


# -------------------------------------------------------------------------------------------------------------- shuffle


def shuffling(*, within: float | None = None) -> Step[CardTable]:
    """Send the four decks back and forth. Raises what `deck.receive` and `transition` raise, and `MalformedAction`."""
    one = sequence(local(_send_deck), receiving(_accept_deck, expects=Deck, sender=_shuffler, within=within))
    return repeat(one, until=lambda table: table.shuffle.is_finished)


def _shuffler(table: CardTable) -> str:
    return table.clients[table.shuffle.step % PLAYERS]


async def _send_deck(queue: Queue, table: CardTable) -> None:
    if table.shuffle.is_ours:
        table.sent = deck.send(table.shuffle, table.randomness)
        await queue.enqueue(Deck(table.name, encode_numbers(table.sent.latest)))


def _accept_deck(action: Deck, table: CardTable) -> None:
    if table.is_ours(action) and table.sent is not None:
        table.shuffle, table.sent = table.sent, None
    else:
        table.shuffle = deck.receive(table.shuffle, numbers_of(action, action.numbers))


# -------------------------------------------------------------------------------------------------------------- dealing


def dealing(count: int, *, within: float | None = None) -> Step[CardTable]:
    """Each side gets `count` cards of the pile, seat 0 those at the top, with one message of the other.

    Raises `InvalidValue` when it is built without a card; later what `player.deal` and `player.take_hand` raise,
    `MalformedAction`, and as `transition` does.
    """
    if type(count) is not int or count < 1:
        raise InvalidValue("count", count, "1 or more cards for each side")

    async def deal(queue: Queue, table: CardTable) -> None:
        table.player = player.deal(table.player, count)
        _, keys = player.give_hand(table.player)
        await queue.enqueue(Deal(table.name, tuple(key.encode() for key in keys)))

    def has_not_dealt(table: CardTable) -> tuple[str, ...]:
        return tuple(name for seat, name in enumerate(table.clients) if _is_waiting(table.player, 1 - seat))

    dealt = receiving(_accept_deal, expects=Deal, sender=has_not_dealt, within=within)
    return sequence(local(deal), repeat(dealt, PLAYERS))


def _is_waiting(side: Player, seat: int) -> bool:
    """Whether cards that a seat holds still lack the other's keys."""
    return any(not side.pile.has_key(index, 1 - seat) for index in side.pile.held_by(seat))


def _accept_deal(action: Deal, table: CardTable) -> None:
    if table.is_ours(action):
        table.player, _ = player.give_hand(table.player)
    else:
        table.player = player.take_hand(table.player, keys_of(action, action.keys))


def turning_up(*, within: float | None = None) -> Step[CardTable]:
    """Turn the card at the top up for all: both give their keys, in any order.

    Raises what `player.turn_up` and `player.record_turned` raise, `MalformedAction`, and as `transition` does.
    """
    turned = receiving(_accept_turned, expects=TurnUp, sender=_has_not_turned, within=within)
    return sequence(local(_turn_up), repeat(turned, PLAYERS))


async def _turn_up(queue: Queue, table: CardTable) -> None:
    table.player, index = player.turn_up(table.player)
    await queue.enqueue(TurnUp(table.name, index, player.give(table.player, index)[1].encode()))


def _has_not_turned(table: CardTable) -> tuple[str, ...]:
    pile = table.player.pile
    return tuple(name for seat, name in enumerate(table.clients) if not pile.has_key(pile.top - 1, seat))


def _accept_turned(action: TurnUp, table: CardTable) -> None:
    if table.is_ours(action):
        table.player, _ = player.give(table.player, action.index)
    else:
        table.player = player.record_turned(table.player, action.index, keys_of(action, (action.key,))[0])


# ---------------------------------------------------------------------------------------------------------------- turns


def card_turn(
    mover: int | Callable[[_Table], int],
    choose: Choose[_Table],
    branches: Mapping[type[Any], Steps[_Table]] | None = None,
    *,
    within: float | None = None,
) -> Step[_Table]:
    """One turn of a seat: the mover chooses an action, and the branch of its type follows.

    `mover`: the seat whose turn it is, or a function that returns it. `choose`: is asked if the turn is ours.
    `branches`: what may be done, by the type of the action that begins it; by default `drawing` and `discarding`.
    `within`: seconds until the mover must have acted. Raises `UnexpectedAction`, `UnexpectedSender`, `ActionMissing`,
    and what the branches raise; before our action is posted, what `CardTable.require_lawful` raises, and `InvalidValue`
    where our choice begins no branch.
    """
    follows: dict[type[Any], Steps[_Table]]
    follows = dict(branches or {Draw: drawing(within=within), DiscardCard: discarding()})

    def seat(table: _Table) -> int:
        return mover(table) if callable(mover) else mover

    async def act(queue: ActionQueue[Any], table: _Table) -> None:
        if seat(table) == table.player.seat:
            chosen = choose(table)
            action = await chosen if inspect.isawaitable(chosen) else chosen
            if type(action) not in follows:
                raise InvalidValue("choose", type_of(type(action)), " or ".join(map(type_of, follows)))
            table.require_lawful(action)
            await queue.enqueue(action)

    return sequence(local(act), choice(follows, sender=lambda table: table.clients[seat(table)], within=within))


def drawing(*, within: float | None = None) -> Step[CardTable]:
    """A branch of `card_turn`: the mover asks for the top card, and the other side hands its key over.

    Raises what `player.hand_over` and `player.take` raise, `MalformedAction`, and as `transition` does.
    """
    return sequence(
        receiving(_accept_draw, expects=Draw),
        local(_serve),
        receiving(_accept_key, expects=Serve, sender=_server, within=within),
    )


def discarding() -> Step[CardTable]:
    """A branch of `card_turn`: the mover lays down a card. Raises what `player.record_discard` raises, and
    `MalformedAction`."""
    return receiving(_accept_discard, expects=DiscardCard)


def _accept_draw(action: Draw, table: CardTable) -> None:
    """Take a draw. The drawer waits for the key now; the other side checks whether it owes one, and changes when it has
    given it."""
    if table.is_ours(action):
        table.player, _ = player.draw(table.player, table.rules)
    else:
        player.hand_over(table.player, action.index, table.rules)


async def _serve(queue: Queue, table: CardTable) -> None:
    top = table.player.pile.top
    if _server(table) == table.name:
        _, key = player.hand_over(table.player, top, table.rules)
        await queue.enqueue(Serve(table.name, top, key.encode()))


def _server(table: CardTable) -> str:
    """The client that owes the key for a requested card: the other, if we are waiting for the card."""
    return table.other if _is_waiting(table.player, table.player.seat) else table.name


def _accept_key(action: Serve, table: CardTable) -> None:
    if table.is_ours(action):
        table.player, _ = player.hand_over(table.player, action.index, table.rules)
    else:
        table.player, _ = player.take(table.player, action.index, keys_of(action, (action.key,))[0])


def _accept_discard(action: DiscardCard, table: CardTable) -> None:
    if table.is_ours(action):
        table.player, _ = player.discard(table.player, action.index, table.rules)
    else:
        table.player, _ = player.record_discard(
            table.player, action.index, keys_of(action, (action.key,))[0], table.rules
        )


# ---------------------------------------------------------------------------------------------------------------- audit


def auditing(*, within: float | None = None) -> Step[CardTable]:
    """End the hand: both give all their keys, and each checks that the deck had all cards, each once.

    Raises what `deck.audit` raises, alike for both, with the client that has cheated as its culprit. And `WrongCount`,
    `InvalidExponent`, `MalformedAction` and as `transition` does, for the counterparty's message.
    """
    keys = receiving(_accept_all_keys, expects=AllKeys, sender=_has_not_shown, within=within)
    return sequence(local(_show_all_keys), repeat(keys, PLAYERS), local(_audit))


def _has_not_shown(table: CardTable) -> tuple[str, ...]:
    return tuple(name for name in table.clients if name not in table.shown)


async def _show_all_keys(queue: Queue, table: CardTable) -> None:
    secrets = table.shuffle.secrets
    keys = tuple(key.disclose().encode() for key in secrets.card_keys)
    await queue.enqueue(AllKeys(table.name, secrets.phase_key.disclose().encode(), keys))


def _accept_all_keys(action: AllKeys, table: CardTable) -> None:
    if len(action.keys) != table.shuffle.size:
        raise WrongCount(table.shuffle.size, len(action.keys))
    (phase_key,) = keys_of(action, (action.phase_key,))
    table.shown[action.client_id] = DisclosedKeys(phase_key, keys_of(action, action.keys))


def _audit(_queue: Queue, table: CardTable) -> None:
    first, second = (table.shown[name] for name in table.clients)
    try:
        table.order = deck.audit(table.shuffle.latest, first.card_keys, second.card_keys)
    except CardFault as fault:
        fault.culprit = table.clients[deck.false_step(table.shuffle.decks, (first, second)) % PLAYERS]
        raise
