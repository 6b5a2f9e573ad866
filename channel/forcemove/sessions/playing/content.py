"""What a player sees of a channel now: the board, the balances, whose turn it is, and what silence leads to. Pure but
for the reader's own time zone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forcemove.game import Names
from forcemove.history.tokens import Tokens
from forcemove.protocol.types import Outcome
from forcemove.text.amounts import amount_text
from forcemove.text.situation.balances import settled_shares
from forcemove.text.situation.clock import clock_of
from forcemove.text.situation.headline import headline_of, names_for, played_state
from forcemove.text.situation.moment import Moment, capitalised, failure_text, shown_names
from forcemove.text.situation.presence import presence_text
from forcemove.text.situation.safety import silence_text

NAMES = ("Host", "Guest")
"""The names of two players who have met in a lobby, by seat."""


@dataclass(frozen=True)
class TableContent:
    """`headline`: one line. `board`: lines. `money`: what each has by the rounds that are over, empty for no money.
    `outlook`: what happens if one of the two walks away. `warning`: a line for the player."""

    headline: str
    board: Sequence[str] = ()
    money: str = ""
    outlook: str = ""
    warning: str = ""


def content_of(moment: Moment, own: bytes = b"", warning: str = "") -> TableContent:
    """What the screen shows of a channel.

    - `moment`: of the channel.
    - `own`: the viewer's secrets, as the game gave them; empty for a spectator.
    - `warning`: a line for the player; empty for none.
    """
    depth, state = moment.depth, played_state(moment)
    if depth is not None and not depth.answering:
        warning = " ".join(filter(None, (f"Endpoints: {silence_text(moment, depth)}.", failure_text(depth), warning)))
    if state is None:
        return TableContent(headline_of(moment), outlook=_presence(moment), warning=warning)
    names = names_for(moment.channel.index, moment.names)
    board, money = moment.game.board(state, names, own).splitlines(), _money(moment, names)
    return TableContent(headline_of(moment), board, money, f"{_outlook(moment)} {_presence(moment)}".strip(), warning)


def balances(outcome: Outcome, names: Names = NAMES, tokens: Tokens = ()) -> str:
    """What each would be paid."""
    return ", ".join(
        f"{name} {amount_text(each.asset, each.amount, tokens)}" for name, each in zip(names, outcome, strict=False)
    )


def _money(moment: Moment, names: Names) -> str:
    """What each would be paid, and the change since the beginning; empty where nothing is at stake."""
    if moment.channel.agreement.is_friendly:
        return ""
    parts, (shares, in_play) = [], settled_shares(moment)
    for each in shares:
        change, shown = each.payable - each.deposited, amount_text(each.asset, each.payable, moment.tokens)
        sign = "-" if change < 0 else "+"
        changed = f" ({sign}{amount_text(each.asset, abs(change), moment.tokens)})" if change else ""
        parts.append(f"{names[each.participant]} {shown}{changed}")
    return f"{', '.join(parts)}; {in_play}" if in_play else ", ".join(parts)


def _outlook(moment: Moment) -> str:
    """What the panel of the clock says on a page, in a line."""
    clock = clock_of(moment)
    if clock is None:
        return ""
    begins = (f"{clock.title}: {clock.left} left.",) if clock.until is not None else ()
    return " ".join((*begins, *clock.sentences))


def _presence(moment: Moment) -> str:
    """When each of the others was heard from."""
    by_seat = enumerate(zip(shown_names(moment.names), moment.silences, strict=False))
    others = [each for seat, each in by_seat if seat != moment.channel.index]
    return " ".join(f"{capitalised(presence_text(each, name))}." for name, each in others if each is not None)
