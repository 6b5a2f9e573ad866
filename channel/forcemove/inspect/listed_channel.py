"""A channel as lists show it. Knows no journal and no chain: what draws a list imports neither."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.game import Game
from forcemove.history.summary import ChannelSummary
from forcemove.protocol.machine.channel import Phase
from forcemove.store.records import Ownership


@dataclass(frozen=True, slots=True)
class ListedChannel:
    """A channel as a list shows it. `game`: the channel's, None where it is not installed; `score`: of its rounds,
    empty where they were not counted."""

    id: bytes
    ownership: Ownership
    summary: ChannelSummary
    game: Game | None
    score: str = ""

    @property
    def title(self) -> str:
        """The game's name for people; its contract's name where the game is not installed."""
        return self.game.title if self.game else self.summary.app

    @property
    def urgency(self) -> tuple[int, int, int]:
        """The order of lists: deadlines first, the nearest before the others; then money to come; then games that are
        played; what is over last, the newest before the others."""
        summary, newest_first = self.summary, -self.summary.changed_at
        if summary.phase is Phase.CHALLENGED:
            return 0, summary.finalizes_at, newest_first
        if summary.phase is Phase.FINALIZED and summary.held:
            return 1, 0, newest_first
        is_over = summary.phase is Phase.CLOSED or self.ownership is Ownership.PUT_AWAY
        return (3 if is_over else 2), 0, newest_first
