"""An entry of a channel's history in a sentence, the same on every screen, and what more is known of it. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import assert_never

from forcemove.history import entries
from forcemove.history.tokens import Tokens
from forcemove.protocol import logs
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.types import SignedState
from forcemove.text.amounts import amount_text, format_amount
from forcemove.text.harmless import harmless

_MANY, _MANY_FACTS = 400, 2_000
"""Characters of another program's text that are shown in a sentence, and of the facts beside it."""
_GWEI = 10**9
_HASH_DIGITS = 8
_LOG_NOUNS: Mapping[type[logs.Log], str] = {
    logs.Deposited: "a deposit",
    logs.ChallengeRegistered: "a challenge",
    logs.Responded: "an answer",
    logs.Checkpointed: "a checkpoint",
    logs.Concluded: "a conclusion",
    logs.PartlyPaid: "a payout",
    logs.Closed: "the last payout",
    logs.Credited: "a credit",
    logs.Claimed: "a claim",
}


def name_at(seat: int | None, names: Sequence[str], own: int, us: str = "you") -> str:
    """What a participant is called in a sentence.

    - `seat`: its index; None for one that is not known.
    - `names`: of all participants, by index.
    - `own`: our index.
    - `us`: what we are called.
    """
    if seat == own:
        return us
    return "a counterparty" if seat is None or seat >= len(names) else names[seat]


def signer_of(entry: entries.StateSigned | entries.StateAccepted, channel: Channel) -> int:
    """The participant who has signed a state: of an accepted one the mover, where no signature is known."""
    if isinstance(entry, entries.StateSigned):
        return channel.index
    return min(entry.signed.signatures, default=entry.signed.state.turn_num % channel.agreement.count)


def entry_text(
    entry: entries.Entry,
    channel: Channel,
    called: Callable[[int | None], str],
    describe: Callable[[SignedState], str],
    tokens: Tokens = (),
) -> str:
    """What an entry says, as a sentence that may begin with a small letter.

    - `entry`: of the history.
    - `channel`: as we see it.
    - `called`: what a participant is called, by its index; None for one that is not known.
    - `describe`: what a state is, in a few words.
    - `tokens`: what the channel's tokens say of themselves, as far as that is known.
    """
    match entry:
        case entries.StateSigned(signed=signed) | entries.StateAccepted(signed=signed):
            return f"{_signs(entry, channel, called)} turn {signed.state.turn_num:,}: {describe(signed)}"
        case entries.SignatureAdded(turn_num=turn, participant=seat):
            return f"{called(seat)} signed turn {turn:,}, too"
        case entries.FaultFound(participant=seat, kind=kind, refused=refused):
            about = "" if refused is None else f", turn {refused.state.turn_num:,}"
            return f"refused from {called(seat)}{about}: {_error_words(kind)}"
        case entries.AppointmentAcknowledged(url=url, turn_num=turn):
            return f"the watchtower {_shown(url)} has all up to turn {turn:,}"
        case entries.ConnectionLost(url=url):
            return f"the connection to {_shown(url)} was lost"
        case entries.ConnectionRestored(url=url):
            return f"the connection to {_shown(url)} was there again"
        case entries.LogIncluded(log=log):
            return _log_text(log, tokens)
        case entries.LogReorged(log=log, position=position):
            return f"a reorganisation removed block {position.block_number:,}, with {_LOG_NOUNS[type(log)]}"
        case _:
            return _tx_text(entry)


def _signs(
    entry: entries.StateSigned | entries.StateAccepted, channel: Channel, called: Callable[[int | None], str]
) -> str:
    """Who has signed or shown a state."""
    if isinstance(entry, entries.StateAccepted) and entry.from_chain:
        return "the chain showed"
    return f"{called(signer_of(entry, channel))} signed"


