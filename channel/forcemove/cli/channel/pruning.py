"""`forcemove channel prune`: deletes what channels that are over have left in a journal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from forcemove.cli.channel.options import STORE
from forcemove.cli.json_output import print_document
from forcemove.cli.parameters import JSON
from forcemove.cli.typed import ask
from forcemove.cli.wrapping import echo
from forcemove.protocol.codec.json_text import hex_text
from forcemove.store.errors import JournalBusy
from forcemove.store.records import ChannelLease

if TYPE_CHECKING:
    from forcemove.store.journal import Journal

_DAY = 24 * 60 * 60


@click.command()
@STORE
@click.option(
    "--days",
    type=click.IntRange(0, 36_500),
    default=7,
    show_default=True,
    help="Leave channels alone that were saved within this many days: a reorganisation may undo their end.",
)
@click.option("--yes", "agrees", is_flag=True, help="Delete without being asked.")
@JSON
def prune(store: str, days: int, agrees: bool, as_json: bool) -> None:
    """Delete what channels that are over, or put away, have left in a journal: histories, states and evidence.

    What is open, is owed a payment, or was paid by what is not known keeps everything; so does a channel that another
    process has, or that has a transaction on its way. `list --all` goes on to show how the others ended, and nothing is
    signed in them again. With --json nothing is asked: without --yes it says what would be deleted.
    """
    from forcemove.cli.channel.stores import open_store
    from forcemove.inspect.channel_json import PruneDocument
    from forcemove.inspect.pruning import prunable

    with open_store(store) as journal:
        found = prunable(journal, int(time.time()) - days * _DAY)
        chosen = [each for each in found if journal.leases.holder(ChannelLease(each.channel_id)) is None]
        ids = [each.channel_id for each in chosen]
        left = journal.leftovers(ids).values()
        rows, size = sum(each[0] for each in left), sum(each[1] for each in left)
        what = f"{rows:,} entries of histories and evidence ({size:,} bytes), and old states, of channels: {len(ids):,}"
        if not (as_json or agrees) and chosen:
            echo(f"To be deleted: {what}.")
            ask(click.confirm, "Delete them?", abort=True)
        pruned = journal.prune(chosen) if chosen and (agrees or not as_json) else frozenset()
        is_smaller = bool(pruned) and _compact(journal)
    if as_json:
        named = [hex_text(id_) for id_ in ids if id_ in pruned or not agrees]
        print_document(PruneDocument(named, rows, size, bool(pruned)))
    elif not chosen:
        echo("No channel has anything to delete.")
    else:
        echo(f"Deleted: {what}." if len(pruned) == len(ids) else f"Deleted what {len(pruned)} of {len(ids)} had left.")
        if not is_smaller:
            echo("Another process uses the journal: the file keeps its size, and what is free in it is used again.")


def _compact(journal: Journal) -> bool:
    """Make the journal's file smaller; returns whether nobody was in the way."""
    try:
        journal.compact()
    except JournalBusy:
        return False
    return True
