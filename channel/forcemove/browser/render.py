"""Pages as HTML: each panel of a channel's page by itself, and whole pages. Pure: equal values make equal pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from forcemove.browser.drawing.board import board_of, picture_of
from forcemove.browser.drawing.happenings import Window, window_of
from forcemove.browser.drawing.inspector import inspected, shown_place
from forcemove.browser.drawing.listing import listed_rows
from forcemove.browser.drawing.money import bar_of
from forcemove.browser.drawing.rounds import round_of, rounds_of
from forcemove.browser.drawing.timeline import timeline_of
from forcemove.browser.drawing.timeline_svg import line_markup, timeline_markup
from forcemove.browser.templating import PLAIN_NAV, Nav, fill_in, fill_in_once
from forcemove.browser.view import ChannelView
from forcemove.history.overview import MOVE
from forcemove.inspect.errors import RecordIncomplete
from forcemove.inspect.game_record import played_states
from forcemove.inspect.listed_channel import ListedChannel
from forcemove.text.harmless import harmless
from forcemove.text.played_games import positions_in
from forcemove.text.situation.clock import ClockPanel, clock_of
from forcemove.text.situation.end import end_of
from forcemove.text.situation.moment import shown_names
from forcemove.text.situation.safety import safety_of
from forcemove.text.situation.turn import turn_text
from forcemove.text.situation.ways_out import ways_out

PANELS = (
    "title",
    "say",
    "guide",
    "notice",
    "round",
    "board",
    "end",
    "clock",
    "safety",
    "ways",
    "playground",
    "happened",
)
"""The ids of a channel page's panels; each is always there, and hidden where it has nothing to say. A table's page has
`chat` and `chatting`, too."""
_LINES = 14
"""Lines of the list of what has happened."""


class Form(NamedTuple):
    """What each form of a page has: the page's `path`, the `token` that it must bring with it, and the `turn` that it
    is meant for."""

    path: str
    token: str
    turn: int


def channel_panels(view: ChannelView) -> dict[str, str]:
    """The HTML of each panel by its id: the whole element that has the id."""
    view = replace(view, rounds=rounds_of(view))
    board, window = board_of(view), window_of(view)
    clock = clock_of(view)
    notice = harmless(f"{view.warning} {view.notice}".strip())
    said = (board.headline, f"{notice} {_alarm(clock)}".strip(), _newest_fault(window))
    form = Form(view.path, view.form_token, view.seen.next_turn)
    return {
        "title": fill_in_once("title.html", title=_turn(view)),
        "say": fill_in_once("say.html", said=said),
        "guide": _note("guide", "What to look at", harmless(view.guide, "\n"), "guide"),
        "notice": _note("notice", "Why that was not done", notice, "alarm"),
        "round": fill_in_once("round.html", round=round_of(view), copy_path=view.copy_path),
        "board": fill_in_once("board.html", form=form, board=board, bar=bar_of(view)),
        "end": fill_in_once("end.html", end=end_of(view)),
        "clock": fill_in_once("clock.html", clock=clock),
        "safety": fill_in_once("safety.html", words=safety_of(view)),
        "ways": fill_in_once("ways.html", form=form, ways=ways_out(view)),
        "playground": fill_in("playground.html", form=form, groups=view.groups),
        "happened": _happened(view, window),
        **_chat(view, form),
    }


def channel_page(view: ChannelView, nav: Nav = PLAIN_NAV) -> str:
    """The whole page of a channel."""
    events = f"{view.path}/events" + ("" if view.at is None else f"?at={view.at}")
    rules = tuple(map(harmless, view.game.rules_text))
    panels = channel_panels(view)
    return fill_in("channel.html", nav=nav, title=_turn(view), events=events, panels=panels, rules=rules)


def channels_page(rows: Iterable[ListedChannel], now: int, nav: Nav = PLAIN_NAV) -> str:
    """The list of channels: deadlines first, then money to come. `now`: the chain's time, seconds."""
    return fill_in("channels.html", nav=nav, title="Games", rows=listed_rows(rows, now), now=now)


