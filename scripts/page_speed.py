"""The time that overview and panels of a page take, and the size of a page with all that it loads.

The channel has a full history, and a timeline with all the signs that it can have.
"""

from __future__ import annotations

import re
import statistics
from importlib.resources import files

from forcemove.browser.render import channel_page, channel_panels
from forcemove.browser.view import ChannelView
from forcemove.game import Game
from forcemove.history.entries import Entry, StateAccepted, StateSigned
from forcemove.history.history import MAX_ENTRIES, ChannelHistory
from forcemove.history.overview import overview
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.state import SignedState
from scripts.commit_ratio import timed

__all__ = ["page_kilobytes", "panels_ms"]

_ROUNDS = 25
_NOW = 1_800_000_000
_LOADED = re.compile('(?:href|src)="/s/([^"]+)"')


def page_kilobytes(channel: Channel, game: Game) -> float:
    """A page's HTML, style sheet, script and icon, in units of 1,000 bytes."""
    page, static = channel_page(_view(channel, game)), files("forcemove.browser") / "static"
    loaded = sum(len((static / name).read_bytes()) for name in set(_LOADED.findall(page)))
    return (len(page.encode()) + loaded) / 1_000


def panels_ms(channel: Channel, game: Game, rounds: int = _ROUNDS) -> float:
    """Milliseconds for an overview and all panels: the median of the rounds."""
    view = _view(channel, game)

    def both() -> None:
        overview(channel, view.history, _NOW)
        channel_panels(view)

    return statistics.median(timed(both) for _ in range(rounds)) * 1_000


def _view(channel: Channel, game: Game) -> ChannelView:
    entries = tuple(_entry(channel, each.signed) for each in channel.accepted) * MAX_ENTRIES
    history = ChannelHistory(entries[:MAX_ENTRIES])
    choices = game.choices(channel.newest.state, bytes, b"") if channel.newest else ()
    seen = overview(channel, history, _NOW, choices=choices)
    path = f"/c/0x{channel.agreement.channel_id.hex()}"
    return ChannelView(game, channel, history, seen, _NOW, _NOW, ("Alice", "Bob"), b"", path, None, "token" * 8)


def _entry(channel: Channel, signed: SignedState) -> Entry:
    if channel.index in signed.signatures:
        return StateSigned(_NOW, signed)
    return StateAccepted(_NOW, signed, False)
