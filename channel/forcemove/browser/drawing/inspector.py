"""The inspector: all that can be said of one entry of a history, a state's signatures and what could be done with it
first. Pure: what the chain would answer is asked of its twin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from forcemove.browser.drawing.answers import ChainAnswer, answers_to
from forcemove.browser.drawing.words import short_hash
from forcemove.browser.view import ChannelView
from forcemove.chain.addresses import show_address
from forcemove.history.entries import (
    Entry,
    FaultFound,
    LogIncluded,
    LogReorged,
    SignatureAdded,
    StateAccepted,
    StateSigned,
    TxMined,
    TxSent,
)
from forcemove.inspect.apps import KnownApp, KnownBy, NoPosition, PositionFacts, read_position
from forcemove.inspect.possibilities import PossibleAction
from forcemove.inspect.signed_state import SignedStateReport, report_signed_state
from forcemove.inspect.states import SignatureVerdict
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.codec.wire import SignedStateFile
from forcemove.protocol.encoding import digest, hash_state
from forcemove.protocol.logs import recorded_state
from forcemove.protocol.types import Signature, SignedState, VariablePart
from forcemove.text.amounts import amount_text
from forcemove.text.harmless import harmless
from forcemove.text.situation.moment import capitalised, named, shown_names

_VERDICTS = {
    SignatureVerdict.SIGNED: ("verified", "good"),
    SignatureVerdict.MISSING: ("missing", "muted"),
    SignatureVerdict.WRONG: ("wrong", "bad"),
}
_MANY = 400
_STATES = (StateSigned, StateAccepted, SignatureAdded)


class Field(NamedTuple):
    """`name`, `value`; `is_code`: whether it is digits; `tone`: `good`, `bad`, `muted` or empty."""

    name: str
    value: str
    is_code: bool = False
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Actor:
    """What one participant could do with a state."""

    name: str
    actions: tuple[PossibleAction, ...]


@dataclass(frozen=True, slots=True)
class Inspected:
    """`title`: the entry's line; `fields`: its facts; `could`: what each participant could do; `answers`: what the
    chain would answer now."""

    title: str
    fields: tuple[Field, ...]
    could: tuple[Actor, ...] = ()
    answers: tuple[ChainAnswer, ...] = ()


def shown_place(view: ChannelView) -> int | None:
    """The entry that is shown: the one that was asked for, else the newest state; None where there is nothing."""
    entries = view.history.entries
    if view.at is not None and 0 <= view.at < len(entries):
        return view.at
    newest = next((place for place in range(len(entries) - 1, -1, -1) if isinstance(entries[place], _STATES)), None)
    return len(entries) - 1 if newest is None and entries else newest


def inspected(view: ChannelView, place: int, title: str) -> Inspected:
    """All that can be said of the entry at `place`. `title`: its line."""
    entry = view.history.entries[place]
    signed = _state_of(view, place, entry)
    facts = tuple(_facts(entry))
    if signed is None:
        return Inspected(title, facts)
    found = _report(
        view.channel.agreement,
        KnownApp(view.game, KnownBy.CODE),
        signed.state,
        tuple(sorted(signed.signatures.items())),
    )
    could = tuple(Actor(_who(view, seat), actions) for seat, actions in enumerate(found.could))
    answers = () if found.problem or found.has_wrong_signature else answers_to(view, signed, place)
    return Inspected(title, (*facts, *_state_fields(view, found)), could, answers)


@lru_cache(maxsize=64)
def _report(
    agreement: Agreement, app: KnownApp, state: VariablePart, signatures: tuple[tuple[int, Signature], ...]
) -> SignedStateReport:
    """What can be said of a state by itself: the same is asked for with each update of a page, and recovers
    signatures."""
    file = SignedStateFile(agreement.domain, agreement.fixed_part, SignedState(state, dict(signatures)))
    return report_signed_state(file, app)


def _who(view: ChannelView, seat: int) -> str:
    return capitalised(named(view, seat))


def _state_of(view: ChannelView, place: int, entry: Entry) -> SignedState | None:
    """The state that an entry is about, with the signatures that it had by then."""
    match entry:
        case StateSigned(signed=signed) | StateAccepted(signed=signed):
            return signed
        case FaultFound(refused=refused):
            return refused
        case SignatureAdded(turn_num=turn):
            return _with_signatures(view.history.entries, place, turn)
        case LogIncluded(log=log) | LogReorged(log=log):
            state = recorded_state(log)
            return None if state is None else SignedState(state, {})
        case _:
            return None


def _with_signatures(entries: Sequence[Entry], place: int, turn: int) -> SignedState | None:
    added = {}
    for each in reversed(entries[: place + 1]):
        match each:
            case SignatureAdded(turn_num=number, participant=seat, signature=signature) if number == turn:
                added[seat] = signature
            case StateSigned(signed=signed) | StateAccepted(signed=signed) if signed.state.turn_num == turn:
                return SignedState(signed.state, {**signed.signatures, **added})
            case _:
                pass
    return None


# -------------------------------------------------------------------------------------------------------------- fields


def _facts(entry: Entry) -> Iterator[Field]:
    """What an entry has beside its state."""
    match entry:
        case FaultFound(kind=kind, facts=facts):
            yield Field("fault", f"{harmless(kind)[:_MANY]}: {harmless(facts)[:_MANY]}", tone="bad")
        case LogIncluded(log=log, position=position) | LogReorged(log=log, position=position):
            yield Field("event", type(log).__name__)
            yield Field("block", f"{position.block_number:,}, {short_hash(position.block_hash)}", is_code=True)
            yield Field("transaction", f"0x{position.transaction_hash.hex()}", is_code=True)
        case TxSent():
            yield Field("transaction", f"0x{entry.transaction_hash.hex()}", is_code=True)
            yield Field("nonce", f"{entry.nonce:,}", is_code=True)
            yield Field("highest fee", f"{entry.max_fee:,} wei a unit of gas, tip {entry.tip:,}", is_code=True)
        case TxMined():
            yield Field("transaction", f"0x{entry.transaction_hash.hex()}", is_code=True)
            yield Field("block", f"{entry.block_number:,}, {short_hash(entry.block_hash)}", is_code=True)
            yield Field("gas", f"{entry.gas_used:,} at {entry.gas_price:,} wei", is_code=True)
        case StateAccepted(from_chain=True):
            yield Field("came by", "the chain")
        case _:
            pass


def _state_fields(view: ChannelView, found: SignedStateReport) -> Iterator[Field]:
    state = found.state.state
    yield Field("turnNum", str(state.turn_num), is_code=True)
    yield Field("isFinal", str(state.is_final).lower(), is_code=True)
    yield Field("appData", short_hash(state.app_data, 12) if state.app_data else "0x", is_code=True)
    if state.evidence:
        yield Field("evidence", short_hash(state.evidence, 12), is_code=True)
    yield from _position(view, found)
    for index, each in enumerate(found.state.pays):
        to = "another channel" if each.account is None else show_address(each.account)
        amount = amount_text(each.allocation.asset, each.allocation.amount, view.tokens)
        yield Field(f"outcome[{index}]", f"{amount} \N{RIGHTWARDS ARROW} {to}", is_code=True)
    hashes = hash_state(found.channel_id, state)
    yield Field("digest", short_hash(digest(found.file.domain, hashes.state), 12), is_code=True)
    for check in found.signatures:
        verdict, tone = _VERDICTS[check.verdict]
        yield Field("signature", f"{_who(view, check.participant)}: {verdict}", tone=tone)
    if found.problem is not None:
        yield Field("problem", harmless(str(found.problem))[:_MANY], tone="bad")
    yield Field("proof", "this state alone" if found.support is None else f"takes {found.support}")


def _position(view: ChannelView, found: SignedStateReport) -> Iterator[Field]:
    """The position, as the game reads it."""
    match read_position(found.app, found.state.state, shown_names(view.names)):
        case PositionFacts(description=description, data=data):
            yield Field("position", harmless(description)[:_MANY])
            values = ", ".join(f"{name} {_value(value)}" for name, value in data.items())
            yield Field("decoded", harmless(values)[:_MANY], is_code=True)
        case NoPosition(problem=problem):
            yield Field("position", harmless(f"none: {problem}")[:_MANY], tone="bad")
        case None:
            pass


def _value(value: object) -> str:
    if isinstance(value, list | tuple):
        return "[" + " ".join("\N{MIDDLE DOT}" if each is None else str(each) for each in value) + "]"
    text = str(value)
    return f"{text[:18]}\N{HORIZONTAL ELLIPSIS}" if len(text) > 20 and text.startswith("0x") else text
