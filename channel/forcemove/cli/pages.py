"""Reports of inspections as text for people. Knows only the reports."""

from __future__ import annotations

from collections.abc import Iterator

import click

from forcemove.cli.layout import WIDTH, show_field, show_title
from forcemove.inspect.inspection import Report
from forcemove.text.reports import ReportEntry, report_parts

__all__ = ["page"]

_COLOURS = {"good": "green", "bad": "red"}


def page(report: Report) -> str:
    """The text of a report of `forcemove inspect`."""
    return "\n".join(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    first, *others = report_parts(report)
    yield click.style(first.title, bold=True)
    yield from map(_line, first.entries)
    for part in others:
        yield show_title(part.title)
        yield from map(_line, part.entries)


def _line(entry: ReportEntry) -> str:
    if entry.text is None:
        return f"  {entry.name}"
    if entry.depth:
        return f"    {entry.name:<{WIDTH - 2}}{entry.text}"
    return show_field(entry.name, click.style(entry.text, fg=_COLOURS[entry.tone]) if entry.tone else entry.text)
