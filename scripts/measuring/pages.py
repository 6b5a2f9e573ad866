"""What pages show of measurements: parts between markers, and charts with two logarithmic axes, side by side, as SVG
text (two charts are less of it than of a library)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

NODE_PAGE = Path(__file__).resolve().parents[2] / "docs" / "operators" / "node.md"

_WIDTH, _HEIGHT = 420, 300
"""Of one chart, in pixels."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 20, 40, 48
_COLOURS = ("#0969da", "#bf5600")
_STYLE = "font-family='system-ui, sans-serif' font-size='12' fill='#24292f'"


def put(page: Path, name: str, text: str) -> None:
    """Write a text between the markers of this name. Raises `MarkerMissing`."""
    from scripts.diagrams import place

    whole = page.read_text("utf-8")
    shown = place(page.name, whole, name)
    page.write_text(f"{whole[: shown.start()]}{text}\n{whole[shown.end() :]}", "utf-8")


@dataclass(frozen=True)
class Line:
    """One line of a chart: a value for each place on the axis below, all above 0."""

    name: str
    values: Sequence[float]


def picture(at: Sequence[int], charts: Sequence[tuple[str, Sequence[Line]]]) -> str:
    """`at`: the numbers of channels, each ten times the one before. `charts`: a title each, with its lines."""
    width = _WIDTH * len(charts)
    drawn = "\n".join(
        f"<g transform='translate({number * _WIDTH} 0)'>\n" + "\n".join(_chart(at, title, lines)) + "\n</g>"
        for number, (title, lines) in enumerate(charts)
    )
    names = escape(", ".join(title for title, _ in charts))
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {_HEIGHT}' width='{width}' height='{_HEIGHT}' "
        f"role='img' {_STYLE}>\n<title>{names}, by how many channels there are</title>\n"
        f"<rect width='{width}' height='{_HEIGHT}' fill='white'/>\n{drawn}\n</svg>\n"
    )


def _chart(at: Sequence[int], title: str, lines: Sequence[Line]) -> Iterator[str]:
    values = [value for line in lines for value in line.values]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high = max(high, low + 1)

    def x(count: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * math.log10(count / at[0]) / max(math.log10(at[-1] / at[0]), 1)

    def y(value: float) -> float:
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * (math.log10(value) - low) / (high - low)

    yield f"<text x='{_LEFT}' y='20' font-weight='bold'>{escape(title)}</text>"
    for power in range(low, high + 1):
        height = y(10.0**power)
        yield f"<path d='M{_LEFT} {height:.1f}H{_WIDTH - _RIGHT}' stroke='#d0d7de'/>"
        yield f"<text x='{_LEFT - 8}' y='{height + 4:.1f}' text-anchor='end'>{10.0**power:,g}</text>"
    for count in at:
        yield f"<text x='{x(count):.0f}' y='{_HEIGHT - _BOTTOM + 18}' text-anchor='middle'>{count:,}</text>"
    yield f"<text x='{(_LEFT + _WIDTH - _RIGHT) / 2:.0f}' y='{_HEIGHT - 10}' text-anchor='middle'>idle channels</text>"
    for number, line in enumerate(lines):
        points = [(x(count), y(value)) for count, value in zip(at, line.values, strict=True)]
        way = " ".join(f"{across:.1f},{up:.1f}" for across, up in points)
        yield f"<polyline points='{way}' fill='none' stroke='{_COLOURS[number]}' stroke-width='2'/>"
        for across, up in points:
            yield f"<circle cx='{across:.1f}' cy='{up:.1f}' r='3' fill='{_COLOURS[number]}'/>"
        if len(lines) > 1:
            height = _TOP + 12 + 18 * number
            yield f"<path d='M{_WIDTH - 190} {height - 4}h20' stroke='{_COLOURS[number]}' stroke-width='2'/>"
            yield f"<text x='{_WIDTH - 164}' y='{height}'>{escape(line.name)}</text>"
