"""A watched table as its page shows it: values of what was checked. Names are seats: a link has none that anybody has
signed. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from forcemove.browser.drawing.board import Drawing, picture_of
from forcemove.chain.addresses import short_address
from forcemove.game import Game, Names
from forcemove.protocol.types import VariablePart
from forcemove.rounds import GAME_OVER, position_line, score_line, state_words
from forcemove.sessions.watching.spectator import ChannelSpectator, SeenState, played
from forcemove.sessions.watching.watch_link import WatchLink
from forcemove.text.amounts import amount_text
from forcemove.text.explanations import headline
from forcemove.text.harmless import harmless
from forcemove.text.names import seat_title
from forcemove.text.situation.moment import count_text

if TYPE_CHECKING:
    from forcemove.sessions.watching.watched_tables import WatchedTable

_LINES = 12


@dataclass(frozen=True, slots=True)
class WatchView:
    """What the page of a watched table shows.

    - `path`: of the page.
    - `title`: of the game; empty where the game is not installed.
    - `players`: each with what would be paid if the game ended now.
    - `where`: relay, chain and channel.
    - `picture`: of the position, None where there is none; `lines`: the board as text then.
    - `headline`: what has happened.
    - `score`: of the rounds that were seen to end, empty before the first.
    - `checked`: what was checked.
    - `faults`: what was not believed.
    - `history`: the newest states, the newest first.
    - `problem`: why the log cannot be read now.
    - `is_watched`: whether the table is watched.
    - `form_token`: what a form must bring with it.
    """

    path: str
    title: str
    players: tuple[tuple[str, str], ...]
    where: str
    picture: Drawing | None
    lines: str
    headline: str
    score: str
    checked: str
    faults: tuple[str, ...]
    history: tuple[str, ...]
    problem: str
    is_watched: bool
    form_token: str = field(repr=False)


def watch_view(link: WatchLink, game: Game | None, watched: WatchedTable | None, form_token: str) -> WatchView:
    """The page of a link.

    - `link`: names the table.
    - `game`: the link's, None where it is not installed.
    - `watched`: the table, None where it is not watched.
    - `form_token`: for the page's form.
    """
    spectator = ChannelSpectator(link, game) if watched is None and game else watched.spectator if watched else None
    names = _names(link)
    states = [] if spectator is None else list(spectator.states)
    positions = played(states, len(names))
    position = positions[-1] if positions else None
    before = positions[-2].state if len(positions) > 1 else None
    chain = f"chain {link.domain.chain_id}" if link.domain.chain_id else "no chain"
    return WatchView(
        f"/watch/{link}",
        "" if game is None else harmless(game.title),
        _players(link, names, states[-1] if states else None),
        harmless(f"{link.relay}, {chain}, channel 0x{link.channel_id.hex()}"),
        None if game is None or position is None else picture_of(game, position.state, None, b"", names, before),
        "" if game is None or position is None else _described(partial(game.board, position.state, names)),
        _headline(game, states, position, names),
        "" if spectator is None else score_line(spectator.rounds.results, names, None),
        "" if spectator is None else _checked(spectator),
        () if spectator is None else tuple(harmless(headline(each)) for each in spectator.faults),
        tuple(_line(game, states[:place], states[place], names) for place in reversed(range(len(states))[-_LINES:])),
        harmless(watched.problem) if watched else "",
        watched is not None,
        form_token,
    )


def _names(link: WatchLink) -> Names:
    count = len(link.fixed_part.participants)
    return tuple(seat_title(seat, count) for seat in range(count))


def _players(link: WatchLink, names: Names, newest: SeenState | None) -> tuple[tuple[str, str], ...]:
    paid = ["" for _ in names]
    if newest is not None:
        for place, each in enumerate(newest.state.outcome):
            seat = place % len(names)
            paid[seat] = " and ".join(filter(None, (paid[seat], amount_text(each.asset, each.amount))))
    participants = link.fixed_part.participants
    return tuple(
        (f"{name} {short_address(address)}", text)
        for name, address, text in zip(names, participants, paid, strict=True)
    )


def _headline(game: Game | None, states: list[SeenState], position: SeenState | None, names: Names) -> str:
    if game is None:
        return "This game is not installed here: its rules cannot be checked."
    if not states:
        return "Nothing was seen yet."
    newest = states[-1].state
    if newest.is_final:
        return f"Turn {newest.turn_num}. {GAME_OVER}"
    if position is None:
        return f"Turn {newest.turn_num}. The players agree on the terms and pay in."
    before = _before(states, position.state)
    return _described(partial(position_line, game, before, position.state, names))


def _described(ask: Callable[[], str]) -> str:
    """What a game says of a position. Players who agree on one that is none see no game; a spectator's page is
    there."""
    try:
        return harmless(ask(), keep="\n")
    except Exception:
        return "The position cannot be read."


def _checked(spectator: ChannelSpectator) -> str:
    since = "since the beginning" if spectator.is_whole else "that the relay still has"
    text = f"Every signature and every rule of the states {since} was checked here."
    if spectator.refused:
        text += f" {count_text(spectator.refused, 'entry').replace('entrys', 'entries')} of the log was not believed."
    return text


def _line(game: Game | None, earlier: Sequence[SeenState], seen: SeenState, names: Names) -> str:
    signers, state = " and ".join(names[index] for index in sorted(seen.signers)), seen.state
    words = _described(partial(state_words, game, _before(earlier, state), state, len(names)))
    return f"turn {state.turn_num}, signed by {signers}: {words}"


def _before(states: Sequence[SeenState], state: VariablePart) -> VariablePart | None:
    return next((each.state for each in reversed(states) if each.state.turn_num == state.turn_num - 1), None)
