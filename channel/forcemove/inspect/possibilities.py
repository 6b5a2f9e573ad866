"""What the participants of a channel could do now, from one signed state: by the rules alone, with no chain at hand.

A participant that holds more than this state may be able to do more. The words of actions are part of the JSON that
`forcemove inspect --json` prints; the explanations are for people and may change.
"""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.inspect.states import StateKind, kind_of_state
from forcemove.protocol.types import FixedPart, VariablePart

ACTIONS = (
    "sign",
    "countersign",
    "move",
    "finish",
    "deposit",
    "challenge",
    "respond",
    "checkpoint",
    "conclude",
    "transfer",
    "claim",
    "wait",
    "nothing",
)
"""The words for everything that a participant could do."""


@dataclass(frozen=True, slots=True)
class PossibleAction:
    """`action`: one of `ACTIONS`; `explanation`: a clause for people."""

    action: str
    explanation: str


_CONCLUDE = PossibleAction("conclude", "send this final state, signed by all, to the adjudicator: all are paid at once")


def turn_actions(
    fixed_part: FixedPart, state: VariablePart, signers: frozenset[int], index: int
) -> list[PossibleAction]:
    """What participant `index` could do off chain about a valid state that `signers` have signed."""
    mover = fixed_part.mover(state.turn_num)
    everybody = len(signers) == len(fixed_part.participants)
    if mover not in signers and not everybody:
        return [_unmade(state, mover, index)]
    if state.is_final:
        return [] if everybody else [_countersign_final(signers, index)]
    return [
        *_deposit(fixed_part, state, index),
        *_next_turn(fixed_part, state, index),
        *(
            []
            if index in signers
            else [PossibleAction("countersign", "sign this state, too, which then takes less to prove")]
        ),
    ]


def _unmade(state: VariablePart, mover: int, index: int) -> PossibleAction:
    if index == mover:
        return PossibleAction(
            "sign", f"sign it: turn {state.turn_num} is its own, and the state is worth nothing until then"
        )
    return PossibleAction("wait", f"wait for participant {mover}, whose turn {state.turn_num} is")


def _countersign_final(signers: frozenset[int], index: int) -> PossibleAction:
    if index in signers:
        return PossibleAction("wait", "wait for the others to sign it, too; then it can be concluded")
    return PossibleAction("countersign", "sign it, too: once all have, anybody can conclude")


def _deposit(fixed_part: FixedPart, state: VariablePart, index: int) -> list[PossibleAction]:
    """Between the last prefund state and a participant's own postfund state it pays in."""
    count = len(fixed_part.participants)
    if not count - 1 <= state.turn_num < count + index:
        return []
    return [PossibleAction("deposit", "pay its allocation into the channel, once all prefund states are signed")]


def _next_turn(fixed_part: FixedPart, state: VariablePart, index: int) -> list[PossibleAction]:
    turn = state.turn_num + 1
    mover = fixed_part.mover(turn)
    if index != mover:
        return [PossibleAction("wait", f"wait for participant {mover}, whose turn {turn} is")]
    texts = {
        StateKind.PREFUND: f"sign the prefund state of turn {turn}, where this is exactly what was agreed",
        StateKind.POSTFUND: (
            f"sign the postfund state of turn {turn}, once the channel holds all that the outcome allocates"
        ),
        StateKind.APP: f"make the next move: sign a state of turn {turn}",
    }
    kind = kind_of_state(turn, False, len(fixed_part.participants))
    finish = PossibleAction("finish", f"sign a final state of turn {turn} with this outcome, for all to sign")
    # Before the prefund states are signed there is nothing to pay out.
    return [PossibleAction("move", texts[kind]), *([] if kind is StateKind.PREFUND else [finish])]


# ----------------------------------------------------------------------------------------------------------- disputes


def missing_support(fixed_part: FixedPart, state: VariablePart, signers: frozenset[int]) -> str | None:
    """What is missing for a support proof of the state; None where this state alone, signed by all, is one."""
    absent = [index for index in range(len(fixed_part.participants)) if index not in signers]
    if not absent:
        return None
    first = _first_turn_of_proof(fixed_part, state, signers)
    who = ", ".join(map(str, absent))
    if first == state.turn_num:
        return f"the signature of participant {who} under this very state"
    return f"{_turns(first, state)}, with the signature of participant {who}"


def _first_turn_of_proof(fixed_part: FixedPart, state: VariablePart, signers: frozenset[int]) -> int:
    """A proof begins with the last turn of the absent signer that moved longest ago, or with turn 0."""
    count, turn = len(fixed_part.participants), state.turn_num
    ages = [(turn - index) % count for index in range(count) if index not in signers]
    return max(0, turn - max(ages, default=0))


def _turns(first: int, state: VariablePart) -> str:
    last = state.turn_num - 1
    return f"the state of turn {first}" if first == last else f"the states of turns {first} to {last}"


def dispute_actions(fixed_part: FixedPart, state: VariablePart, signers: frozenset[int]) -> list[PossibleAction]:
    """What any participant who has the earlier states, too, could ask of the adjudicator with a valid state, where
    nothing later is recorded there."""
    everybody = len(signers) == len(fixed_part.participants)
    if state.is_final and everybody:
        return [_CONCLUDE]
    first = _first_turn_of_proof(fixed_part, state, signers)
    if fixed_part.mover(state.turn_num) not in signers or not (everybody or first < state.turn_num):
        return []
    means = "this state" if everybody else f"this state and {_turns(first, state)}"
    seconds = f"{fixed_part.challenge_duration:,} seconds"
    return [
        PossibleAction(
            "challenge", f"start the clock with {means}, {seconds} to answer, unless something later is recorded"
        ),
        PossibleAction("checkpoint", f"have {means} stop a running clock, unless something later is recorded"),
    ]
