"""What Bob may do at any time: say anything that his key and what Alice has signed allow, and send any transaction.
Where three play, he and Carol act as one, with both keys.

Of what he may say only what can change Alice is listed: what she has heard, and what she refuses whatever comes with
it, changes nothing. A few forgeries are listed all the same, so that who takes one is found; and he says again what she
has said, with his signature. Of what he may record there is no more than this: a state that Alice has signed, and legal
successors of such a state and of the recorded one, up to her next turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from forcemove.protocol.encoding import digest, hash_state
from forcemove.protocol.machine import channel, effects, inputs
from forcemove.protocol.types import ETHER, Signature, SignedState, SupportProof, VariablePart
from forcemove.protocol.words import Mode
from tests.checking.world import Setting, World
from tests.protocol.builders import pack_pattern, usual_pattern

__all__ = ["deposits", "messages", "transactions"]


def messages(setting: Setting, world: World) -> Iterator[tuple[str, inputs.Input]]:
    """What he may say now, with words for it."""
    alice = world.alice
    if setting.is_theirs(alice.next_turn):
        yield from _next(setting, alice)
    for each in alice.accepted:
        if each is not alice.newest or each.state.is_final or setting.bounds.strays:
            yield from _countersigned(setting, each)
    if alice.newest is not None and alice.newest.state.turn_num % setting.count in alice.newest.signed.signatures:
        for state in _others(setting, alice.newest.state):
            yield _said(setting, state, f"sends another state of turn {state.turn_num}: {words(setting, state)}")
    if setting.bounds.greetings:
        for seat in setting.others:
            for turn in range(alice.next_turn + 2):
                yield f"{setting.names[seat]} greets, at turn {turn}", inputs.Greeted(seat, turn)


def _next(setting: Setting, alice: channel.Channel) -> Iterator[tuple[str, inputs.Input]]:
    """What may follow the newest state that she has, and a final state that may not."""
    newest = None if alice.newest is None else alice.newest.state
    for state in _next_states(setting, newest, alice.next_turn):
        yield _said(setting, state, f"sends {words(setting, state)}")
    if newest is not None and newest.turn_num >= setting.count - 1:
        greedy = _greedy(newest, setting.bounds.seat)
        yield _said(setting, greedy, "sends a final state that pays Alice nothing")


def _countersigned(setting: Setting, accepted: channel.Accepted) -> Iterator[tuple[str, inputs.Input]]:
    """A state that she has, with one signature of theirs that she has not."""
    for seat in setting.others:
        if seat not in accepted.signed.signatures:
            yield _said(setting, accepted.state, f"adds a signature to {words(setting, accepted.state)}", seat)


def _said(setting: Setting, state: VariablePart, how: str, seat: int | None = None) -> tuple[str, inputs.Input]:
    """Of a seat, or of its mover."""
    signer = state.turn_num % setting.count if seat is None else seat
    said = inputs.StateReceived(SignedState(state, {signer: _sign(setting, state, signer)}))
    return f"{setting.names[signer]} {how}", said


def _greedy(from_: VariablePart, seat: int) -> VariablePart:
    """A final state after this one that pays nothing to that seat: nobody may take it for good."""
    taker = 1 if seat == 0 else 0
    amounts = [each.amount for each in from_.outcome]
    amounts[taker], amounts[seat] = amounts[taker] + amounts[seat], 0
    outcome = tuple(replace(each, amount=share) for each, share in zip(from_.outcome, amounts, strict=True))
    return VariablePart(outcome, b"", from_.turn_num + 1, True)


def _others(setting: Setting, state: VariablePart) -> list[VariablePart]:
    """Of the same turn of theirs, after the same position."""
    before = setting.game.before(state) if setting.is_theirs(state.turn_num) else None
    return [] if before is None else [each for each in setting.game.moves(before) if each != state]


def deposits(setting: Setting, world: World) -> Iterator[tuple[str, effects.Submission]]:
    """Their deposits, where they are not there."""
    held = world.chain.holdings_of(setting.agreement.channel_id, ETHER).amount
    for seat in setting.others:
        expected = setting.deposit * seat
        if not world.record.payout_begun and expected <= held < expected + setting.deposit:
            yield f"{setting.names[seat]} pays in", effects.SubmitDeposit(ETHER, expected, setting.deposit)


def transactions(setting: Setting, world: World) -> Iterator[tuple[str, effects.Submission]]:
    """All others that may do anything."""
    record = world.record
    if record.closed:
        return
    mode = world.chain.status_of(setting.agreement.channel_id).mode(world.now)
    if mode is Mode.FINALIZED:
        if record.owed is not None:
            yield "Bob has it paid out", effects.SubmitTransfer(record.owed.state_hash, record.owed.outcome, ())
        return
    recorded = record.recorded.state if record.recorded else None
    yield from _proved(setting, world, recorded)
    if recorded is not None and mode is Mode.OPEN:
        how = f"Bob challenges with the record, {words(setting, recorded)}"
        yield how, effects.SubmitChallenge(SupportProof((recorded,), (), 0))
    if recorded is not None and mode is Mode.CHALLENGE:
        for response, signature in _responses(setting, world, recorded):
            yield f"Bob responds with {words(setting, response)}", effects.SubmitRespond(recorded, response, signature)
    for signed in (each for each in world.signed if each.state.is_final):
        end, proof = signed.state, _proof(setting, (signed.state,), signed)
        yield (
            f"Bob concludes with {words(setting, end)}",
            effects.SubmitConclude(end.outcome, end.turn_num, proof.signatures),
        )


def _proved(setting: Setting, world: World, recorded: VariablePart | None) -> Iterator[tuple[str, effects.Submission]]:
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
                yield f"Bob challenges with {words(setting, state)} ({how})", effects.SubmitChallenge(proof)
            yield f"Bob checkpoints {words(setting, state)} ({how})", effects.SubmitCheckpoint(proof)


def words(setting: Setting, state: VariablePart) -> str:
    """A state, in short."""
    if state.is_final:
        return f"the final state of turn {state.turn_num}"
    if state.turn_num < 2 * setting.count:
        return f"the {'prefund' if state.turn_num < setting.count else 'postfund'} state of turn {state.turn_num}"
    return f"the state of turn {state.turn_num}, at {state.app_data.hex() or 'the beginning'}"


def _known(
    setting: Setting, world: World, recorded: VariablePart | None
) -> list[tuple[VariablePart, list[tuple[str, SupportProof]]]]:
    """What he can prove, lowest turn first, each with all the ways in which it can be proved."""
    found: dict[VariablePart, list[tuple[str, SupportProof]]] = {}
    for signed in world.signed:
        for path in _paths(setting, (signed.state,)):
            how = "after what Alice has signed" if len(path) > 1 else "signed by all"
            found.setdefault(path[-1], []).append((how, _proof(setting, path, signed)))
    hers = {each.state: each for each in world.signed}
    for path in _paths(setting, (recorded,), list(hers)) if recorded is not None else ():
        later = [_signature(setting, hers, each) for each in path[1:]]
        if later:
            proof = SupportProof(path, tuple(later), 0)
            found.setdefault(path[-1], []).append(("after the record", proof))
    return sorted(found.items(), key=lambda each: each[0].turn_num)


def _paths(
    setting: Setting, path: tuple[VariablePart, ...], hers: Sequence[VariablePart] = ()
) -> Iterator[tuple[VariablePart, ...]]:
    """This one, and with all that they can add to it, step by step, as long as a proof can be. `hers`: what she has
    signed, which they can add on her turns."""
    yield path
    if len(path) < setting.count:
        turn = path[-1].turn_num + 1
        added = _next_states(setting, path[-1], turn)
        for each in added if setting.is_theirs(turn) else [each for each in hers if each in added]:
            yield from _paths(setting, (*path, each), hers)


def _proof(setting: Setting, path: tuple[VariablePart, ...], signed: SignedState) -> SupportProof:
    """Of a path that begins with a state that she has signed: each other signs the state of its own turn, or the first
    one."""
    pattern = usual_pattern(path, setting.count)
    assert pattern[setting.bounds.seat] == 0
    signatures = [_sign(setting, path[pattern[seat]], seat) for seat in range(setting.count)]
    signatures[setting.bounds.seat] = signed.signatures[setting.bounds.seat]
    return SupportProof(path, tuple(signatures), pack_pattern(pattern))


def _signature(setting: Setting, hers: Mapping[VariablePart, SignedState], state: VariablePart) -> Signature:
    """Its mover's."""
    seat = state.turn_num % setting.count
    return hers[state].signatures[seat] if seat == setting.bounds.seat else _sign(setting, state, seat)


