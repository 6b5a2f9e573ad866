"""What a player may know of a channel now, and do: one pure function of the channel, its history and the time.

Screens are made of it. It has values and no sentences: names, words and colours are a screen's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from forcemove.errors import ForcemoveError
from forcemove.game import Choice
from forcemove.history.entries import (
    AppointmentAcknowledged,
    ConnectionLost,
    ConnectionRestored,
    Entry,
    TxMined,
    TxRefused,
    TxReorged,
    TxRequested,
    TxSent,
)
from forcemove.history.history import ChannelHistory
from forcemove.protocol.machine.automatic_actions import answer_margin, best_held_answer
from forcemove.protocol.machine.channel import Channel, Phase
from forcemove.protocol.machine.results import ChannelResult, Share, result_of, shares_of
from forcemove.protocol.rules import build_proof_from_record, build_support_proof
from forcemove.protocol.types import SignedState, VariablePart

OptionKind = str
"""`move`, `challenge` or `leave`."""
MOVE, CHALLENGE, LEAVE = "move", "challenge", "leave"
_TELLING = frozenset(
    {
        AppointmentAcknowledged,
        ConnectionLost,
        ConnectionRestored,
        TxMined,
        TxRefused,
        TxReorged,
        TxRequested,
        TxSent,
    }
)
"""The kinds of entries that say how safe money is: most entries are states, and are passed over at once."""


@dataclass(frozen=True, slots=True)
class Option:
    """One thing that the player can do now.

    - `kind`: a move of the game's, a challenge of who is silent, or leaving with the next turn.
    - `word`: what a person types; empty but for a move.
    - `text`: what the game says of a move; empty else.
    - `shares`: what everybody would be paid if the game ended after it; of leaving on another's turn, what is now.
    - `gas`: units of gas that it costs us, None where that is not known.
    """

    kind: OptionKind
    word: str
    text: str
    shares: tuple[Share, ...]
    gas: int | None


@dataclass(frozen=True, slots=True)
class Silence:
    """What follows if a participant that is waited for says and does nothing more, and everybody else does what their
    clients do by themselves.

    - `participant`: its index.
    - `finalizes_at`: the block time (seconds) from which the channel pays, where a clock runs; else None.
    - `seconds`: from a challenge until the channel pays.
    - `shares`: what everybody would be paid then; None where nobody has anything to show to the chain yet.
    """

    participant: int
    finalizes_at: int | None
    seconds: int
    shares: tuple[Share, ...] | None


@dataclass(frozen=True, slots=True)
class PendingTransaction:
    """Our transaction that is not mined yet. `operation`: the adjudicator's, in one word. `nonce`, `max_fee` (wei
    for a unit of gas): of the newest version, None where none was sent; `versions`: how many were sent; `refused`: the
    error's name, where the chain has refused the last one."""

    operation: str
    nonce: int | None
    max_fee: int | None
    versions: int
    refused: str


@dataclass(frozen=True, slots=True)
class Safety:
    """How safe our money is, and by what.

    - `is_genuine`: whether the contracts were found to be the ones that were agreed on.
    - `is_funded`: whether the channel holds all deposits, as deep in the chain as we believe logs.
    - `is_denied`: whether an endpoint denies what another one shows.
    - `provable_turn`: the newest turn that we can prove to the chain without anybody's help, None for none.
    - `watched_turn`: the newest turn that a watchtower has acknowledged, None for none.
    - `is_connected`: whether messages go and come, as far as the history knows.
    - `pending`: our transactions on their way.
    - `deposit_block`: the number of the block that has our newest deposit, while it is not as deep as we believe logs;
      else None.
    """

    is_genuine: bool
    is_funded: bool
    is_denied: bool
    provable_turn: int | None
    watched_turn: int | None
    is_connected: bool
    pending: tuple[PendingTransaction, ...]
    deposit_block: int | None = None


@dataclass(frozen=True, slots=True)
class ChainDepth:
    """`head`: the number of the chain's newest block, -1 where none was seen; `needed`: how many blocks deep something
    must be to be believed, 1 is the newest block. `answering`: how many endpoints have answered within the last half
    minute; `silent`: seconds since any has answered, 0 while one answers; `failure`: why one does not, None while one
    answers, or where that is not known."""

    head: int
    needed: int
    answering: int
    silent: int
    failure: ForcemoveError | None = None


