"""Spectators: who has no seat and no key follows a table through its public view, and is told nothing more.

A client at the table relays to a feed, which is any log: first the public view as it is then, and after it each action
with what that newly shows (see `games.views`). A spectator, who may come at any time, replays them. It believes the
view with which it begins; what comes after that must follow from it by the game's own rules. Of the game's state
nothing but the public view is kept here.

Knows no game: it is given one, as a value.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from channel.errors import ForcemoveError
from channel.flow.actions import Action, ActionCodec
from channel.flow.queue import ActionQueue
from channel.flow.steps import Step, transition
from channel.flow.transport import Transport
from games.views import Json, NewInfo, PlayResult, ViewedGame, filter_state, replay_action

__all__ = ["FEED", "FalseDisclosure", "Relay", "Shown", "Spectator", "Start", "following"]

_T = TypeVar("_T")


class Start(Action, frozen=True):
    """The public view as it is now. The client is the one that relays."""

    view: Any


class Shown(Action, frozen=True):
    """An action, as the game's views have it, and what it newly shows to the public."""

    action: Any
    new_info: NewInfo


FEED: ActionCodec[Start | Shown] = ActionCodec(Start, Shown)
"""The codec of a feed."""


@dataclass(eq=False)
class FalseDisclosure(ForcemoveError):
    """What `client_id` relays does not follow from what it has relayed before. Whatever the players have done, an
    honest client plays an action by the rules itself before it shows it."""

    client_id: str
    reason: str


# --------------------------------------------------------------------------------------------------------- at the table


class Relay:
    """What one client at a table shows to those who watch."""

    def __init__(self, client_id: str, game: ViewedGame, state: Json, viewer: str | None = None) -> None:
        """`client_id`: who relays. `state`: the game's state now. `viewer`: whose view is the public one; None where
        the game has one filter for all. Raises what `filter_state` raises."""
        self._client_id, self._game, self._viewer = client_id, game, viewer
        self._view = filter_state(game, state, viewer)
        self._waiting: set[asyncio.Queue[Shown | None]] = set()
        self._is_closed = False

    def show(self, action: Json, played: PlayResult) -> None:
        """Show an action that was played. Returns at once: players wait for no spectator."""
        self._view = filter_state(self._game, played.state, self._viewer)
        new_info = played.new_info if self._viewer is None else played.new_info[self._viewer]
        for waiting in self._waiting:
            waiting.put_nowait(Shown(self._client_id, action, new_info))

    def close(self) -> None:
        """The game is over: whoever watches is shown the rest, and then nothing more."""
        self._is_closed = True
        for waiting in self._waiting:
            waiting.put_nowait(None)

    async def feed(self, transport: Transport) -> None:
        """Post the view as it is now, and then every action, until `close` is called.

        Run it as a task for each feed: it is as fast as its transport, and a feed that fails is alone in that. Raises
        `MalformedAction` on what is too large for an action, and what the transport raises.
        """
        waiting: asyncio.Queue[Shown | None] = asyncio.Queue()
        message: Start | Shown | None = Start(self._client_id, self._view)
        self._waiting.add(waiting)
        if self._is_closed:
            waiting.put_nowait(None)
        try:
            while message is not None:
                await transport.post(FEED.encode(message))
                message = await waiting.get()
        finally:
            self._waiting.discard(waiting)


# ------------------------------------------------------------------------------------------------------ in the audience


@dataclass
class Spectator:
    """One spectator: the context of its steps. `follows`: the client that relays. `view`: what is known of the game;
    None before it has begun."""

    game: ViewedGame
    follows: str
    view: Json = None


def following(until: Callable[[Json], bool], *, within: float) -> Step[Spectator]:
    """Watch until `until` holds of the view. `within`: seconds that we wait for each message.

    Raises `FalseDisclosure`, `NothingHeard`, `UnexpectedAction`, `UnexpectedSender`, and `MalformedAction`. The view is
    then the last one that was right.
    """
    begin = transition(_begin, expects=Start, sender=_relaying, within=within)
    go_on = transition(_go_on, expects=Shown, sender=_relaying, within=within)

    async def step(queue: ActionQueue[Any], spectator: Spectator) -> None:
        await begin(queue, spectator)
        while not _judged(spectator.follows, lambda: until(spectator.view)):
            await go_on(queue, spectator)

    return step


def _relaying(spectator: Spectator) -> str:
    return spectator.follows


def _begin(start: Start, spectator: Spectator) -> None:
    spectator.view = start.view


def _go_on(shown: Shown, spectator: Spectator) -> None:
    def replayed() -> Json:
        return replay_action(spectator.game, spectator.view, shown.action, shown.new_info)

    spectator.view = _judged(shown.client_id, replayed)


def _judged(client_id: str, judge: Callable[[], _T]) -> _T:
    """What comes of a client's words. A game need not expect views and actions that it would never make, so whatever
    it raises on them is that client's fault."""
    try:
        return judge()
    except Exception as error:
        raise FalseDisclosure(client_id, f"{type(error).__name__}: {error}") from error
