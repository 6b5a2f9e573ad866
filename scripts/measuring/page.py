"""The time that overview and panels of a page take, and the size of a page with all that it loads.

The channel has a full history, and a timeline with all the signs that it can have.
"""

from __future__ import annotations

import contextlib
import re
import statistics
from collections.abc import Sequence
from functools import partial
from importlib.resources import files

from forcemove import Channel, Choice, ForcemoveError, SignedState, overview
from forcemove.browser.render import channel_page, channel_panels
from forcemove.browser.view import ChannelView
from forcemove.history.entries import Entry, StateAccepted, StateSigned
from forcemove.history.history import MAX_ENTRIES, ChannelHistory
from forcemove_games.rock_paper_scissors import GAME
from scripts.measuring.cases import NOW, LongGame, Measured, Row, Table, case, timed

_WARMING_UP = 5
"""Moves of the game that are not measured: a page that is open has its caches."""
_LOADED = re.compile('(?:href|src)="/s/([^"]+)"')


@case(
    Row("panels_ms", "ms", "an overview and all panels of a page after a move, with 10,000 entries; the median", 2),
    Row("page_kilobytes", "kB", "a page with a full timeline, and all that it loads", 45),
)
def page(turns: int = 20) -> Measured:
    """The page of a channel over a game, and its size: HTML, style sheet, script and icon, in units of 1,000 bytes."""
    html, static = channel_page(_view(Table().channels[0])), files("forcemove.browser") / "static"
    loaded = sum(len((static / name).read_bytes()) for name in set(_LOADED.findall(html)))
    seconds = [timed(partial(_show, view)) for view in _after_each_move(LongGame(turns).channels())]
    panels = statistics.median(seconds[_WARMING_UP:])
    return {"panels_ms": panels * 1e3, "page_kilobytes": (len(html.encode()) + loaded) / 1_000}


def _show(view: ChannelView) -> None:
    overview(view.channel, view.history, NOW)
    channel_panels(view)


def _after_each_move(channels: Sequence[Channel]) -> list[ChannelView]:
    """The page after each move. Each adds an entry to a full history, and the oldest one goes."""
    before = _view(channels[0]).history.entries
    found = list[ChannelView]()
    for channel in channels:
        newest = channel.accepted[-1].signed
        before = (*before[1:], _entry(channel, newest))
        found.append(_view(channel, before))
    return found


def _view(channel: Channel, entries: tuple[Entry, ...] = ()) -> ChannelView:
    if not entries:
        entries = (tuple(_entry(channel, each.signed) for each in channel.accepted) * MAX_ENTRIES)[:MAX_ENTRIES]
    history = ChannelHistory(entries)
    seen = overview(channel, history, NOW, choices=_choices(channel))
    path = f"/c/0x{channel.agreement.channel_id.hex()}"
    return ChannelView(GAME, channel, history, seen, NOW, NOW, ("Alice", "Bob"), b"", path, None, "token" * 8)


def _choices(channel: Channel) -> tuple[Choice, ...]:
    """What can be chosen; nothing where that takes a secret, which a bot has kept to itself."""
    with contextlib.suppress(ForcemoveError):
        return tuple(GAME.choices(channel.newest.state, bytes, b"")) if channel.newest else ()
    return ()


def _entry(channel: Channel, signed: SignedState) -> Entry:
    if channel.index in signed.signatures:
        return StateSigned(NOW, signed)
    return StateAccepted(NOW, signed, False)
