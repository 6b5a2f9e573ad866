"""What a player sees of a channel now: the board, the balances, whose turn it is, and what happens at zero. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forcemove.channel.cli.amounts import format_amount
from forcemove.channel.game import Game
from forcemove.channel.protocol.channel import Channel, Phase
from forcemove.channel.protocol.outcome import Outcome

__all__ = ["NAMES", "Scene", "balances", "clock_text", "scene_of"]

NAMES = ("Host", "Guest")
"""Of the players, by seat."""
_LAST_SETUP_TURN = 2 * len(NAMES) - 1


@dataclass(frozen=True)
class Scene:
    """`headline`: one line. `board`: lines. `money`: who is paid what if it ended now, empty where there is none.
    `outlook`: what happens if one of the two walks away. `warning`: what the player must know of besides."""

    headline: str
    board: Sequence[str] = ()
    money: str = ""
    outlook: str = ""
    warning: str = ""


def scene_of(
    game: Game,
    channel: Channel,
    phase: Phase,
    now: int,
    *,
    silence_left: float,
    warning: str = "",
) -> Scene:
    """`now`: the time of the chain, or our own of a friendly game, in seconds. `silence_left`: seconds until a silent
    counterparty is challenged."""
    newest = channel.newest
    if newest is None or newest.state.turn_num < _LAST_SETUP_TURN or phase not in (Phase.PLAYING, Phase.CHALLENGED):
        return Scene(f"{phase.value.capitalize()}.", warning=warning)
    names = names_for(channel.index)
    return Scene(
        f"Turn {channel.next_turn}. {game.describe(newest.state, names)}",
        game.board(newest.state, names).splitlines(),
        _money(channel, newest.state.outcome),
        _outlook(channel, phase, now, silence_left),
        warning,
    )


def names_for(seat: int) -> tuple[str, ...]:
    """The names, ours marked."""
    return tuple(f"{name} (you)" if each == seat else name for each, name in enumerate(NAMES))


def balances(outcome: Outcome, names: Sequence[str] = NAMES) -> str:
    """Who is paid what."""
    return ", ".join(f"{name} {format_amount(each.amount)}" for name, each in zip(names, outcome, strict=False))


def _money(channel: Channel, outcome: Outcome) -> str:
    if channel.agreement.is_friendly:
        return ""
    shares = zip(names_for(channel.index), outcome, channel.agreement.outcome, strict=True)
    return ", ".join(f"{name} {_share(now.amount, now.amount - then.amount)}" for name, now, then in shares)


def _share(amount: int, change: int) -> str:
    """What somebody has, and what that is more or less than at the beginning."""
    if not change:
        return format_amount(amount)
    return f"{format_amount(amount)} ({'-' if change < 0 else '+'}{format_amount(abs(change))})"


def _outlook(channel: Channel, phase: Phase, now: int, silence_left: float) -> str:
    other, is_ours = NAMES[1 - channel.index], channel.is_our_turn
    if channel.agreement.is_friendly:
        return "Nothing is at stake: nobody loses anything by leaving."
    if phase is Phase.CHALLENGED:
        left = clock_text(channel.status.finalizes_at - now)
        who = "you have" if is_ours else f"{other} has"
        return f"A challenge is running: {who} {left} to answer. At zero the channel pays what is said above."
    given = clock_text(channel.agreement.fixed_part.challenge_duration)
    if is_ours:
        return (
            f"If you stay silent, {other} can challenge you; then you have {given} to answer, or the channel pays what "
            "is said above."
        )
    return (
        f"If {other} stays silent for {clock_text(silence_left)} more, it is challenged, and has {given} to answer, or "
        "the channel pays what is said above."
    )


def clock_text(seconds: float) -> str:
    """Hours, minutes and seconds, such as 1:05:09, or 5:09; never below zero."""
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