@dataclass(frozen=True, slots=True)
class Overview:
    """A channel at one moment.

    - `phase`: the channel's.
    - `next_turn`: of the next state.
    - `mover`: the participant whose turn that is.
    - `is_ours`: whether it is ours.
    - `result`: everybody's shares if all signed the end now, and how the channel has ended, if it has.
    - `answer_by`: the block time (seconds) at which our client answers a challenge by itself, None where none runs that
      we are to answer.
    - `silence`: what follows if the participant that is waited for is silent, None where nobody is waited for.
    - `options`: what we can do.
    - `safety`: how safe our money is.
    - `to_come`: by asset (20 bytes), what the chain still owes us.
    """

    phase: Phase
    next_turn: int
    mover: int
    is_ours: bool
    result: ChannelResult
    answer_by: int | None
    silence: Silence | None
    options: tuple[Option, ...]
    safety: Safety
    to_come: tuple[tuple[bytes, int], ...]


def overview(
    channel: Channel,
    history: ChannelHistory,
    now: int,
    *,
    choices: Sequence[Choice] = (),
    gas: Mapping[str, int] | None = None,
) -> Overview:
    """What a player may know of a channel, and do.

    - `channel`: as it is now.
    - `history`: of the channel.
    - `now`: the chain's time, seconds.
    - `choices`: what the game offers us, see `Game.choices`; none where it is not our turn.
    - `gas`: units of gas by the adjudicator's operation, as far as known.
    """
    phase, gas = channel.phase(now), gas or {}
    return Overview(
        phase,
        channel.next_turn,
        channel.next_turn % channel.agreement.count,
        channel.is_our_turn,
        result_of(channel, now),
        _answer_by(channel, phase),
        _silence(channel, phase),
        _options(channel, phase, choices, gas),
        _safety(channel, history),
        _to_come(channel, phase, now),
    )


# ------------------------------------------------------------------------------------------------------------- silence


def _silence(channel: Channel, phase: Phase) -> Silence | None:
    participant = None if channel.agreement.is_friendly else _waited_for(channel, phase)
    if participant is None:
        return None
    duration = channel.agreement.fixed_part.challenge_duration
    if phase is Phase.CHALLENGED and (recorded := _unanswered(channel)) is not None:
        return Silence(participant, channel.status.finalizes_at, duration, shares_of(channel, recorded.outcome))
    proved = _newest_provable(channel)
    return Silence(participant, None, duration, None if proved is None else shares_of(channel, proved.outcome))


def _waited_for(channel: Channel, phase: Phase) -> int | None:
    """The participant that is to act next, None where nobody is."""
    match phase:
        case Phase.CHECKING | Phase.FINALIZED | Phase.CLOSED:
            return None
        case Phase.FUNDING if (unpaid := _next_depositor(channel)) is not None:
            return unpaid
        case Phase.CONCLUDING:
            signed = channel.accepted[-1].signed.signatures
            return next((each for each in range(channel.agreement.count) if each not in signed), None)
        case Phase.CHALLENGED if _unanswered(channel) is not None:
            return (channel.status.turn_num_record + 1) % channel.agreement.count
        case _ if channel.cannot_sign_next:
            return None
        case _:
            return channel.next_turn % channel.agreement.count


def _next_depositor(channel: Channel) -> int | None:
    """The first participant whose deposit is missing."""
    found = []
    for asset, amounts in channel.agreement.deposits:
        held, total = channel.held(asset), 0
        for index, amount in enumerate(amounts):
            total += amount
            if held < total:
                found.append(index)
                break
    return min(found, default=None)


def _unanswered(channel: Channel) -> VariablePart | None:
    """The challenged state, unless our client holds an answer to it."""
    recorded = channel.record.recorded
    if recorded is None or not channel.status.finalizes_at:
        return None
    challenged = recorded.signed_by(channel.agreement.fixed_part.participants)
    return None if best_held_answer(channel, challenged) is not None else recorded.state


def _newest_provable(channel: Channel) -> VariablePart | None:
    """The newest state that we can prove to the chain by ourselves."""
    states, recorded = channel.signed_states, channel.record.recorded
    for end in range(len(states), 0, -1):
        if _is_provable(channel, states[:end], None if recorded is None else recorded.state):
            return states[end - 1].state
    superseded = channel.superseded_states
    if superseded and _is_provable(channel, superseded, None):
        return superseded[-1].state
    return None if recorded is None else recorded.state


