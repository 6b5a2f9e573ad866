"""The timeline as markup: the content of its `svg` element. A page is made with each move, and a template takes ten
times as long for so many numbers. All numbers are written as numbers, and all words are escaped. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from forcemove.browser.drawing.timeline import Sign, Timeline

__all__ = ["timeline_markup"]

_SMALL = 3
"""Characters of a sign that are written smaller."""


def timeline_markup(timeline: Timeline, path: str) -> str:
    """The lanes, clocks, lines and signs. `path`: of the page, to which each sign links."""
    return "".join((*_background(timeline), *(_sign(each, escape(path)) for each in timeline.signs)))


def _background(timeline: Timeline) -> Iterator[str]:
    for lane in timeline.lanes:
        yield f'<text x="8" y="{lane.y + 4:d}" class="f-muted">{escape(lane.name)}</text>'
        yield f'<line x1="{timeline.left:d}" y1="{lane.y:d}" x2="100%" y2="{lane.y:d}" class="s-edge"/>'
    for bar in timeline.bars:
        width = "100%" if bar.width is None else f"{bar.width:d}"
        yield f'<rect x="{bar.x:d}" y="{bar.y - 8:d}" width="{width}" height="16" rx="8" class="running"/>'
    for link in timeline.links:
        yield f'<line x1="{link.x1:d}" y1="{link.y1:d}" x2="{link.x2:d}" y2="{link.y2:d}" class="s-muted thin"/>'
    if timeline.bracket is not None:
        box = timeline.bracket
        size = f'width="{box.width:d}" height="{box.height:d}"'
        yield f'<rect x="{box.x:d}" y="{box.y:d}" {size} rx="6" class="bracket"><title>newest proof</title></rect>'


def _sign(sign: Sign, path: str) -> str:
    happening = sign.happening
    gone = " (removed by a reorganisation)" if happening.is_gone else ""
    current = ' aria-current="true"' if sign.is_shown else ""
    link = f'href="{path}?at={happening.place:d}#happened" id="s-{happening.place:d}"'
    return f'<a {link} aria-label="{escape(happening.text)}{gone}"{current}>{_shape(sign)}</a>'


def _shape(sign: Sign) -> str:
    x, y, tone = sign.x, sign.y, escape(sign.tone)
    ring = " ring" if sign.happening.is_ring else ""
    struck = (
        f'<line x1="{x - 14:d}" y1="{y + 8:d}" x2="{x + 14:d}" y2="{y - 8:d}" class="s-ink thick"/>'
        if sign.happening.is_gone
        else ""
    )
    if sign.shape == "cross":
        cross = f'<path d="M{x - 7:d} {y - 7:d}l14 14m0 -14l-14 14" class="s-bad thick"/>'
        return f'<circle cx="{x:d}" cy="{y:d}" r="11" class="f-paper"/>{cross}{struck}'
    small = " small" if len(sign.happening.sign) >= _SMALL else ""
    words = f'<text x="{x:d}" y="{y + 4:d}" class="on{small}">{escape(sign.happening.sign)}</text>'
    if sign.shape == "dot":
        return f'<circle cx="{x:d}" cy="{y:d}" r="11" class="f-{tone}{ring}"/>{words}{struck}'
    box = f'<rect x="{x - 11:d}" y="{y - 11:d}" width="22" height="22" rx="4" class="f-{tone}"/>'
    return f"{box}{words}{struck}"
