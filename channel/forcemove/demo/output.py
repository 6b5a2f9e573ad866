"""What a demonstration tells: signed turns with their boards, transactions with their gas, and who won what."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from forcemove.demo.names import NAMES
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.errors import MessageRefused
from forcemove.rounds import position_line
from forcemove.text.amounts import exact_amount, format_amount
from forcemove.text.explanations import describe

if TYPE_CHECKING:
    from forcemove.arena.balances import BalanceCheck
    from forcemove.demo.results import ScenarioResult
    from forcemove.errors import ForcemoveError
    from forcemove.game import Game, Names
    from forcemove.protocol.types import Outcome, VariablePart

_INDENT = " " * 12
_LONG_HEX = re.compile(r"\b(0x)?([0-9a-fA-F]{4})[0-9a-fA-F]{32,}([0-9a-fA-F]{4})\b")


def shortened(text: str) -> str:
    """The text with its addresses and hashes cut down to their ends, such as 0x1234\N{HORIZONTAL ELLIPSIS}abcd."""
    return _LONG_HEX.sub("\\1\\2\N{HORIZONTAL ELLIPSIS}\\3", text)


class DemoOutput:
    """Tells what happens in scenarios, line by line, in the order in which it happens. In short it leaves out figures
    that are as they must be, and the deposits and turns of every scenario but the first. `status`: shows what is waited
    for just now, in place of the last status."""

    def __init__(self, say: Callable[[str, str], None], status: Callable[[str], None], *, is_full: bool = True) -> None:
        """Tell nothing yet.

        - `say`: shows a line that stays, in a style, such as "bold"; an empty one is none.
        - `status`: see `DemoOutput`.
        - `is_full`: whether nothing is left out.
        """
        self.status = status
        self._symbol, self._say, self._is_full = "ether", say, is_full
        self._scenarios, self._states, self._is_opening = 0, 0, False
        self._last: VariablePart | None = None

    @property
    def _has_turns(self) -> bool:
        return self._is_full or self._scenarios <= 1

    def play_for(self, symbol: str) -> None:
        """From now on amounts are of the asset with this symbol."""
        self._symbol = symbol

    def title(self, text: str) -> None:
        """The heading of a scenario."""
        self._scenarios, self._states, self._is_opening = self._scenarios + 1, 0, True
        self._line("")
        self._line(text, "bold")

    def say(self, text: str) -> None:
        """A remark on the scenario."""
        self._line(text, "cyan")

    def turn(self, game: Game, seat: int, state: VariablePart, seats: int) -> None:
        """What a participant has signed: a state of the opening, its new state with what that would pay, or a final one
        of another's. `seats`: how many participants there are."""
        self._states += 1
        if seat != state.turn_num % seats:
            self._signed_too(seat, "final state, too", state.turn_num)
        elif state.turn_num < 2 * seats and not state.is_final:
            self._signed_too(seat, "prefund state" if state.turn_num < seats else "postfund state", state.turn_num)
        else:
            self._is_opening = False
            if self._has_turns:
                self._new_state(game, seat, state, NAMES[:seats])

    def _new_state(self, game: Game, seat: int, state: VariablePart, names: Names) -> None:
        ending = f"{names[seat]} signs a final state: pay this."
        what = ending if state.is_final else position_line(game, self._last, state, names)
        self._last = state
        self._line(f"turn {state.turn_num:>4}   {what}")
        self._line(f"{_INDENT}if it ended now: {self._outcome(state.outcome)}", "dim")
        if not state.is_final:
            for line in game.board(state, names).splitlines():
                self._line(_INDENT + line)

    def _signed_too(self, seat: int, what: str, turn_num: int) -> None:
        if self._has_turns:
            self._line(f"turn {turn_num:>4}   {NAMES[seat]} signs the {what}.")

    def transaction(self, who: str, what: str, gas: int) -> None:
        """A transaction that was mined."""
        if self._has_turns or not self._is_opening:
            self._line(f"chain       {who} {what} ({gas:,} gas)", "green")

    def refused(self, who: str, what: str, error: ForcemoveError) -> None:
        """An operation that was tried and refused."""
        reason = error.reason if isinstance(error, MessageRefused) else error
        self._line(f"refused     {who} {what}: {describe(reason)}", "yellow")

    def result(self, result: ScenarioResult) -> None:
        """The end of a scenario: who won what, the cost of the gas and the rest, each expected balance with the one
        that was found, and the channel's id."""
        players = result.players
        won = "; ".join(map(self._won, players))
        if not self._is_full and result.is_right:
            self._line(f"result      {won}. {self._states} states were signed off chain.", "bold")
            return
        self._line(f"result      {won}.", "bold")
        gas = {each.name: f"{result.gas_used(each):,} gas, {format_amount(each.gas_cost)}" for each in players}
        self._each("gas", gas)
        self._each("net", {each.name: self._signed(each.net) for each in players})
        for player in players:
            self._balance(player)
        if not result.as_expected:
            self._line("WRONG       The scenario did not go as it must.", "red")
        self._say(f"channel     {hex_text(result.agreement.channel_id)}", "")

    def _won(self, player: BalanceCheck) -> str:
        won = player.received - player.deposit
        if won == 0:
            return f"{player.name} is even"
        return f"{player.name} {'wins' if won > 0 else 'loses'} {format_amount(abs(won), self._symbol)}"

    def _signed(self, amount: int) -> str:
        sign = "+" if amount > 0 else "-" if amount < 0 else ""
        return f"{sign}{format_amount(abs(amount), self._symbol)}"

    def _balance(self, player: BalanceCheck) -> None:
        show = format_amount if player.is_right else exact_amount
        found, expected = (show(each, self._symbol) for each in (player.found, player.expected))
        name = f"{player.name}: "
        self._line(f"balance     {name}{expected} expected")
        mark = "as expected" if player.is_right else "WRONG"
        self._line(f"{_INDENT}{' ' * len(name)}{found} found, {mark}", "green" if player.is_right else "red")

    def _each(self, what: str, lines: dict[str, str]) -> None:
        """A line for each player, the first one with a heading."""
        width = max(map(len, lines)) + 2
        for number, (name, text) in enumerate(lines.items()):
            heading = "" if number else what
            self._line(f"{heading:<{len(_INDENT)}}{name + ':':<{width}}{text}")

    def _outcome(self, outcome: Outcome) -> str:
        shares = zip(NAMES, outcome, strict=False)
        return ", ".join(f"{name} {format_amount(entry.amount, self._symbol)}" for name, entry in shares)

    def _line(self, text: str, style: str = "") -> None:
        self._say(shortened(text), style)
