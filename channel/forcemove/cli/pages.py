"""Pages of text for people: how they are laid out, reports of inspections, and the end of a channel. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import click

from forcemove.history.tokens import Tokens
from forcemove.inspect.inspection import Report
from forcemove.protocol.machine.results import ChannelResult, Ending, Share
from forcemove.text.amounts import show_asset
from forcemove.text.reports import ReportEntry, ending_text, report_parts

WIDTH = 16
"""Columns of a field's name."""


def show_title(text: str) -> str:
    """The title of a part of a page."""
    return "\n" + click.style(text, bold=True)


def show_field(name: str, value: object) -> str:
    """A field's name and value; further lines of the value are indented."""
    first, *rest = str(value).splitlines() or [""]
    return "\n".join([f"  {name:<{WIDTH}}{first}", *(" " * (WIDTH + 2) + line for line in rest)])


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


def result_lines(result: ChannelResult, tokens: Tokens = ()) -> Iterator[str]:
    """Fields of a page: how the channel ended, and what each participant was paid and has won or lost by that.
    `tokens`: what its tokens say of themselves."""
    yield show_field("ended", ending_text(result.ending))
    if any(share.deposited for share in result.shares):
        name = "to be paid" if result.ending is Ending.EXPIRED else "paid"
        yield show_field(name, "\n".join(_share_line(each, tokens) for each in result.shares))


def _share_line(share: Share, tokens: Tokens) -> str:
    won = share.payable - share.deposited
    what = "is even" if not won else f"{'wins' if won > 0 else 'loses'} {show_asset(share.asset, abs(won), tokens)}"
    return f"{show_asset(share.asset, share.payable, tokens)} to participant {share.participant}, who {what}"
