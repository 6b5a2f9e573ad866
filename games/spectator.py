"""Spectators: clients who follow a game on a log of their own and see what its public view shows, nothing more.

Whoever has the state of a game (see `games.views`) posts the public view once, and then each action with what it has
newly shown; a spectator replays them. Whoever comes later begins with the first view on the log, and gets as far as
everybody else. The log is signed by its host like any other; here the host's id is all that a spectator checks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from channel.flow.actions import Action, ActionCodec
from channel.flow.queue import ActionQueue
from channel.flow.steps import Step, choice, transition
from games.views import Json, NewInfo, PlayResult, ViewedGame, filter_state, play_action, replay_action

__all__ = ["SPECTACLE", "Host", "Shown", "Spectator", "Viewed", "watching"]


class Viewed(Action, frozen=True):
    """The public view at the beginning."""

    view: Any


class Shown(Action, frozen=True):
    """An action that was played, and what it has newly shown to the public."""

    action: Any
    new_info: Any


SPECTACLE: ActionCodec[Viewed | Shown] = ActionCodec(Viewed, Shown)
"""The codec of a spectators' log."""


class Host:
    """Plays a game's actions on its state and lets the spectators follow."""

    def __init__(self, client_id: str, game: ViewedGame, state: Json, viewer: str, queue: ActionQueue[Any]) -> None:
        """`viewer`: the one of the game's viewers who is the public."""
        self.state = state
        self._client_id, self._game, self._viewer, self._queue = client_id, game, viewer, queue

    async def begin(self) -> None:
        """Show the public view."""
        await self._queue.enqueue(Viewed(self._client_id, filter_state(self._game, self.state, self._viewer)))

    async def play(self, action: Json) -> PlayResult:
        """Play a validated action and show what the public may see of it; the other viewers' news are in the result.

        Raises what `play_action` raises; nothing has been shown then, and the state is as it was.
        """
        result = play_action(self._game, self.state, action)
        await self._queue.enqueue(Shown(self._client_id, action, result.new_info[self._viewer]))
        self.state = result.state
        return result


@dataclass
class Spectator:
    """The context of who watches. `host`: whose word counts. `view`: what is to be seen, None before the beginning."""

    game: ViewedGame
    host: str
    view: Json = None


def watching(*, within: float | None = None) -> Step[Spectator]:
    """The next thing that the host shows. Raises what `replay_action` raises of disclosures, and as `choice` does."""
    branches: dict[type[Any], Step[Spectator]] = {Viewed: transition(_begin), Shown: transition(_follow)}
    return choice(branches, sender=lambda spectator: spectator.host, within=within)


def _begin(action: Viewed, spectator: Spectator) -> None:
    spectator.view = action.view


def _follow(action: Shown, spectator: Spectator) -> None:
    new_info: NewInfo = action.new_info
    spectator.view = replay_action(spectator.game, spectator.view, action.action, new_info)
