"""What a channel's page is made of: values, which a table or a playground fills in and `render` reads. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from forcemove.playground.controls import ControlGroup
from forcemove.text.situation.moment import Moment


@dataclass(frozen=True, slots=True)
class ChannelView(Moment):
    """A channel's moment as one viewer's page shows it.

    - `own`: the player's secrets, for the own side of the picture; empty for a spectator.
    - `path`: of the page, such as `/c/0x...`.
    - `at`: the index of the history's entry that the inspector shows, None for the newest.
    - `form_token`: what a form must bring with it.
    - `groups`: the playground's buttons.
    - `guide`: what a guided tour says now; empty without one.
    - `notice`: why the last action was refused; empty where it was not.
    - `chosen_turn`: the turn of the move that the player has chosen last; 0 where none was chosen.
    - `copy_path`: of the page on which a copy of the game is saved; empty where none is offered.
    - `chat`: the newest lines of the table's chat; None where nothing can be said.
    - `warning`: what the player has to know at once; empty for nothing.
    """

    own: bytes = field(repr=False)
    path: str
    at: int | None
    form_token: str = field(repr=False)
    groups: tuple[ControlGroup, ...] = ()
    guide: str = ""
    notice: str = ""
    chosen_turn: int = 0
    copy_path: str = ""
    chat: Sequence[str] | None = None
    warning: str = ""
