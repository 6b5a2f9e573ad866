"""What the scenarios need of their surroundings: somebody who is told what happens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from forcemove.demo.results import ScenarioResult
    from forcemove.errors import ForcemoveError
    from forcemove.game import Game
    from forcemove.protocol.state import VariablePart

__all__ = ["ScenarioOutput"]


class ScenarioOutput(Protocol):
    """Is told what happens in the scenarios, in the order in which it happens."""

    def play_for(self, symbol: str) -> None:
        """From now on amounts are of the asset with this symbol; they were of ether."""

    def title(self, text: str) -> None:
        """The heading of what follows."""

    def say(self, text: str) -> None:
        """A remark on the scenario."""

    def status(self, text: str) -> None:
        """What is waited for just now."""

    def turn(self, game: Game, seat: int, state: VariablePart, seats: int) -> None:
        """A participant has signed a new state. `seats`: how many participants there are."""

    def signed(self, seat: int, what: str, turn_num: int) -> None:
        """A participant has signed a state of the opening, or a final one that is another's, as `what` says."""

    def transaction(self, who: str, what: str, gas: int) -> None:
        """A transaction was mined, and has used this much gas."""

    def refused(self, who: str, what: str, error: ForcemoveError) -> None:
        """An operation was tried and refused."""

    def result(self, result: ScenarioResult) -> None:
        """A scenario has ended."""