def replay_page(view: ChannelView, at: int | None, nav: Nav = PLAIN_NAV) -> str:
    """A game's position after `at` moves, as anybody may see it; the last one unless given. Raises `RecordIncomplete`
    where a turn is missing, or no move can be made yet."""
    names, game, seat = shown_names(view.names), view.game, view.channel.index
    positions = positions_in(game, played_states(view.channel, view.history, game), names, seat)
    if not positions:
        raise RecordIncomplete(2 * len(names) - 1)
    last = len(positions) - 1
    place = last if at is None else min(at, last)
    shown = positions[place]
    drawing = picture_of(game, shown.state, seat, b"", names, shown.before)
    return fill_in(
        "replay.html",
        nav=nav,
        title=harmless(game.title),
        path=view.path.replace("/c/", "/games/"),
        channel=view.path,
        place=place,
        last=last,
        d=drawing,
        lines="" if drawing else harmless(game.board(shown.state, names), "\n"),
        shown=shown,
    )


def message_page(title: str, text: str, nav: Nav = PLAIN_NAV, events: str = "") -> str:
    """A page that says one thing: that something is not there, or was refused. `events`: the path of its stream."""
    return fill_in("message.html", nav=nav, title=harmless(title), text=harmless(text), events=events)


# -------------------------------------------------------------------------------------------------------------- panels


def nav_panel(nav: Nav) -> dict[str, str]:
    """What every page leads to, as a panel."""
    return {"nav": fill_in_once("nav.html", nav=nav)}


def _note(id_: str, label: str, text: str, tone: str) -> str:
    return fill_in_once("note.html", id=id_, label=label, text=text, tone=tone)


def _chat(view: ChannelView, form: Form) -> dict[str, str]:
    """The lines, and by itself the form, so that a new line takes nothing away that somebody types."""
    if view.chat is None:
        return {}
    lines = fill_in_once("chat.html", lines=tuple(view.chat))
    return {"chat": lines, "chatting": fill_in_once("chatting.html", form=form)}


def _turn(view: ChannelView) -> str:
    is_asked = any(each.kind == MOVE for each in view.seen.options) and not view.channel.leaving
    return turn_text(view.game, view.channel, view.seen.phase, view.names, is_asked=is_asked)


def _alarm(clock: ClockPanel | None) -> str:
    return "" if clock is None or not clock.is_on_chain else f"{clock.title} until {clock.time}."


def _newest_fault(window: Window) -> str:
    """The fault that was found last, in the part of the history that is shown."""
    return next((each.text for each in reversed(window.happenings) if each.is_fault), "")


def _happened(view: ChannelView, window: Window) -> str:
    place = shown_place(view)
    found = None if place is None else inspected(view, place, _title(view, window, place))
    timeline = timeline_of(view, window.happenings, place)
    return fill_in(
        "happened.html",
        path=view.path,
        width=timeline.width,
        height=timeline.height,
        markup=timeline_markup(timeline),
        lines=_lines(window, place),
        older=window.older,
        newer=window.newer,
        found=found,
        is_chosen=view.at is not None,
    )


def _title(view: ChannelView, window: Window, place: int) -> str:
    """The line of the entry that is inspected; its kind where the list leaves the entry out."""
    text = next((each.text for each in window.happenings if each.place == place), "")
    return text or type(view.history.entries[place]).__name__


def _lines(window: Window, place: int | None) -> str:
    """The newest lines, or those around the entry that is inspected, newest first."""
    happenings = window.happenings
    index = next((index for index, each in enumerate(happenings) if each.place == place), len(happenings))
    end = len(happenings) if len(happenings) - index <= _LINES else index + _LINES // 2
    shown = reversed(happenings[max(0, end - _LINES) : end])
    return "".join([line_markup(each, is_shown=each.place == place) for each in shown])