def _is_provable(channel: Channel, states: Sequence[SignedState], recorded: VariablePart | None) -> bool:
    fixed_part = channel.agreement.fixed_part
    if build_support_proof(fixed_part, states) is not None:
        return True
    return recorded is not None and (
        states[-1].state == recorded or build_proof_from_record(fixed_part, recorded, states) is not None
    )


def _answer_by(channel: Channel, phase: Phase) -> int | None:
    if phase is not Phase.CHALLENGED or not channel.must_move:
        return None
    return channel.status.finalizes_at - answer_margin(channel.agreement.fixed_part.challenge_duration)


# ------------------------------------------------------------------------------------------------------------- options


def _options(channel: Channel, phase: Phase, choices: Sequence[Choice], gas: Mapping[str, int]) -> tuple[Option, ...]:
    newest, cannot_sign = channel.newest, channel.cannot_sign_next
    if newest is None or (channel.leaving and not cannot_sign) or phase not in (Phase.PLAYING, Phase.CHALLENGED):
        return ()
    onto_chain = gas.get("respond") if channel.must_move else 0
    found = [Option(MOVE, each.word, each.text, shares_of(channel, each.move.outcome), onto_chain) for each in choices]
    now = shares_of(channel, newest.state.outcome)
    if not channel.agreement.is_friendly and phase is Phase.PLAYING and not channel.may_sign_next:
        found.append(Option(CHALLENGE, "", "", now, gas.get(CHALLENGE)))
    return tuple(found) if cannot_sign else (*found, Option(LEAVE, "", "", now, gas.get("conclude")))


# -------------------------------------------------------------------------------------------------------------- safety


def _safety(channel: Channel, history: ChannelHistory) -> Safety:
    proved, telling = _newest_provable(channel), [each for each in history.notes if type(each) in _TELLING]
    watched = [each.turn_num for each in telling if isinstance(each, AppointmentAcknowledged)]
    connection = [each for each in telling if isinstance(each, ConnectionLost | ConnectionRestored)]
    return Safety(
        channel.genuine,
        channel.is_funded,
        channel.is_denied,
        None if proved is None else proved.turn_num,
        max(watched, default=None),
        not connection or isinstance(connection[-1], ConnectionRestored),
        _pending(telling),
        None if _holds_ours(channel) else _deposit_block(telling),
    )


def _holds_ours(channel: Channel) -> bool:
    """Whether the channel is known to hold, or to have held, our deposit of every asset."""
    if channel.record.payout_begun:
        return True
    expected = ((asset, sum(amounts[: channel.index + 1])) for asset, amounts in channel.agreement.deposits)
    return all(channel.held(asset) >= total for asset, total in expected)


def _deposit_block(entries: Sequence[Entry]) -> int | None:
    """The block of our newest deposit that is mined, and that no reorganisation has removed."""
    mined: dict[tuple[bytes, bytes], int] = {}
    for each in entries:
        match each:
            case TxMined(request=request, operation="deposit", block_hash=hash_, block_number=number):
                mined[request, hash_] = number
            case TxReorged(request=request, block_hash=hash_):
                mined.pop((request, hash_), None)
    return max(mined.values(), default=None)


def _pending(entries: Sequence[Entry]) -> tuple[PendingTransaction, ...]:
    """The requests whose transactions are not mined, oldest first."""
    pending: dict[bytes, PendingTransaction] = {}
    mined: dict[bytes, PendingTransaction] = {}
    for each in entries:
        match each:
            case TxRequested(request=request, operation=operation):
                pending[request] = PendingTransaction(operation, None, None, 0, "")
            case TxSent(request=request) if request in pending:
                was = pending[request]
                pending[request] = replace(
                    was, nonce=each.nonce, max_fee=each.max_fee, versions=was.versions + 1, refused=""
                )
            case TxRefused(request=request) if request in pending:
                pending[request] = replace(pending[request], refused=each.kind)
            case TxMined(request=request) if request in pending:
                mined[request] = pending.pop(request)
            case TxReorged(request=request) if request in mined:
                pending[request] = mined.pop(request)
    return tuple(pending.values())


def _to_come(channel: Channel, phase: Phase, now: int) -> tuple[tuple[bytes, int], ...]:
    owed = dict(channel.credits)
    if phase is Phase.FINALIZED:
        for share in result_of(channel, now).shares:
            if share.participant == channel.index:
                owed[share.asset] = owed.get(share.asset, 0) + share.payable
    return tuple(sorted((asset, amount) for asset, amount in owed.items() if amount))
