"""What has happened, entry by entry: a sign for the timeline and a line for the list. Pure.

A history has up to 10,000 entries, and a page shows a window of them: only what is in the window is looked at closely,
and what is said of an entry is remembered, since with the next move the same is said of all the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Generic, NamedTuple, TypeVar, assert_never

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
from forcemove.protocol import logs
from forcemove.protocol.types import SignedState
from forcemove.rounds import state_words
from forcemove.text.entries import entry_text, signer_of
from forcemove.text.harmless import harmless
from forcemove.text.situation.moment import capitalised, named

MadeT = TypeVar("MadeT")
_MOST = 2_048


class EntryMemo(Generic[MadeT]):
    """What was made of entries. An entry is known by its identity: it has lists in it, which nobody can look up, and
    the reader of a history keeps its entries."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Entry, object, MadeT]] = {}

    def of(self, entry: Entry, context: object, make: Callable[[], MadeT]) -> MadeT:
        """What was made of an entry, or is made of it now.

        - `entry`: of a history.
        - `context`: all else that it is made from.
        - `make`: makes it.
        """
        found = self._made.get(id(entry))
        if found is not None and found[0] is entry and found[1] == context:
            return found[2]
        made = make()
        self._made.pop(id(entry), None)
        self._made[id(entry)] = entry, context, made
        if len(self._made) > _MOST:
            del self._made[next(iter(self._made))]
        return made


# ---------------------------------------------------------------------------------------------------- what has happened

WINDOW = 52
"""Signs on one timeline."""
_BACK = 3
"""States back in which the one before is looked for: it comes just before, unless two of one turn did."""
_CROSS = "\N{MULTIPLICATION X}"
_SIGNS: dict[type, str] = {
    logs.Deposited: "D",
    logs.ChallengeRegistered: "C",
    logs.Responded: "R",
    logs.Checkpointed: "P",
    logs.Concluded: "\N{CHECK MARK}",
    logs.Closed: "\N{CHECK MARK}",
    logs.PartlyPaid: "T",
    logs.Credited: "$",
    logs.Claimed: "$",
}
"""The sign of each log on the timeline."""
_GOOD = (logs.Responded, logs.Checkpointed, logs.Concluded, logs.Closed)
"""The logs that end a clock, or all of it."""
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


_said: EntryMemo[Happening] = EntryMemo()


def _happening(view: ChannelView, place: int, entry: Entry, fates: _Fates) -> Happening | None:
    """One entry; None where another one says the same."""
    context = (view.channel.agreement.channel_id, view.channel.index, view.names, view.tokens)
    found = Happening(place, *_said.of(entry, context, lambda: _alone(view, place, entry))[1:])
    match entry:
        case LogIncluded(position=position):
            return found._replace(is_gone=place in fates.gone, gas=fates.gas.get(position.transaction_hash))
        case TxRequested():
            return None  # what is sent for it says so
        case TxMined(transaction_hash=hash_, gas_used=gas):
            return None if hash_ in fates.logged else found._replace(is_gone=place in fates.gone, gas=gas)
        case _:
            return found


def _alone(view: ChannelView, place: int, entry: Entry) -> Happening:
    """What an entry says wherever it stands, whatever has come after it."""
    text = capitalised(entry_text(entry, view.channel, partial(named, view), partial(_words, view, place), view.tokens))
    found = Happening(0, entry.time, text, "", "", None)
    match entry:
        case StateSigned(signed=signed) | StateAccepted(signed=signed):
            return found._replace(sign=str(signed.state.turn_num), lane=signer_of(entry, view.channel))
        case SignatureAdded(turn_num=turn, participant=seat):
            return found._replace(sign=str(turn), lane=seat, is_ring=True)
        case FaultFound(participant=participant):
            return found._replace(tone="bad", sign=_CROSS, lane=participant, is_fault=True)
        case AppointmentAcknowledged() | ConnectionRestored() | TxSent() | TxMined() | TxRequested():
            return found._replace(tone="muted")
        case ConnectionLost() | LogReorged() | TxReorged():
            return found._replace(tone="bad")
        case LogIncluded(log=log):
            tone = "bad" if isinstance(log, logs.ChallengeRegistered) else "good" if isinstance(log, _GOOD) else ""
            return found._replace(tone=tone, sign=_SIGNS[type(log)], log=type(log))
        case TxRefused():
            return found._replace(tone="bad", sign=_CROSS)
        case _:
            assert_never(entry)


def _words(view: ChannelView, place: int, signed: SignedState) -> str:
    """What a state says; a game is not ours, and the page must be there whatever it does."""
    entries, turn = view.history.entries, signed.state.turn_num - 1
    back = (entries[at] for at in range(place - 1, -1, -1))
    earlier = (each for each in back if isinstance(each, StateSigned | StateAccepted))
    before = next((each.signed.state for each in islice(earlier, _BACK) if each.signed.state.turn_num == turn), None)
    try:
        return harmless(state_words(view.game, before, signed.state, view.channel.agreement.count))
    except Exception:
        return "a move"
