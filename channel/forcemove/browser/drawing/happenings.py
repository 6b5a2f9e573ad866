"""What has happened, entry by entry: a sign for the timeline and a line for the list. Pure.

A history has up to 10,000 entries, and a page shows a window of them: only what is in the window is looked at closely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, assert_never

from forcemove.browser.drawing.words import amount_text, capitalised, named, short_hash
from forcemove.browser.view import ChannelView
from forcemove.history.entries import (
    AppointmentAcknowledged,
    ConnectionLost,
    ConnectionRestored,
    Entry,
    FaultFound,
    LogIncluded,
    LogReorged,
    SignatureAdded,
    StateAccepted,
    StateSigned,
    TxMined,
    TxRefused,
    TxReorged,
    TxRequested,
    TxSent,
)
from forcemove.inspect.states import StateKind, kind_of_state
from forcemove.protocol.logs import (
    ChallengeRegistered,
    Checkpointed,
    Claimed,
    Closed,
    Concluded,
    Credited,
    Deposited,
    Log,
    PartlyPaid,
    Responded,
)
from forcemove.protocol.state import VariablePart
from forcemove.text.harmless import harmless

__all__ = ["WINDOW", "Happening", "Window", "window_of"]

WINDOW = 60
"""Signs on one timeline."""
_MANY = 400
"""Characters of another program's text that are shown."""
_GWEI = 10**9
_CROSS = "\N{MULTIPLICATION X}"
_SIGNS: dict[type, str] = {
    Deposited: "D",
    ChallengeRegistered: "C",
    Responded: "R",
    Checkpointed: "P",
    Concluded: "\N{CHECK MARK}",
    Closed: "\N{CHECK MARK}",
    PartlyPaid: "T",
    Credited: "$",
    Claimed: "$",
}
"""The sign of each log on the timeline."""
_GOOD = (Responded, Checkpointed, Concluded, Closed)
"""The logs that end a clock, or all of it."""
_KINDS = {
    StateKind.PREFUND: "the terms",
    StateKind.POSTFUND: "all is paid in",
    StateKind.APP: "move",
    StateKind.FINAL: "final state",
}
"""What a state of each kind says."""
_SHOWN = (StateSigned, StateAccepted, SignatureAdded, LogIncluded, FaultFound, TxRefused)
"""What has a sign on the timeline; the list has it all."""


class Happening(NamedTuple):
    """One entry.

    - `place`: its index in the history.
    - `time`: our own Unix seconds.
    - `text`: a line.
    - `tone`: `bad`, `good`, `muted` or empty.
    - `sign`: on the timeline, empty for none; a state's is its turn.
    - `lane`: the participant whose it is, None for the chain.
    - `is_ring`: whether it is one more signature, on a state that is there.
    - `is_gone`: whether a reorganisation has removed it.
    - `gas`: what its transaction has used, where it is ours and known.
    - `log`: the kind of a log, None else.
    - `is_fault`: whether a counterparty has sent what it must not send.
    """

    place: int
    time: int
    text: str
    tone: str
    sign: str
    lane: int | None
    is_ring: bool = False
    is_gone: bool = False
    gas: int | None = None
    log: type | None = None
    is_fault: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """A part of the history, oldest first. `older`, `newer`: entries to go to for the parts around it, None where there
    is none."""

    happenings: tuple[Happening, ...]
    older: int | None
    newer: int | None


def window_of(view: ChannelView) -> Window:
    """The newest part, or the part that has the entry `view.at`."""
    entries = view.history.entries
    start, end = _bounds(entries, view.at)
    fates = _fates(entries, start, end)
    found = tuple(
        happening
        for place in range(start, end)
        if (happening := _happening(view, place, entries[place], fates)) is not None
    )
    older = start - 1 if start else None
    return Window(found, older, end if end < len(entries) else None)


def _bounds(entries: Sequence[Entry], at: int | None) -> tuple[int, int]:
    """The window that has the entry `at`: windows are counted from the newest entry backwards."""
    end, signs = len(entries), 0
    for place in range(len(entries) - 1, -1, -1):
        if isinstance(entries[place], _SHOWN):
            signs += 1
            if signs > WINDOW:
                if at is None or at > place:
                    return place + 1, end
                end, signs = place + 1, 1
    return 0, end


@dataclass(frozen=True, slots=True)
class _Fates:
    """What has become of a window's entries. `gone`: those that a reorganisation has removed; `gas`: what our
    transactions have used, by their hashes; `logged`: the transactions whose logs are in the window."""

    gone: set[int]
    gas: dict[bytes, int]
    logged: set[bytes]


def _fates(entries: Sequence[Entry], start: int, end: int) -> _Fates:
    standing: dict[object, int] = {}
    found = _Fates(set(), {}, set())
    for place in range(start, len(entries)):
        match entries[place]:
            case LogIncluded(position=position):
                standing[position.block_hash, position.log_index] = place
                if place < end:
                    found.logged.add(position.transaction_hash)
            case LogReorged(position=position):
                found.gone.update(_removed(standing, (position.block_hash, position.log_index), end))
            case TxMined() as mined:
                standing[mined.request, mined.block_hash] = place
                found.gas[mined.transaction_hash] = mined.gas_used
            case TxReorged(request=request, block_hash=block):
                found.gone.update(_removed(standing, (request, block), end))
            case _:
                pass
    return found


def _removed(standing: dict[object, int], key: object, end: int) -> set[int]:
    place = standing.pop(key, end)
    return {place} if place < end else set()


# ------------------------------------------------------------------------------------------------------------- entries


