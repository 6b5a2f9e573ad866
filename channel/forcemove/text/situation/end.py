"""How a channel has ended. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from forcemove.chain.addresses import short_address
from forcemove.game import RoundResult
from forcemove.history.entries import TxMined, TxReorged
from forcemove.history.tokens import Tokens
from forcemove.protocol.machine.channel import OVER, Phase
from forcemove.protocol.machine.results import Ending, Share
from forcemove.rounds import score_line
from forcemove.text.amounts import amount_text
from forcemove.text.reports import ending_text
from forcemove.text.situation.clock import RUN_OUT
from forcemove.text.situation.moment import (
    Moment,
    capitalised,
    change_text,
    count_text,
    results_of,
    shown_names,
)

ENDINGS = {each: f"{capitalised(ending_text(each))}." for each in Ending}
"""How a channel has ended, in a sentence."""
EVEN, _NOBODY, _REORGED = "No gain, no loss", "Nobody has won", "The deposits were undone"
_TITLES = {
    Ending.UNFUNDED: "The game did not begin",
    Ending.EXPIRED: RUN_OUT,
    Ending.UNKNOWN: "It is over",
}


@dataclass(frozen=True, slots=True)
class EndText:
    """How the channel has ended. `change`: of our money; `sentences`: what came where, why, and what it has cost."""

    title: str
    change: str
    sentences: tuple[str, ...]


def end_of(moment: Moment) -> EndText | None:
    """How it has ended, None before."""
    seen, channel, results = moment.seen, moment.channel, results_of(moment)
    if seen.phase not in OVER:
        return None
    ours = [each for each in seen.result.shares if each.participant == channel.index]
    changes = [(each.asset, each.payable - each.deposited) for each in ours]
    won = _lead(results, channel.index) if channel.agreement.is_friendly else sum(change for _, change in changes)
    was_played = channel.next_turn > 2 * channel.agreement.count
    is_reorged = was_played and seen.result.ending is Ending.UNFUNDED
    even = _NOBODY if channel.agreement.is_friendly else EVEN
    title = (_REORGED if is_reorged else _TITLES.get(seen.result.ending)) or (
        even if not won else "You won" if won > 0 else "You lost"
    )
    sentences = [ENDINGS[seen.result.ending]]
    if results:
        sentences.insert(0, f"{score_line(results, shown_names(moment.names), channel.index)}.")
    if ours and not channel.agreement.is_friendly:
        where = "another channel" if channel.payee is None else short_address(channel.payee)
        is_paid = seen.phase is Phase.CLOSED and not seen.to_come
        sentences.insert(0, f"{paid_to_you(ours, moment.tokens, is_paid=is_paid)} ({where}).")
    sentences += _spent(moment)
    return EndText(
        title, ", ".join(filter(None, (change_text(*each, moment.tokens) for each in changes))), tuple(sentences)
    )


def _lead(results: Sequence[RoundResult], seat: int) -> int:
    """How many rounds more we have won than the best of the others."""
    won = Counter(each.winner for each in results if each.winner is not None)
    return won.pop(seat, 0) - max(won.values(), default=0)


def paid_to_you(ours: Iterable[Share], tokens: Tokens, *, is_paid: bool) -> str:
    """What our shares bring us, without a stop at the end. `is_paid`: whether a payment of them was seen."""
    paid = " and ".join(amount_text(each.asset, each.payable, tokens) for each in ours)
    return f"{paid} {'was' if is_paid else 'will be'} paid to you"


def _spent(moment: Moment) -> list[str]:
    """What our transactions have cost, as far as the history has them."""
    mined: dict[tuple[bytes, bytes], int] = {}
    for each in moment.history.notes:
        match each:
            case TxMined(request=request, block_hash=block, gas_used=gas):
                mined[request, block] = gas
            case TxReorged(request=request, block_hash=block):
                mined.pop((request, block), None)
            case _:
                pass
    if not mined:
        return []
    return [f"{count_text(len(mined), 'transaction')} of yours took {sum(mined.values()):,} gas."]
