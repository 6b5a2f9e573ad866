"""What Bob may do at any time: say anything that his key and what Alice has signed allow, and send any transaction.

Of what he may say only what can change Alice is listed: what she has heard, and what she refuses whatever comes with
it, changes nothing. A few forgeries are listed all the same, so that who takes one is found. Of what he may record
there is for two players no more than this: a state that Alice has signed, and his own legal successors of such a state
and of the recorded one.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from forcemove.protocol.encoding import digest, hash_state
from forcemove.protocol.machine.effects import (
    Submission,
    SubmitChallenge,
    SubmitCheckpoint,
    SubmitConclude,
    SubmitDeposit,
    SubmitRespond,
    SubmitTransfer,
)
from forcemove.protocol.machine.inputs import Greeted, Input, StateReceived
from forcemove.protocol.state import SignedState, SupportProof, VariablePart
from forcemove.protocol.status import Mode
from forcemove.protocol.types import ETHER, Signature
from tests.checking.world import Setting, World

__all__ = ["deposits", "messages", "transactions"]


def messages(setting: Setting, world: World) -> Iterator[tuple[str, Input]]:
    """What he may say now, with words for it."""
    bob, alice = 1 - setting.bounds.seat, world.alice
    newest = alice.newest
    if alice.next_turn % 2 == bob:
        for state in _next_states(setting, newest.state if newest else None, alice.next_turn):
            yield _said(f"Bob sends {words(state)}", setting, state)
        if newest is not None and newest.state.turn_num >= 1:
            greedy = _greedy(newest.state, setting.bounds.seat)
            yield _said("Bob sends a final state that pays him everything", setting, greedy)
    elif newest is not None and newest.state.turn_num >= 4 and bob in newest.signed.signatures:
        for state in _others(setting, newest.state):
            yield _said(f"Bob sends another state of turn {state.turn_num}: {words(state)}", setting, state)
    if newest is not None and bob not in newest.signed.signatures and (newest.state.is_final or setting.bounds.strays):
        yield _said(f"Bob sends his signature of {words(newest.state)}", setting, newest.state)
    if setting.bounds.greetings:
        for turn in range(alice.next_turn + 2):
            yield f"Bob greets, at turn {turn}", Greeted(bob, turn)


def _said(how: str, setting: Setting, state: VariablePart) -> tuple[str, Input]:
    return how, StateReceived(SignedState(state, {1 - setting.bounds.seat: _sign(setting, state)}))


def _greedy(from_: VariablePart, seat: int) -> VariablePart:
    """A final state after this one that pays nothing to that seat: nobody may take it for good."""
    total = sum(each.amount for each in from_.outcome)
    shares = (0, total) if seat == 0 else (total, 0)
    outcome = tuple(replace(each, amount=share) for each, share in zip(from_.outcome, shares, strict=True))
    return VariablePart(outcome, b"", from_.turn_num + 1, True)


def _others(setting: Setting, state: VariablePart) -> list[VariablePart]:
    """Of the same turn, after the same position."""
    before = setting.game.before(state)
    return [] if before is None else [each for each in setting.game.moves(before) if each != state]


def deposits(setting: Setting, world: World) -> Iterator[tuple[str, Submission]]:
    """His deposit, where it is not there."""
    bob = 1 - setting.bounds.seat
    held = world.chain.holdings_of(setting.agreement.channel_id, ETHER).amount
    expected = setting.deposit * bob
    if not world.record.payout_begun and expected <= held < expected + setting.deposit:
        yield "Bob pays in", SubmitDeposit(ETHER, expected, setting.deposit)


def transactions(setting: Setting, world: World) -> Iterator[tuple[str, Submission]]:
    """All others that may do anything."""
    record = world.record
    if record.closed:
        return
    mode = world.chain.status_of(setting.agreement.channel_id).mode(world.now)
    if mode is Mode.FINALIZED:
        if record.owed is not None:
            yield "Bob has it paid out", SubmitTransfer(record.owed.state_hash, record.owed.outcome, ())
        return
    recorded = record.recorded.state if record.recorded else None
    yield from _proved(setting, world, recorded)
    if recorded is not None and mode is Mode.OPEN:
        yield f"Bob challenges with the record, {words(recorded)}", SubmitChallenge(SupportProof((recorded,), (), 0))
    if recorded is not None and mode is Mode.CHALLENGE:
        for response, signature in _responses(setting, world, recorded):
            yield f"Bob responds with {words(response)}", SubmitRespond(recorded, response, signature)
    for signed in (each for each in world.signed if each.state.is_final):
        end, pair = signed.state, _both(setting, signed)
        yield f"Bob concludes with {words(end)}", SubmitConclude(end.outcome, end.turn_num, pair)


def _proved(setting: Setting, world: World, recorded: VariablePart | None) -> Iterator[tuple[str, Submission]]:
    """Challenges and checkpoints with all that he can prove above the record."""
    status = world.chain.status_of(setting.agreement.channel_id)
    least = 0 if status.is_empty else status.turn_num_record + 1
    known = _known(setting, world, recorded)
    for number, (state, proofs) in enumerate(known):
        if state.turn_num < least:
            continue
        is_chosen = setting.bounds.all_states or number == 0 or number >= len(known) - 2
        for how, proof in proofs:
            if is_chosen:
                yield f"Bob challenges with {words(state)} ({how})", SubmitChallenge(proof)
            yield f"Bob checkpoints {words(state)} ({how})", SubmitCheckpoint(proof)


def words(state: VariablePart) -> str:
    """A state, in short."""
    if state.is_final:
        return f"the final state of turn {state.turn_num}"
    if state.turn_num < 4:
        return f"the {'prefund' if state.turn_num < 2 else 'postfund'} state of turn {state.turn_num}"
    return f"the state of turn {state.turn_num}, at {state.app_data.hex() or 'the beginning'}"


def _known(
    setting: Setting, world: World, recorded: VariablePart | None
) -> list[tuple[VariablePart, list[tuple[str, SupportProof]]]]:
    """What he can prove, lowest turn first, each with all the ways in which it can be proved."""
    seat, bob = setting.bounds.seat, 1 - setting.bounds.seat
    found: dict[VariablePart, list[tuple[str, SupportProof]]] = {}
    for signed in world.signed:
        state = signed.state
        found.setdefault(state, []).append(("signed by both", SupportProof((state,), _both(setting, signed), 0)))
        for mine in _successors(setting, state, bob):
            pair = _ordered(seat, signed.signatures[seat], _sign(setting, mine))
            proof = SupportProof((state, mine), pair, 1 << 8 * bob)
            found.setdefault(mine, []).append(("after what Alice has signed", proof))
            if state == recorded:
                found[mine].append(("after the record", SupportProof((state, mine), (_sign(setting, mine),), 0)))
    if recorded is not None:
        for mine in _successors(setting, recorded, bob):
            proof = SupportProof((recorded, mine), (_sign(setting, mine),), 0)
            if ("after the record", proof) not in found.setdefault(mine, []):
                found[mine].append(("after the record", proof))
        for signed in world.signed:
            if signed.state.turn_num == recorded.turn_num + 1:
                proof = SupportProof((recorded, signed.state), (signed.signatures[seat],), 0)
                found[signed.state].append(("after the record", proof))
    return sorted(found.items(), key=lambda each: each[0].turn_num)


def _responses(setting: Setting, world: World, recorded: VariablePart) -> Iterator[tuple[VariablePart, Signature]]:
    seat = setting.bounds.seat
    for mine in _successors(setting, recorded, 1 - seat):
        yield mine, _sign(setting, mine)
    for signed in world.signed:
        if signed.state.turn_num == recorded.turn_num + 1 and signed.state.turn_num % 2 == seat:
            yield signed.state, signed.signatures[seat]
    for forged in _successors(setting, recorded, seat):
        yield forged, _sign(setting, forged)


def _successors(setting: Setting, state: VariablePart, mover: int) -> list[VariablePart]:
    return _next_states(setting, state, state.turn_num + 1) if (state.turn_num + 1) % 2 == mover else []


def _next_states(setting: Setting, from_: VariablePart | None, turn_num: int) -> list[VariablePart]:
    """The legal ones of this turn."""
    agreement = setting.agreement
    if from_ is None:
        return [agreement.setup_state(turn_num)]
    end = VariablePart(from_.outcome, b"", turn_num, True)
    if from_.is_final:
        return [end]
    if turn_num < 4:
        return [agreement.setup_state(turn_num), end]
    return [*setting.game.moves(from_), end]


def _both(setting: Setting, signed: SignedState) -> tuple[Signature, Signature]:
    return _ordered(setting.bounds.seat, signed.signatures[setting.bounds.seat], _sign(setting, signed.state))


def _ordered(seat: int, hers: Signature, his: Signature) -> tuple[Signature, Signature]:
    return (hers, his) if seat == 0 else (his, hers)


def _sign(setting: Setting, state: VariablePart) -> Signature:
    hashes = hash_state(setting.agreement.channel_id, state)
    return setting.bob.sign(digest(setting.domain, hashes.state))
