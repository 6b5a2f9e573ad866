"""The picture and the table of what a channel costs show what was measured. Measuring takes minutes: the script does
it, not a test."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from scripts.channel_cost import BEGIN, COUNTS, END, PAGE, PICTURE, Cost, charts, shown, table

COSTS = [Cost(count, 0.005 + count / 1e5, count / 1e4, 1_000_000 + 25_000 * count, 0.1, 4) for count in COUNTS]
SVG = "{http://www.w3.org/2000/svg}"


def test_the_picture_has_a_point_for_each_value_and_all_are_within_it() -> None:
    drawn = ElementTree.fromstring(charts(COSTS))  # noqa: S314  # our own
    points = list(drawn.iter(f"{SVG}circle"))
    assert len(points) == 3 * len(COSTS)
    for each in points:
        assert 0 < float(each.attrib["cx"]) < 420
        assert 0 < float(each.attrib["cy"]) < 300


def test_what_costs_more_is_drawn_higher() -> None:
    (line, *_) = ElementTree.fromstring(charts(COSTS)).iter(f"{SVG}polyline")  # noqa: S314  # our own
    heights = [float(point.split(",")[1]) for point in line.attrib["points"].split()]
    assert heights == sorted(heights)  # of a channel, a block costs less the more there are; 0 is at the top


def test_the_table_has_a_row_for_each_number_of_channels() -> None:
    head, _, *rows = table(COSTS).splitlines()
    assert len(rows) == len(COSTS)
    assert {row.count("|") for row in rows} == {head.count("|")}
    assert rows[3].startswith("| 1,000 | 15 ms | 15 µs | 100 ms | 25 MiB | 25 KiB | 4 | 0.1 s |")


def test_only_what_is_between_the_markers_is_replaced() -> None:
    page = f"before\n\n{BEGIN}\n\nold\n\n{END}\nafter\n"
    assert shown(page, COSTS) == f"before\n\n{BEGIN}\n\n{table(COSTS)}\n\n{END}\nafter\n"
    with pytest.raises(SystemExit, match="no place"):
        shown("nothing", COSTS)


def test_the_page_shows_the_picture_and_a_row_for_each_number() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert f"]({PICTURE.name})" in page
    rows = page.partition(BEGIN)[2].partition(END)[0].strip().splitlines()[2:]
    assert [row.split("|")[1].strip() for row in rows] == [f"{count:,}" for count in COUNTS]
    ElementTree.parse(PICTURE)  # noqa: S314  # our own
