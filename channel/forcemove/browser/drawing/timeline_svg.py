"""The timeline as markup: the content of its `svg` element, and the lines beneath it. A page is made with each move,
and a template takes ten times as long for this many numbers. What others can have said is escaped; the rest are numbers
and our words. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from html import escape

from forcemove.browser.drawing.happenings import Happening
from forcemove.browser.drawing.timeline import Sign, Timeline
from forcemove.text.durations import local_time

_SMALL = 3
"""Characters of a sign that are written smaller."""


def timeline_markup(timeline: Timeline) -> str:
    """The lanes, clocks, lines and signs; each sign links to its entry on the same page."""
    return "".join((*_background(timeline), *map(_sign, timeline.signs)))


def line_markup(each: Happening, *, is_shown: bool) -> str:
    """An entry as an item of the list of what has happened; it links to the entry. `is_shown`: in the inspector."""
    current = ' aria-current="true"' if is_shown else ""
    tone = f' class="{each.tone}"' if each.tone else ""
    text = _escaped(each.text)
    said = f"<s>{text}</s> (removed by a reorganisation)" if each.is_gone else text
    gas = "" if each.gas is None else f' <span class="gas">{each.gas:,} gas</span>'
    link = f'href="?at={each.place:d}#i" id="l-{each.place:d}"'
    return f"<li{current}><time>{local_time(each.time)[1]}</time> <a {link}{tone}>{said}</a>{gas}</li>\n"


_escaped = lru_cache(maxsize=256)(escape)
"""The same lines are written again with each move."""


def _background(timeline: Timeline) -> Iterator[str]:
    for lane in timeline.lanes:
        yield f'<text x="8" y="{lane.y + 4:d}" class="f-muted">{escape(lane.name)}</text>'
        yield f'<line x1="{timeline.left:d}" y1="{lane.y:d}" x2="100%" y2="{lane.y:d}" class="s-edge"/>'
    for bar in timeline.bars:
        width = "100%" if bar.width is None else f"{bar.width:d}"
        yield f'<rect x="{bar.x:d}" y="{bar.y - 8:d}" width="{width}" height="16" rx="8" class="running"/>'
    links, at = "", ""
    for link in timeline.links:
        start, end = f"{link.x1:d} {link.y1:d}", f"{link.x2:d} {link.y2:d}"
        links, at = f"{links}{'' if start == at else f'M{start}'}L{end}", end
    yield f'<path d="{links}" class="s-muted thin"/>'
    if timeline.bracket is not None:
        box = timeline.bracket
        size = f'width="{box.width:d}" height="{box.height:d}"'
        yield f'<rect x="{box.x:d}" y="{box.y:d}" {size} rx="6" class="bracket"><title>newest proof</title></rect>'


def _sign(sign: Sign) -> str:
    happening = sign.happening
    gone = " (removed by a reorganisation)" if happening.is_gone else ""
    label = _escaped(happening.text)
    current = ' aria-current="true"' if sign.is_shown else ""
    link = f'href="?at={happening.place:d}#i" id="s-{happening.place:d}"'
    place = f'transform="translate({sign.x:d} {sign.y:d})"'
    return f'<a {link} {place} aria-label="{label}{gone}"{current}>{_shape(sign)}</a>'


def _shape(sign: Sign) -> str:
    """A sign around its own middle. Its tone and its letters are of our own lists, or a number."""
    tone, ring, off, struck = sign.tone, " ring" if sign.happening.is_ring else "", "", ""
    if sign.happening.is_gone:
        tone, off, struck = "cell", "off", '<path d="M-14 8L14 -8" class="s-bad"/>'
    if sign.shape == "cross":
        return f'<circle class="f-paper"/><path d="M-7 -7l14 14m0 -14l-14 14" class="s-bad thick"/>{struck}'
    small = " small" if len(sign.happening.sign) >= _SMALL else ""
    words = (
        f'<text class="{off}{small}">{sign.happening.sign}</text>'
        if off + small
        else f"<text>{sign.happening.sign}</text>"
    )
    if sign.shape == "dot":
        return f'<circle class="f-{tone}{ring}"/>{words}{struck}'
    return f'<rect class="f-{tone}"/>{words}{struck}'
