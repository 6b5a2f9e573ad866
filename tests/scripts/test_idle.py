"""The picture and the table of what a channel costs show what was measured. Measuring takes minutes:
`scripts/measure idle --write` does it, not a test."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from scripts.diagrams import MarkerMissing, place
from scripts.measuring.idle import COUNTS, PICTURE, charts, table
from scripts.measuring.pages import NODE_PAGE, put

COSTS = {
    f"{count}_idle_{name}": value
    for count in COUNTS
    for name, value in {
        "block_ms": 5 + count / 100,
        "listening_ms": count / 10,
        "memory_MiB": (1_000_000 + 25_000 * count) / 2**20,
        "block_requests": 4,
        "resumed_s": 0.1,
    }.items()
}
SVG = "{http://www.w3.org/2000/svg}"


def test_the_picture_has_a_point_for_each_value_and_all_are_within_it() -> None:
    drawn = ElementTree.fromstring(charts(COSTS))  # noqa: S314  # our own
    points = list(drawn.iter(f"{SVG}circle"))
    assert len(points) == 3 * len(COUNTS)
    for each in points:
        assert 0 < float(each.attrib["cx"]) < 420
        assert 0 < float(each.attrib["cy"]) < 300


def test_what_costs_more_is_drawn_higher() -> None:
    (line, *_) = ElementTree.fromstring(charts(COSTS)).iter(f"{SVG}polyline")  # noqa: S314  # our own
    heights = [float(point.split(",")[1]) for point in line.attrib["points"].split()]
    assert heights == sorted(heights)  # of a channel, a block costs less the more there are; 0 is at the top


def test_the_table_has_a_row_for_each_number_of_channels() -> None:
    head, _, *rows = table(COSTS).splitlines()
    assert len(rows) == len(COUNTS)
    assert {row.count("|") for row in rows} == {head.count("|")}
    assert rows[3].startswith("| 1,000 | 15 ms | 15 µs | 100 ms | 25 MiB | 25 KiB | 4 | 0.1 s |")


def test_only_what_is_between_the_markers_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- begin idle -->\nold\n<!-- end idle -->\nafter\n")
    put(page, "idle", table(COSTS))
    assert page.read_text() == f"before\n<!-- begin idle -->\n{table(COSTS)}\n<!-- end idle -->\nafter\n"
    with pytest.raises(MarkerMissing):
        put(page, "requests", "new")


def test_the_page_shows_the_picture_and_a_row_for_each_number() -> None:
    page = NODE_PAGE.read_text(encoding="utf-8")
    assert f"]({PICTURE.name})" in page
    shown = place(NODE_PAGE.name, page, "idle")[0].splitlines()[2:]
    assert [row.split("|")[1].strip() for row in shown] == [f"{count:,}" for count in COUNTS]
    ElementTree.parse(PICTURE)  # noqa: S314  # our own
