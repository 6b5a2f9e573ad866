"""What the chain would answer if a state were shown to it now: asked of the adjudicator's twin. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from forcemove.browser.drawing.words import with_short_hashes
from forcemove.browser.view import ChannelView
from forcemove.errors import ForcemoveError
from forcemove.history.entries import Entry, StateAccepted, StateSigned
from forcemove.protocol.adjudication import (
    Adjudication,
    OperationResult,
    Transaction,
    challenge,
    checkpoint,
    conclude,
    respond,
)
from forcemove.protocol.app import Rules
from forcemove.protocol.encoding import Domain
from forcemove.protocol.rules import build_support_proof
from forcemove.protocol.types import FixedPart, Signature, SignedState, SupportProof, VariablePart
from forcemove.protocol.words import Holdings, Mode, Status
from forcemove.text.explanations import headline

_ENTRIES_BACK = 20
"""How many entries, for each participant, the states of a proof are looked for in."""


@dataclass(frozen=True, slots=True)
class ChainAnswer:
    """`operation`: the adjudicator's, in one word; `refusal`: why it would refuse, empty where it would not."""

    operation: str
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class _Question:
    """All that an answer depends on: it is the same until one of these changes, and takes some signatures to find.

    - `domain`, `fixed_part`, `id`: of the channel.
    - `rules`: of its game.
    - `status`, `holdings`, `recorded`: what the adjudicator has.
    - `now`: a time with the clock's mode, not the time itself.
    - `sender`: who asks, 20 bytes.
    - `state`, `signatures`, `proof`: what is shown to it.
    """

    domain: Domain
    fixed_part: FixedPart
    id: bytes
    rules: Rules
    status: Status
    holdings: tuple[tuple[bytes, Holdings], ...]
    recorded: VariablePart | None
    now: int
    sender: bytes
    state: VariablePart
    signatures: tuple[tuple[int, Signature], ...]
    proof: SupportProof | None


def answers_to(view: ChannelView, signed: SignedState, place: int) -> tuple[ChainAnswer, ...]:
    """One for each operation that a state allows by its signatures; none where it proves nothing. `place`: of the
    state's entry in the history, from which the states before it are taken."""
    channel, record = view.channel, view.channel.record
    agreement, fixed_part = channel.agreement, channel.agreement.fixed_part
    if agreement.is_friendly:
        return ()
    states = _states_before(view.history.entries, place, signed, agreement.count)
    question = _Question(
        agreement.domain,
        fixed_part,
        agreement.channel_id,
        view.game,
        channel.status,
        tuple(
            (asset, Holdings(channel.held(asset), record.payout_begun, record.closed))
            for asset, _ in agreement.deposits
        ),
        None if record.recorded is None else record.recorded.state,
        _moment(channel.status, view.now),
        fixed_part.participants[channel.index],
        signed.state,
        tuple(sorted(signed.signatures.items())),
        build_support_proof(fixed_part, states),
    )
    return _answers(question)


def _moment(status: Status, now: int) -> int:
    """A time at which the clock is in the mode that it has now."""
    return status.finalizes_at if status.mode(now) is Mode.FINALIZED else max(0, status.finalizes_at - 1)


def _states_before(entries: Sequence[Entry], place: int, signed: SignedState, count: int) -> list[SignedState]:
    """The state and those before it that a proof of it can need, oldest first."""
    states = [signed]
    for entry in reversed(entries[max(0, place - _ENTRIES_BACK * count) : place]):
        if len(states) > count:
            break
        if isinstance(entry, StateSigned | StateAccepted):
            state = entry.signed.state
            if state.turn_num == signed.state.turn_num - len(states):
                states.append(entry.signed)
    return states[::-1]


@lru_cache(maxsize=64)
def _answers(asked: _Question) -> tuple[ChainAnswer, ...]:
    return tuple(_tried(operation, act) for operation, act in _operations(asked))


def _tried(operation: str, act: Callable[[], OperationResult]) -> ChainAnswer:
    try:
        act()
    except ForcemoveError as error:
        return ChainAnswer(operation, with_short_hashes(headline(error)))
    return ChainAnswer(operation)


def _operations(asked: _Question) -> Iterator[tuple[str, Callable[[], OperationResult]]]:
    """The operations that could be sent, each as the twin carries it out."""
    fixed_part, state, rules, proof = asked.fixed_part, asked.state, asked.rules, asked.proof
    holdings = {(asked.id, asset): held for asset, held in asked.holdings}
    before = Adjudication(asked.domain, {(asked.id, fixed_part.asset): asked.status}, holdings)
    transaction, signatures = Transaction(asked.sender, asked.now), dict(asked.signatures)
    if state.is_final and len(signatures) == len(fixed_part.participants):
        signed = [signatures[seat] for seat in sorted(signatures)]
        yield "conclude", lambda: conclude(before, transaction, fixed_part, state.outcome, state.turn_num, signed)
    if proof is not None:
        yield "challenge", lambda: challenge(before, transaction, fixed_part, proof, None, rules)
        yield "checkpoint", lambda: checkpoint(before, transaction, fixed_part, proof, rules)
    recorded, signature = asked.recorded, signatures.get(fixed_part.mover(state.turn_num))
    if recorded is not None and signature is not None and state.turn_num == recorded.turn_num + 1:
        yield "respond", lambda: respond(before, transaction, fixed_part, recorded, state, signature, rules)
