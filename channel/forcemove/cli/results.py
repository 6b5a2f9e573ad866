"""The end of a channel, as text for people. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from forcemove.cli.layout import show_field
from forcemove.history.tokens import Tokens
from forcemove.protocol.machine.results import ChannelResult, Ending, Share
from forcemove.text.amounts import show_asset
from forcemove.text.reports import ending_text

__all__ = ["result_lines"]


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
