"""What a player sees of a channel now: the board, the balances, whose turn it is, and what happens at zero. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from forcemove.game import Game, Names
from forcemove.history.overview import ChainDepth, Overview, Silence
from forcemove.history.tokens import Tokens
from forcemove.protocol.machine.channel import Channel, Phase
from forcemove.protocol.machine.results import Share
from forcemove.protocol.outcome import Outcome
from forcemove.text.amounts import amount_text
from forcemove.text.depths import deposit_text
from forcemove.text.explanations import headline

__all__ = ["NAMES", "TableContent", "balances", "clock_text", "content_of", "silence_text"]

NAMES = ("Host", "Guest")
"""The names of two players who have met in a lobby, by seat."""


@dataclass(frozen=True)
class TableContent:
    """`headline`: one line. `board`: lines. `money`: what each would be paid if the game ended now, empty for no money.
    `outlook`: what happens if one of the two walks away. `warning`: a line for the player."""

    headline: str
    board: Sequence[str] = ()
    money: str = ""
    outlook: str = ""
    warning: str = ""


def content_of(
    game: Game,
    channel: Channel,
    seen: Overview,
    now: int,
    *,
    silence_left: float,
    warning: str = "",
    names: Names = NAMES,
    own: bytes = b"",
    tokens: Tokens = (),
    depth: ChainDepth | None = None,
) -> TableContent:
    """What the screen shows of a channel.

    - `game`: describes the position.
    - `channel`: whose newest state is shown.
    - `seen`: the channel's overview at `now`.
    - `now`: the time of the chain, or our own of a friendly game, in seconds.
    - `silence_left`: seconds until a silent counterparty is challenged; infinite where no challenge is planned.
    - `warning`: a line for the player; empty for none.
    - `names`: of the players, by seat.
    - `own`: the viewer's secrets, as the game gave them; empty for a spectator.
    - `tokens`: what the channel's tokens say of themselves, as far as that is known.
    - `depth`: how far the chain goes, and how deep logs are believed; None where that is not known.
    """
    newest = channel.newest
    if depth is not None and not depth.answering:
        warning = f"Endpoints: {silence_text(depth, channel.status.finalizes_at, now)}. {warning}".strip()
    last_of_opening = 2 * channel.agreement.count - 1
    is_played = seen.phase in (Phase.PLAYING, Phase.CHALLENGED)
    if newest is None or newest.state.turn_num < last_of_opening or not is_played:
        deposit = deposit_text(seen.safety.deposit_block, depth)
        return TableContent(f"{seen.phase.value.capitalize()}. {deposit}".strip(), warning=warning)
    names = names_for(channel.index, names)
    return TableContent(
        f"Turn {seen.next_turn}. {game.describe(newest.state, names)}",
        game.board(newest.state, names, own).splitlines(),
        "" if channel.agreement.is_friendly else _money(seen.result.shares, names, tokens),
        _outlook(channel, seen, now, silence_left, names, tokens),
        warning,
    )


def silence_text(depth: ChainDepth, finalizes_at: int, now: int) -> str:
    """How long no endpoint has answered, and how long the clock still runs. `finalizes_at`, `now`: block times
    (seconds) of its end, 0 for none, and of the last answer."""
    clock = f"; the running clock leaves {clock_text(finalizes_at - now - depth.silent)}" if finalizes_at else ""
    return f"nobody has answered for {clock_text(depth.silent)}{clock}"


def names_for(seat: int, names: Names = NAMES) -> Names:
    """The names, with ours marked."""
    return tuple(f"{name} (you)" if each == seat else name for each, name in enumerate(names))


def balances(outcome: Outcome, names: Names = NAMES, tokens: Tokens = ()) -> str:
    """What each would be paid."""
    return ", ".join(
        f"{name} {amount_text(each.asset, each.amount, tokens)}" for name, each in zip(names, outcome, strict=False)
    )


def _money(shares: Sequence[Share], names: Names, tokens: Tokens) -> str:
    """What each would be paid, and the change since the beginning."""
    return ", ".join(f"{names[each.participant]} {_share(each, tokens)}" for each in shares)


def _share(share: Share, tokens: Tokens) -> str:
    """A player's balance, and its change since the beginning."""
    shown, change = amount_text(share.asset, share.payable, tokens), share.payable - share.deposited
    return f"{shown} ({'-' if change < 0 else '+'}{amount_text(share.asset, abs(change), tokens)})" if change else shown


def _outlook(channel: Channel, seen: Overview, now: int, silence_left: float, names: Names, tokens: Tokens) -> str:
    silence, other = seen.silence, _another(channel, seen, names)
    reason = channel.reason_to_wait(seen.phase) if seen.is_ours else None
    if reason is not None:
        return f"Your move waits. {headline(reason)}"
    if silence is None:
        return "Nothing is at stake: nobody loses anything by leaving."
    pays = _pays(silence, seen, names, tokens)
    if silence.finalizes_at is not None:
        who = "you have" if silence.participant == channel.index else f"{names[silence.participant]} has"
        left = clock_text(silence.finalizes_at - now)
        return f"A challenge is running: {who} {left} to answer. At zero {pays}."
    if seen.phase is Phase.CHALLENGED:
        left = clock_text(channel.status.finalizes_at - now)
        return f"A challenge with an old state is running: your answer to it is on its way, and has {left}."
    if silence_left == math.inf:
        return "Take your time: nobody is challenged for being slow." if seen.is_ours else f"{other} is to move."
    given = clock_text(silence.seconds)
    if seen.is_ours:
        return f"If you stay silent, {other} can challenge you; then you have {given} to answer, or {pays}."
    left = clock_text(silence_left)
    return f"If {other} stays silent for {left} more, it is challenged, and has {given} to answer, or {pays}."


def _pays(silence: Silence, seen: Overview, names: Names, tokens: Tokens) -> str:
    """What the channel pays whose mover is silent."""
    if silence.shares in (None, seen.result.shares):
        return "the channel pays what is said above"
    return f"the channel pays {_money(silence.shares or (), names, tokens)}"


def _another(channel: Channel, seen: Overview, names: Names) -> str:
    """The name of the mover, or, where we are to move, of a player that waits for us."""
    if seen.is_ours:
        return names[1 - channel.index] if len(names) == len(NAMES) else "another player"
    return names[seen.mover]


def clock_text(seconds: float) -> str:
    """Hours, minutes and seconds, such as 1:05:09, or 5:09; never below zero."""
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
