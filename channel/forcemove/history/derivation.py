"""Makes a history's entries: of a channel before and after a step, and of what the chain shows. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from forcemove.errors import ForcemoveError
from forcemove.history import entries
from forcemove.history.index import HistoryIndex
from forcemove.protocol.codec.msgpack_codec import SUBMISSIONS
from forcemove.protocol.encoding import hash_state
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.logs import Log
from forcemove.protocol.machine.channel import Accepted, Channel
from forcemove.protocol.machine.effects import Submission, operation_name
from forcemove.protocol.machine.peer_messages import require_signatures
from forcemove.protocol.types import MIN_PARTICIPANTS, SignedState


def author_of(channel: Channel, refused: SignedState | None) -> int | None:
    """Whose fault a refused message is: the index of the only counterparty; among more, that of the mover who has
    signed the refused state. None where nobody's signature says so: anybody can send what anybody has signed."""
    if channel.agreement.count == MIN_PARTICIPANTS:
        return 1 - channel.index
    if refused is None:
        return None
    mover = channel.agreement.fixed_part.mover(refused.state.turn_num)
    signature = refused.signatures.get(mover)
    if signature is None or mover == channel.index:
        return None
    try:
        hashes = hash_state(channel.agreement.channel_id, refused.state)
        require_signatures(channel, hashes, {mover: signature})
    except ForcemoveError:
        return None
    return mover


def state_entries(before: Channel, after: Channel, time: int, *, from_chain: bool) -> list[entries.Entry]:
    """The states that were signed or accepted in one step, in the order of turns.

    - `before`, `after`: the channel around the step.
    - `time`: see `entries`.
    - `from_chain`: whether the step has taken in a chain update.
    """
    if before.accepted is after.accepted:
        return []
    ours = None if after.last_signed in (None, before.last_signed) else after.last_signed
    found: list[entries.Entry] = []
    known = set(map(id, before.accepted))
    for each in after.accepted:
        if id(each) not in known:
            found += _entered(before, each, after.index, time, ours=ours, from_chain=from_chain)
    return found


def _entered(
    before: Channel, accepted: Accepted, index: int, time: int, *, ours: tuple[int, bytes] | None, from_chain: bool
) -> Iterable[entries.Entry]:
    """What a state that was not accepted in just this form before adds. `ours`: turn and hash of what we have signed in
    this step."""
    state = accepted.hashes.state
    if accepted.signed.state.turn_num < before.next_turn:
        for known in before.accepted:
            if known.hashes.state == state:
                return _added(known, accepted, index, time)
    if ours is None or ours[1] != state:
        return (entries.StateAccepted(time, accepted.signed, from_chain),)
    if len(accepted.signed.signatures) == 1:
        return (entries.StateSigned(time, accepted.signed),)
    return _countersigned(accepted.signed, index, time, from_chain=from_chain)


def _countersigned(signed: SignedState, index: int, time: int, *, from_chain: bool) -> Iterable[entries.Entry]:
    """A counterparty's state that we have signed in the same step."""
    others = {each: signature for each, signature in signed.signatures.items() if each != index}
    yield entries.StateAccepted(time, SignedState(signed.state, others), from_chain)
    yield entries.SignatureAdded(time, signed.state.turn_num, index, signed.signatures[index])


def _added(before: Accepted, after: Accepted, ours: int, time: int) -> Iterator[entries.Entry]:
    """The signatures that a known state has got: others' before ours."""
    new = after.signed.signatures.keys() - before.signed.signatures.keys()
    for index in sorted(new, key=lambda each: (each == ours, each)):
        yield entries.SignatureAdded(time, after.state.turn_num, index, after.signed.signatures[index])


# ------------------------------------------------------------------------------------------------------------ the chain


def log_entries(
    index: HistoryIndex, shown: Sequence[tuple[Log, entries.LogPosition]], after_block: int, time: int
) -> list[entries.Entry]:
    """What a chain's logs add to a history: those that are new, after those that are gone.

    - `index`: of the history.
    - `shown`: all logs of the channel in the blocks after `after_block`, in their order.
    - `after_block`: the number of a block; -1 where all logs are shown.
    - `time`: see `entries`.
    """
    keys = {(position.block_hash, position.log_index) for _, position in shown}
    standing = [each for each in index.logs.values() if each.position.block_number > after_block]
    gone = [each for each in reversed(standing) if (each.position.block_hash, each.position.log_index) not in keys]
    new = [each for each in shown if (each[1].block_hash, each[1].log_index) not in index.logs]
    found: list[entries.Entry] = [entries.LogReorged(time, each.log, each.position) for each in gone]
    blocks = {each.position.block_hash for each in gone}
    for mined in index.mined.values():
        if mined.block_hash in blocks:
            found.append(_reorged(mined, time))
    return found + [entries.LogIncluded(time, *each) for each in new]


def request_of(submission: Submission) -> bytes:
    """The 32 bytes that name what a channel asks of the chain."""
    return keccak256(SUBMISSIONS.encode(submission))


def request_entries(index: HistoryIndex, before: Channel, after: Channel, time: int) -> list[entries.Entry]:
    """The transactions that were asked for in one step; one that was asked for before, and is not mined, is not named
    again."""
    if before.requested is after.requested:
        return []
    new = [each for each in after.requested if each not in before.requested]
    named = [(request_of(each), each) for each in new]
    return [
        entries.TxRequested(time, request, operation_name(each))
        for request, each in named
        if request not in index.requested
    ]


def mined_entries(index: HistoryIndex, mined: entries.TxMined) -> list[entries.Entry]:
    """What a mined transaction adds to a history: nothing where the history has it; where another block had it before,
    that it was removed there."""
    known = index.mined.get(mined.request)
    if known is None:
        return [mined]
    if (known.transaction_hash, known.block_hash) == (mined.transaction_hash, mined.block_hash):
        return []
    return [_reorged(known, mined.time), mined]


def refused_entries(index: HistoryIndex, refused: entries.TxRefused) -> list[entries.Entry]:
    """What a refusal adds to a history: nothing where the same request was refused for the same reason before."""
    return [] if index.refusals.get(refused.request) == (refused.kind, refused.facts) else [refused]


def _reorged(mined: entries.TxMined, time: int) -> entries.TxReorged:
    return entries.TxReorged(time, mined.request, mined.operation, mined.transaction_hash, mined.block_hash)