def _responses(setting: Setting, world: World, recorded: VariablePart) -> Iterator[tuple[VariablePart, Signature]]:
    """By the mover; on her turn with what she has signed, and forgeries of Bob's."""
    turn = recorded.turn_num + 1
    forger = turn % setting.count if setting.is_theirs(turn) else setting.others[0]
    if not setting.is_theirs(turn):
        for signed in (each for each in world.signed if each.state.turn_num == turn):
            yield signed.state, signed.signatures[setting.bounds.seat]
    for state in _next_states(setting, recorded, turn):
        yield state, _sign(setting, state, forger)


def _next_states(setting: Setting, from_: VariablePart | None, turn_num: int) -> list[VariablePart]:
    """The legal ones of this turn."""
    agreement = setting.agreement
    if from_ is None:
        return [agreement.setup_state(turn_num)]
    end = VariablePart(from_.outcome, b"", turn_num, True)
    if from_.is_final:
        return [end]
    if turn_num < 2 * setting.count:
        return [agreement.setup_state(turn_num), end]
    return [*setting.game.moves(from_), end]


def _sign(setting: Setting, state: VariablePart, seat: int) -> Signature:
    """Never called to sign for Alice but where her own signature takes its place."""
    hashes = hash_state(setting.agreement.channel_id, state)
    return setting.keys[seat].sign(digest(setting.domain, hashes.state))
