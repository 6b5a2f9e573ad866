"""A channel's history as lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import click

from forcemove.chain.addresses import short_address
from forcemove.history.entries import (
    Entry,
)
from forcemove.history.history import ChannelHistory
from forcemove.inspect.journal_channel import JournalChannel
from forcemove.text.durations import local_time
from forcemove.text.entries import entry_line, name_at

__all__ = ["timeline_lines"]


# -------------------------------------------------------------------------------------------------------------- people


def timeline_lines(stored: JournalChannel, history: ChannelHistory) -> Iterator[str]:
    """A line for each entry, oldest first, and one for each day."""
    reorged, day = history.reorged, ""
    for place, entry in enumerate(history.entries):
        date, clock = local_time(entry.time)
        if date != day:
            day = date
            yield f"  {click.style(date, underline=True)}"
        mark = click.style("  (a reorganisation has removed it)", fg="yellow") if place in reorged else ""
        yield f"  {clock}  {_line(stored, entry)}{mark}"
    if history.unreadable:
        yield f"  {history.unreadable} pieces of the history cannot be read: they are damaged, or of another version"


def _line(stored: JournalChannel, entry: Entry) -> str:
    return entry_line(entry, stored.channel, partial(_called, stored), stored.describe, stored.tokens)


def _called(stored: JournalChannel, index: int | None) -> str:
    """A participant: `we`, or the short form of its address."""
    addresses = tuple(map(short_address, stored.channel.agreement.fixed_part.participants))
    return name_at(index, addresses, stored.channel.index, "we")
