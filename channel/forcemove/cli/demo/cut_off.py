"""The end of a demonstration that was cut off: where money is locked, and how it comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from forcemove.chain.addresses import show_address
from forcemove.cli.demo.signals import Stopped
from forcemove.cli.errors import EXIT_ERROR, Explained, words_of
from forcemove.demo.unfinished import LockedFunds, locked_in
from forcemove.errors import ChainError
from forcemove.text.amounts import format_amount

if TYPE_CHECKING:
    from forcemove.demo.journals import Journals

__all__ = ["NO_LOSS", "CutOff", "cut_off_on_a_node"]

NO_LOSS = "The chain lived only for this run: nothing of value is lost."
_DUST = 10**14


class CutOff(Explained):
    """A demonstration did not come to its end, because of `cause`: a signal, a node, or our mistake."""

    def __init__(self, cause: BaseException, then: str, locked: tuple[LockedFunds, ...] = ()) -> None:
        super().__init__(words_of(cause), then, cause=type(cause).__name__, locked=[each.document for each in locked])
        self._cause = cause

    @property
    def code(self) -> int:
        """The signal's exit code, where a signal was the cause."""
        return self._cause.exit_code if isinstance(self._cause, Stopped) else EXIT_ERROR


def cut_off_on_a_node(
    cause: BaseException, endpoints: Sequence[str], journals: Journals, counterparties: Sequence[bytes]
) -> CutOff:
    """The error with what is locked in channels and left on the throw-away accounts, as far as the first node that
    answers says."""
    locked, idle = _ask(endpoints, journals, counterparties)
    lines = [line for each in locked for line in _shown(each)] or ["Nothing is locked in a channel."]
    left = [(account, amount) for account, amount in idle.items() if amount is None or amount > _DUST]
    for account, amount in left:
        what = "Perhaps unused: some ether" if amount is None else f"Unused: {format_amount(amount)}"
        lines += [what, f"  on the throw-away account {show_address(account)}"]
    if journals.channels:
        lines.append(f"What gets it back is in {journals.path}.")
    if locked or left:
        lines.append("Run the same command in the same directory: it brings the money home first.")
    return CutOff(cause, "\n".join(lines), locked)


def _shown(locked: LockedFunds) -> list[str]:
    """The locked amounts in lines of at most 80 columns."""
    return [
        f"Locked: {locked.shown_amount}",
        f"  in channel 0x{locked.channel_id.hex()}",
        f"  of the adjudicator {show_address(locked.adjudicator)}",
    ]


def _ask(
    endpoints: Sequence[str], journals: Journals, counterparties: Sequence[bytes]
) -> tuple[tuple[LockedFunds, ...], Mapping[bytes, int | None]]:
    """The locked amounts, and each account's balance, None where the chain does not answer. Asked over new connections:
    an answer may be pending on the others."""
    from forcemove.chain.local import connect

    with suppress(KeyboardInterrupt):
        for endpoint in endpoints:
            with suppress(ChainError), connect(endpoint) as chain:
                return locked_in(chain, journals), {each: chain.balance(each) for each in counterparties}
    return locked_in(None, journals), dict.fromkeys(counterparties)
