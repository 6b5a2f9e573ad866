"""How a channel has ended, for its player: who won, what was paid to whom, and the cost. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from forcemove.game import Names
from forcemove.history.tokens import Tokens
from forcemove.node.events import Mined, SubmissionRefused
from forcemove.program import program
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.machine.effects import operation_name
from forcemove.protocol.machine.results import ChannelResult, Ending, result_of
from forcemove.protocol.rule_errors import NoChallenge
from forcemove.sender.errors import Overtaken
from forcemove.sessions.playing.content import NAMES
from forcemove.text.amounts import amount_text, format_amount
from forcemove.text.situation.end import ENDINGS, EVEN, paid_to_you
from forcemove.text.situation.headline import names_for


class EndObserver:
    """Observes a channel, and remembers what this run has paid for it: `cost`, the gas of that many `transactions`, in
    wei."""

    def __init__(self) -> None:
        self.cost = self.transactions = 0
        self._time = 0

    def observe(self, now: int) -> None:
        """Note the block time, in seconds."""
        self._time = now

    def add(self, event: Mined | SubmissionRefused) -> None:
        """Note what has become of our transaction."""
        match event:
            case Mined(_, receipt):
                self._pay(receipt.gas_used * receipt.gas_price)
            case SubmissionRefused(cost=cost) if cost:
                self._pay(cost)

    def _pay(self, cost: int) -> None:
        self.cost, self.transactions = self.cost + cost, self.transactions + 1

    def of(self, channel: Channel, now: int) -> ChannelResult:
        """How the channel has ended by time `now` (seconds), or by the time that was observed last: a chain's clock may
        be ahead of this machine's."""
        return result_of(channel, max(now, self._time))


def end_lines(
    result: ChannelResult, index: int, seen: EndObserver, names: Names = NAMES, score: str = "", tokens: Tokens = ()
) -> Iterator[str]:
    """The end for people, of a channel in one asset.

    - `result`: how it has ended.
    - `index`: which participant we are.
    - `seen`: what we have paid for it.
    - `names`: by seat.
    - `score`: of the rounds; empty where none is over.
    - `tokens`: what the channel's tokens say of themselves, as far as that is known.
    """
    if result.ending is Ending.UNKNOWN:
        yield f"result      What was paid to you is not known: `{program()} channel show --chain URL` asks the chain."
        yield f"ended       {ENDINGS[result.ending]}"
        return
    ours = next(share for share in result.shares if share.participant == index)
    won = ours.payable - ours.deposited
    if result.ending is Ending.UNFUNDED:
        back = f"{amount_text(ours.asset, ours.payable, tokens)} came back to you"
        text = f"Not all have paid in; {back if ours.payable else 'you had paid in nothing'}."
    else:
        amount = amount_text(ours.asset, abs(won), tokens)
        what = f"You {'win' if won > 0 else 'lose'} {amount}" if won else EVEN
        text = f"{what}; {paid_to_you((ours,), tokens, is_paid=result.ending is not Ending.EXPIRED)}."
    yield f"result      {text}"
    if score:
        yield f"score       {score}"
    yield f"ended       {ENDINGS[result.ending]}"
    named = zip(names_for(index, names), result.shares, strict=True)
    paid = ", ".join(f"{name} {amount_text(share.asset, share.payable, tokens)}" for name, share in named)
    yield f"{'to be paid' if result.ending is Ending.EXPIRED else 'paid':<12}{paid}"
    if seen.transactions:
        number = "1 transaction" if seen.transactions == 1 else f"{seen.transactions} transactions"
        yield f"gas         {format_amount(seen.cost)}, for {number} of yours since this command began"


def race_text(refused: SubmissionRefused) -> str | None:
    """The text about our transaction that came too late; None where it failed for another reason."""
    what = f"chain       {operation_name(refused.submission)}: the other was faster"
    match refused.error:
        case Overtaken(cost=cost, block_number=block):
            return f"{what}, in block {block:,}. Nothing is lost; it cost {format_amount(cost)}."
        case NoChallenge():  # that we could answer
            return f"{what}. Nothing is lost, and nothing was sent."
        case _:
            return None
