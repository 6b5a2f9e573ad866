"""What a cheat signs and sends, on a page and in every demonstration: states and proofs that none of our clients would
make. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from forcemove.game import Game
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.codec.wire import encode_message
from forcemove.protocol.encoding import digest, hash_state
from forcemove.protocol.rules import build_support_proof
from forcemove.protocol.signing import Key
from forcemove.protocol.types import Outcome, SignedState, SupportProof, VariablePart


def illegal_move(
    game: Game, agreement: Agreement, key: Key, newest: VariablePart, number: int = 0
) -> tuple[str, bytes] | None:
    """What is wrong with a move that the game forbids, and the message with it, signed by its mover; None where the
    game has none.

    - `game`: which forbids it.
    - `agreement`: of the channel.
    - `key`: the mover's.
    - `newest`: the state after which it is made.
    - `number`: which of the forbidden moves.
    """
    moves = game.illegal_moves(newest)
    if not moves:
        return None
    label, state = moves[number % len(moves)]
    signed = signed_by(agreement, key, state, [state.turn_num % agreement.count])
    return label, encode_message(agreement.channel_id, signed)


def forged_message(agreement: Agreement, cheat: int, key: Key, newest: VariablePart) -> bytes:
    """A message with a final state that pays everything to the cheat, with the others' signatures made up. `cheat`: its
    seat; `key`: the cheat's."""
    state = VariablePart(_all_to(newest.outcome, cheat), b"", newest.turn_num + 1, True)
    return encode_message(agreement.channel_id, signed_by(agreement, key, state, range(agreement.count)))


def signed_by(agreement: Agreement, key: Key, state: VariablePart, seats: Iterable[int]) -> SignedState:
    """A state with this key's signature in the place of each of these participants'."""
    signature = key.sign(digest(agreement.domain, hash_state(agreement.channel_id, state).state))
    return SignedState(state, dict.fromkeys(seats, signature))


def old_proof(
    agreement: Agreement, signed: Mapping[int, SignedState], above: int, below: int, cheat: int
) -> SupportProof | None:
    """A proof of an old state: of those between the turns `above` and `below`, both left out, the one that pays the
    cheat most, the oldest of them. None where there is none.

    - `agreement`: of the channel.
    - `signed`: the states that were signed, by turn.
    - `above`: the turn that the chain has recorded, -1 for none.
    - `below`: the newest turn.
    - `cheat`: the cheat's seat.
    """
    found: list[SupportProof] = []
    for turn in range(max(above, agreement.count - 2) + 1, below):
        states = [signed[each] for each in range(turn - agreement.count + 1, turn + 1) if each in signed]
        proof = build_support_proof(agreement.fixed_part, states)
        if proof is not None and proof.states[-1].turn_num == turn:
            found.append(proof)
    return max(found, key=lambda each: each.states[-1].outcome[cheat].amount, default=None)


def _all_to(outcome: Outcome, seat: int) -> Outcome:
    total = sum(each.amount for each in outcome)
    return tuple(replace(each, amount=total if index == seat else 0) for index, each in enumerate(outcome))
