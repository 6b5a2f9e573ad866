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

from forcemove.browser.render import channel_page, channel_panels
from forcemove.browser.view import ChannelView
from forcemove.errors import ForcemoveError
from forcemove.game import Choice, Game
from forcemove.history.entries import Entry, StateAccepted, StateSigned
from forcemove.history.history import MAX_ENTRIES, ChannelHistory
from forcemove.history.overview import overview
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.state import SignedState
from scripts.commit_ratio import timed

__all__ = ["page_kilobytes", "panels_ms"]

_WARMING_UP = 5
"""Moves of the game that are not measured: a page that is open has its caches."""
_NOW = 1_800_000_000
_LOADED = re.compile('(?:href|src)="/s/([^"]+)"')


def page_kilobytes(channel: Channel, game: Game) -> float:
    """A page's HTML, style sheet, script and icon, in units of 1,000 bytes."""
    page, static = channel_page(_view(channel, game)), files("forcemove.browser") / "static"
    loaded = sum(len((static / name).read_bytes()) for name in set(_LOADED.findall(page)))
    return (len(page.encode()) + loaded) / 1_000


def panels_ms(channels: Sequence[Channel], game: Game) -> float:
    """Milliseconds for an overview and all panels after a move: the median over a game. `channels`: as they are after
    each of its moves, oldest first."""
    views = _after_each_move(channels, game)

    def both(view: ChannelView) -> None:
        overview(view.channel, view.history, _NOW)
        channel_panels(view)

    taken = [timed(partial(both, view)) for view in views]
    return statistics.median(taken[_WARMING_UP:]) * 1_000


def _after_each_move(channels: Sequence[Channel], game: Game) -> list[ChannelView]:
    """The page after each move. Each adds an entry to a full history, and the oldest one goes."""
    before = _view(channels[0], game).history.entries
    found = list[ChannelView]()
    for channel in channels:
        newest = channel.accepted[-1].signed
        before = (*before[1:], _entry(channel, newest))
        found.append(_view(channel, game, before))
    return found


def _view(channel: Channel, game: Game, entries: tuple[Entry, ...] = ()) -> ChannelView:
    if not entries:
        entries = (tuple(_entry(channel, each.signed) for each in channel.accepted) * MAX_ENTRIES)[:MAX_ENTRIES]
    history = ChannelHistory(entries)
    seen = overview(channel, history, _NOW, choices=_choices(channel, game))
    path = f"/c/0x{channel.agreement.channel_id.hex()}"
    return ChannelView(game, channel, history, seen, _NOW, _NOW, ("Alice", "Bob"), b"", path, None, "token" * 8)


def _choices(channel: Channel, game: Game) -> tuple[Choice, ...]:
    """What can be chosen; nothing where that takes a secret, which a bot has kept to itself."""
    with contextlib.suppress(ForcemoveError):
        return tuple(game.choices(channel.newest.state, bytes, b"")) if channel.newest else ()
    return ()


def _entry(channel: Channel, signed: SignedState) -> Entry:
    if channel.index in signed.signatures:
        return StateSigned(_NOW, signed)
    return StateAccepted(_NOW, signed, False)