def _tx_text(
    entry: entries.TxRequested | entries.TxSent | entries.TxMined | entries.TxReorged | entries.TxRefused,
) -> str:
    operation = _shown(entry.operation)
    match entry:
        case entries.TxRequested():
            return f"asked for {operation}"
        case entries.TxSent(replaces=replaces):
            return f"sent our {operation}" if replaces is None else f"sent our {operation} again, for a higher price"
        case entries.TxMined(block_number=block):
            return f"our {operation} is in block {block:,}"
        case entries.TxReorged():
            return f"a reorganisation removed our {operation}"
        case entries.TxRefused(kind=kind, facts=facts):
            return f"the chain refused {operation}: {_shown(facts or kind)}"
        case _:
            assert_never(entry)


def _log_text(log: logs.Log, tokens: Tokens) -> str:
    match log:
        case logs.Deposited(asset=asset, held=held):
            return f"paid in; the channel holds {amount_text(asset, held, tokens)}"
        case logs.ChallengeRegistered(state=state):
            return f"challenge at turn {state.turn_num:,}: the clock starts"
        case logs.Responded(state=state):
            return f"answered with turn {state.turn_num:,}: the clock stops"
        case logs.Checkpointed(state=state):
            return f"turn {state.turn_num:,} recorded: the clock stops"
        case logs.Concluded(turn_num=turn):
            return f"concluded with turn {turn:,}"
        case logs.PartlyPaid(remaining=remaining):
            left = " and ".join(amount_text(each.asset, each.amount, tokens) for each in remaining if each.amount)
            return f"partly paid out; {left or 'nothing'} is still owed"
        case logs.Closed():
            return "paid out; the channel is closed"
        case logs.Credited(asset=asset, amount=amount):
            return f"{amount_text(asset, amount, tokens)} could not be pushed, and can be claimed"
        case logs.Claimed(asset=asset, amount=amount):
            return f"{amount_text(asset, amount, tokens)} was claimed"
        case _:
            assert_never(log)


def entry_line(
    entry: entries.Entry,
    channel: Channel,
    called: Callable[[int | None], str],
    describe: Callable[[SignedState], str],
    tokens: Tokens = (),
) -> str:
    """The sentence of an entry, with what is known besides in brackets.

    - `entry`: see `entry_text`.
    - `channel`: see `entry_text`.
    - `called`: see `entry_text`.
    - `describe`: see `entry_text`.
    - `tokens`: see `entry_text`.
    """
    text, details = entry_text(entry, channel, called, describe, tokens), _details(entry)
    return f"{text} ({details})" if details else text


def _details(entry: entries.Entry) -> str:
    """What is known of an entry besides its sentence; empty where there is nothing."""
    match entry:
        case entries.FaultFound(facts=facts):
            return harmless(facts[:_MANY_FACTS])
        case entries.LogIncluded(position=position):
            return f"block {position.block_number:,}"
        case entries.TxMined(gas_used=gas):
            return f"{_short(entry.transaction_hash)}, {gas:,} gas, {format_amount(gas * entry.gas_price)}"
        case entries.TxSent(transaction_hash=hash_, nonce=nonce, replaces=replaces):
            instead = "" if replaces is None else f", in place of {_short(replaces)}"
            fee = f"{entry.max_fee / _GWEI:,.3f}".rstrip("0").rstrip(".")
            return f"{_short(hash_)}, nonce {nonce:,}, at most {fee} gwei a unit of gas{instead}"
        case entries.TxReorged(transaction_hash=hash_):
            return _short(hash_)
        case _:
            return ""


def _error_words(kind: str) -> str:
    """The class of an error, the last one of several, as words: `WrongAmount` is `wrong amount`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", _shown(kind.rpartition(" ")[2])).lower()


def _short(hash_: bytes) -> str:
    return f"0x{hash_.hex()[:_HASH_DIGITS]}\N{HORIZONTAL ELLIPSIS}"


def _shown(text: str) -> str:
    """Text that others may have written."""
    return harmless(text[:_MANY])
