"""What everybody has, and what a running round has moved. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from forcemove.protocol.machine.channel import Phase
from forcemove.protocol.machine.results import Share
from forcemove.text.amounts import amount_text
from forcemove.text.situation.moment import Moment


def settled_shares(moment: Moment) -> tuple[tuple[Share, ...], str]:
    """Everybody's shares without what the running round has moved, which comes and goes with each turn; and how much
    that is, such as `0.2 ether in play`, empty where it is nothing. Where no round runs, or it is not known how it
    began, the shares are those of the newest state."""
    shares, deposits = moment.seen.result.shares, moment.channel.agreement.deposits
    if moment.seen.phase is not Phase.PLAYING or moment.rounds is None or len(deposits) != 1:
        return shares, ""
    settled = moment.rounds.settled
    amounts = deposits[0][1] if settled is None else [each.amount for each in settled]
    if len(amounts) != len(shares) or sum(amounts) != sum(each.payable for each in shares):
        return shares, ""
    moved = sum(max(0, amount - each.payable) for amount, each in zip(amounts, shares, strict=True))
    if not moved:
        return shares, ""
    before = tuple(replace(each, payable=amount) for amount, each in zip(amounts, shares, strict=True))
    return before, f"{amount_text(deposits[0][0], moved, moment.tokens)} in play"
