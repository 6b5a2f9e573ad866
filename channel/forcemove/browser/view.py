"""What a channel's page is made of: values, which a table or a playground fills in and `render` reads. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from forcemove.game import Game, Names
from forcemove.history.history import ChannelHistory
from forcemove.history.overview import ChainDepth, Overview
from forcemove.history.tokens import Tokens
from forcemove.playground.controls import ControlGroup
from forcemove.protocol.machine.channel import Channel

__all__ = ["ChannelView"]


@dataclass(frozen=True, slots=True)
class ChannelView:
    """A channel as one viewer's page shows it.

    - `game`: the channel's.
    - `channel`: as it is now.
    - `history`: of the channel.
    - `seen`: its overview at `now`.
    - `now`: the chain's time, seconds.
    - `wall`: our own Unix seconds that go with `now`, for times of day.
    - `names`: of the participants, by seat.
    - `own`: the player's secrets, for the own side of the picture; empty for a spectator.
    - `path`: of the page, such as `/c/0x...`.
    - `at`: the index of the history's entry that the inspector shows, None for the newest.
    - `form_token`: what a form must bring with it.
    - `groups`: the playground's buttons.
    - `guide`: what a guided tour says now; empty without one.
    - `notice`: why the last action was refused; empty where it was not.
    - `tokens`: what the channel's tokens say of themselves, as far as that is known.
    - `depth`: how far the chain goes, and how deep logs are believed; None where that is not known.
    - `chat`: the newest lines of the table's chat; None where nothing can be said.
    """

    game: Game
    channel: Channel
    history: ChannelHistory
    seen: Overview
    now: int
    wall: int
    names: Names
    own: bytes = field(repr=False)
    path: str
    at: int | None
    form_token: str = field(repr=False)
    groups: tuple[ControlGroup, ...] = ()
    guide: str = ""
    notice: str = ""
    tokens: Tokens = ()
    depth: ChainDepth | None = None
    chat: Sequence[str] | None = None