def _happening(view: ChannelView, place: int, entry: Entry, fates: _Fates) -> Happening | None:
    """One entry; None where another one says the same."""
    match entry:
        case StateSigned(signed=signed):
            text = f"{_who(view, view.channel.index)} signed {_state(view, signed.state)}"
            return Happening(place, entry.time, text, "", str(signed.state.turn_num), view.channel.index)
        case StateAccepted(signed=signed, from_chain=from_chain):
            mover = signed.state.turn_num % view.channel.agreement.count
            who = "The chain showed" if from_chain else f"{_who(view, min(signed.signatures, default=mover))} signed"
            lane = min(signed.signatures, default=mover)
            return Happening(
                place, entry.time, f"{who} {_state(view, signed.state)}", "", str(signed.state.turn_num), lane
            )
        case SignatureAdded(turn_num=turn, participant=seat):
            text = f"{_who(view, seat)} signed turn {turn:,}, too"
            return Happening(place, entry.time, text, "", str(turn), seat, is_ring=True)
        case FaultFound():
            return _fault(view, place, entry)
        case AppointmentAcknowledged(url=url, turn_num=turn):
            text = f"The watchtower {_shown(url)} has all up to turn {turn:,}"
            return Happening(place, entry.time, text, "muted", "", None)
        case ConnectionLost(url=url):
            return Happening(place, entry.time, f"The connection to {_shown(url)} was lost", "bad", "", None)
        case ConnectionRestored(url=url):
            return Happening(place, entry.time, f"The connection to {_shown(url)} was there again", "muted", "", None)
        case LogIncluded(log=log, position=position):
            return _of_log(place, entry.time, log, fates, fates.gas.get(position.transaction_hash))
        case _:
            return _of_transaction(place, entry, fates)


def _of_log(place: int, time: int, log: Log, fates: _Fates, gas: int | None) -> Happening:
    tone = "bad" if isinstance(log, ChallengeRegistered) else "good" if isinstance(log, _GOOD) else ""
    is_gone, kind = place in fates.gone, type(log)
    return Happening(place, time, _log_text(log), tone, _SIGNS[kind], None, is_gone=is_gone, gas=gas, log=kind)


def _fault(view: ChannelView, place: int, fault: FaultFound) -> Happening:
    """A fault in a line: its kind. The inspector has its facts."""
    about = "" if fault.refused is None else f", turn {fault.refused.state.turn_num:,}"
    whose, kind = named(view, fault.participant), fault.kind.rpartition(" ")[2]
    text = f"Refused from {whose}{about}: {_shown(kind)}"
    return Happening(place, fault.time, text, "bad", _CROSS, fault.participant, is_fault=True)


def _of_transaction(
    place: int, entry: LogReorged | TxRequested | TxSent | TxMined | TxReorged | TxRefused, fates: _Fates
) -> Happening | None:
    """What our own transactions do; None where another entry says the same."""
    match entry:
        case LogReorged(log=log, position=position):
            text = f"A reorganisation removed {type(log).__name__} from block {position.block_number:,}"
            return Happening(place, entry.time, text, "bad", "", None)
        case TxRequested():
            return None  # what is sent for it says so
        case TxSent(operation=operation, nonce=nonce, replaces=replaces):
            instead = "" if replaces is None else f", in place of {short_hash(replaces, 4)}"
            fee = f"{entry.max_fee / _GWEI:,.3f}".rstrip("0").rstrip(".")
            text = f"Sent {_shown(operation)}: nonce {nonce:,}, at most {fee} gwei a unit of gas{instead}"
            return Happening(place, entry.time, text, "muted", "", None)
        case TxMined(transaction_hash=hash_) if hash_ in fates.logged:
            return None  # its log says so
        case TxMined(operation=operation, block_number=block):
            text, is_gone = f"In block {block:,}: our {_shown(operation)}", place in fates.gone
            return Happening(place, entry.time, text, "muted", "", None, is_gone=is_gone, gas=entry.gas_used)
        case TxReorged(operation=operation):
            text = f"A reorganisation removed our {_shown(operation)}"
            return Happening(place, entry.time, text, "bad", "", None)
        case TxRefused(operation=operation, kind=kind, facts=facts):
            text = f"The chain refused {_shown(operation)}: {_shown(facts or kind)}"
            return Happening(place, entry.time, text, "bad", _CROSS, None)
        case _:
            assert_never(entry)


def _who(view: ChannelView, seat: int) -> str:
    return capitalised(named(view, seat))


def _state(view: ChannelView, state: VariablePart) -> str:
    what = _KINDS[kind_of_state(state.turn_num, state.is_final, view.channel.agreement.count)]
    return f"turn {state.turn_num:,}: {what}"


def _log_text(log: Log) -> str:
    match log:
        case Deposited(asset=asset, held=held):
            return f"Paid in; the channel holds {amount_text(asset, held)}"
        case ChallengeRegistered(state=state):
            return f"Challenge at turn {state.turn_num:,}: the clock starts"
        case Responded(state=state):
            return f"Answered with turn {state.turn_num:,}: the clock stops"
        case Checkpointed(state=state):
            return f"Turn {state.turn_num:,} recorded: the clock stops"
        case Concluded(turn_num=turn):
            return f"Concluded with turn {turn:,}"
        case PartlyPaid(remaining=remaining):
            left = " and ".join(amount_text(each.asset, each.amount) for each in remaining if each.amount)
            return f"Partly paid out; {left or 'nothing'} is still owed"
        case Closed():
            return "Paid out; the channel is closed"
        case Credited(asset=asset, amount=amount):
            return f"{amount_text(asset, amount)} could not be pushed, and can be claimed"
        case Claimed(asset=asset, amount=amount):
            return f"{amount_text(asset, amount)} was claimed"
        case _:
            assert_never(log)


def _shown(text: str) -> str:
    """Text that others may have written."""
    return harmless(text[:_MANY])
