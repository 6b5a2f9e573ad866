"""Asks a game's bytecode and its Python twin about the same pairs of states, many at a time.

A `TransitionCall` is the hand-packed calldata of `validTransition(channelId, from, to, numParticipants)`;
a variation of it is a few words put elsewhere, together with the two states that the varied calldata encodes.
`GameHarness` answers for a whole list of variations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import cache
from typing import NamedTuple

from msgspec.structs import replace

from forcemove.artifact import Artifact
from forcemove.contracts import artifact
from forcemove.errors import AppError
from forcemove.protocol.app import Rules
from forcemove.protocol.encoding import encode_variable_part_tail, word
from forcemove.protocol.rules import without_evidence
from forcemove.protocol.types import UINT256_MAX, Allocation, Outcome, VariablePart, address_destination
from forcemove.testing.difference import ACCEPTED, Pair, TwinsDiffer, bytecode_verdict, explain, twin_verdict
from forcemove.testing.evm import Evm, errors_of, function_selector

__all__ = ["FROM", "ID", "TO", "TURN_NUM", "Bench", "TransitionCall", "Variation", "length_position", "outcome"]

FROM, TO = 0, 1
"""Of a call's two states: the one from which, and the one to which it leads."""
ID = bytes.fromhex("c0" * 32)
"""The channel's id in every call."""

_SLACK = bytes(64)
"""Zeros behind the calldata, so that evidence that claims to be longer is refused by the game, not the decoder."""

# Where a field is in an encoded state. Five words of the head, then the outcome: its length, three words for each
# allocation; then the length of appData, appData filled up to whole words, and evidence in the same way.
TURN_NUM = 3 * 32
"""Where the turn number is in an encoded state."""
_FIRST_AMOUNT = 8 * 32
_ALLOCATION = 3 * 32


def length_position(count: int) -> int:
    """Where the length of appData is, in bytes, in a state with `count` allocations."""
    return 6 * 32 + count * _ALLOCATION


@cache
def outcome(*amounts: int) -> Outcome:
    """An outcome in ether (wei), an amount for each seat."""
    return tuple(Allocation(bytes(20), _destination(seat), amount) for seat, amount in enumerate(amounts))


def _destination(seat: int) -> bytes:
    return address_destination(bytes(((0xA1 + 15 * seat) % 256,)) * 20)


class Variation(NamedTuple):
    """Patches of a call, in the form that the harness reads, without their number, and the two states that the patched
    calldata encodes."""

    patches: tuple[bytes, ...]
    from_: VariablePart
    to: VariablePart


class TransitionCall:
    """The calldata for two states, and the places to patch it at. The evidence of the first one is left out, as the
    adjudicator leaves it out."""

    def __init__(self, from_: VariablePart, to: VariablePart, num_participants: int = 2) -> None:
        self.from_, self.to, self.num_participants = without_evidence(from_), to, num_participants
        tails = (encode_variable_part_tail(self.from_), encode_variable_part_tail(to))
        head = (ID, word(4 * 32), word(4 * 32 + len(tails[FROM])), word(num_participants))
        self.exact = b"".join((*head, *tails))
        self.calldata = self.exact + _SLACK
        self._starts = (4 + 4 * 32, 4 + 4 * 32 + len(tails[FROM]))

    def patch(self, side: int, position: int, value: bytes) -> bytes:
        """Put a word at a place of one of the two encoded states."""
        return (self._starts[side] + position).to_bytes(2, "big") + value

    def word(self, side: int, index: int, value: int) -> Variation:
        """The call with another word of appData."""
        state = (self.from_, self.to)[side]
        patch = self.patch(side, length_position(len(state.outcome)) + 32 + 32 * index, word(value))
        return self._with(side, (patch,), app_data=_with_word(state.app_data, index, value))

    def length(self, side: int, length: int) -> Variation:
        """The call with an appData that claims another length: the bytes after it in the calldata become part of it."""
        position = length_position(len((self.from_, self.to)[side].outcome))
        patch = self.patch(side, position, word(length))
        return self._with(side, (patch,), app_data=self._claimed(side, position, length))

    def evidence_word(self, index: int, value: int) -> Variation:
        """The call with another word of the evidence."""
        patch = self.patch(TO, self._evidence_position + 32 + 32 * index, word(value))
        return self._with(TO, (patch,), evidence=_with_word(self.to.evidence, index, value))

    def evidence_length(self, length: int) -> Variation:
        """The call with evidence that claims another length, at most 64 bytes longer: zeros follow."""
        patch = self.patch(TO, self._evidence_position, word(length))
        return self._with(TO, (patch,), evidence=self._claimed(TO, self._evidence_position, length))

    @property
    def _evidence_position(self) -> int:
        """Where the length of the evidence is in the state to which the call leads."""
        return length_position(len(self.to.outcome)) + 32 + len(self.to.app_data) + -len(self.to.app_data) % 32

    def _claimed(self, side: int, position: int, length: int) -> bytes:
        """The bytes behind a length that is written anew."""
        start = self._starts[side] + position + 32 - 4
        return self.calldata[start : start + length]

    def amounts(self, side: int, *amounts: int) -> Variation:
        """The call with other amounts in one of the two outcomes, one for each seat."""
        changed = tuple(
            replace(entry, amount=amount)
            for entry, amount in zip((self.from_, self.to)[side].outcome, amounts, strict=True)
        )
        places = (_FIRST_AMOUNT + seat * _ALLOCATION for seat in range(len(amounts)))
        patches = tuple(self.patch(side, place, word(n)) for place, n in zip(places, amounts, strict=True))
        return self._with(side, patches, outcome=changed)

    def _with(self, side: int, patches: tuple[bytes, ...], **changed: Outcome | bytes) -> Variation:
        """The call with a field of one of the two states changed."""
        states = [self.from_, self.to]
        states[side] = replace(states[side], is_final=False, **changed)
        return Variation(patches, *states)

    def both(self, first: Variation, second: Variation) -> Variation:
        """Two variations of this call, of different fields, at once."""
        return Variation(
            first.patches + second.patches,
            _joined(self.from_, first.from_, second.from_),
            _joined(self.to, first.to, second.to),
        )

    def unchanged(self) -> Variation:
        """The call as it is."""
        return Variation((), self.from_, self.to)


def _joined(base: VariablePart, first: VariablePart, second: VariablePart) -> VariablePart:
    if first is base or second is base:
        return second if first is base else first
    return replace(
        base,
        outcome=first.outcome if second.outcome is base.outcome else second.outcome,
        app_data=_joined_words(base.app_data, first.app_data, second.app_data),
        evidence=_joined_words(base.evidence, first.evidence, second.evidence),
        is_final=False,
    )


def _joined_words(*data: bytes) -> bytes:
    """The words of the first one, with what the second and the third have instead."""
    words = zip(*map(_words_of, data), strict=True)
    return b"".join(second if second != base else third for base, second, third in words)


def _words_of(data: bytes) -> list[bytes]:
    return [data[start : start + 32] for start in range(0, len(data), 32)]


def _with_word(data: bytes, index: int, value: int) -> bytes:
    return data[: 32 * index] + word(value) + data[32 * index + 32 :]


class Bench:
    """A game's bytecode and its twin, compared."""

    def __init__(self, contract: Artifact, rules: Rules) -> None:
        """`contract`: the compiled game. `rules`: its twin."""
        self._evm, self._asker = Evm(), artifact("GameHarness")
        self._game = bytes.fromhex(self._evm.deploy(contract).removeprefix("0x"))
        self._harness = self._evm.deploy(self._asker)
        self._artifact, self._rules = contract, rules
        self._selector = function_selector(contract, "validTransition")
        self._encoders = {name: (selector, types) for selector, (name, types) in errors_of(contract).items()}
        self._codes: dict[type[AppError], tuple[bytes, tuple[str, ...]]] = {}
        self.cases = 0

    def compare(self, call: TransitionCall, variations: Sequence[Variation]) -> list[bool]:
        """Raise `TwinsDiffer` unless both give the same verdict, error and values for every variation.

        Returns which of the variations both accept.
        """
        expected = [self._twin(call, variation) for variation in variations]
        actual = self._ask(call, variations)
        self.cases += len(variations)
        if b"".join(expected) != actual:
            raise self._difference(call, variations, expected)
        return [verdict == ACCEPTED for verdict in expected]

    def require_accepted(self, call: TransitionCall) -> None:
        """Fail unless both accept the call."""
        if self.compare(call, [call.unchanged()]) != [True]:
            raise AssertionError(f"{self._artifact.name} and its twin refuse {call.from_} -> {call.to}")

    def require_refused(self, call: TransitionCall) -> None:
        """Fail unless both refuse the call, for the same reason."""
        if self.compare(call, [call.unchanged()]) != [False]:
            raise AssertionError(f"{self._artifact.name} and its twin accept {call.from_} -> {call.to}")

    def ask_raw(self, calldata: bytes) -> tuple[bool, bytes]:
        """Whether the bytecode returned on calldata of any form, and the bytes that it returned or reverted with."""
        return self._evm.call("0x" + self._game.hex(), self._selector + calldata)

    def _ask(self, call: TransitionCall, variations: Iterable[Variation]) -> bytes | None:
        """The harness's answer; None where the bytecode's answer is neither true nor a short error."""
        packed = b"".join([bytes((len(v.patches),)) + b"".join(v.patches) for v in variations])
        template = self._selector + call.calldata
        padded = template + bytes(-len(template) % 32)
        arguments = (
            bytes(12) + self._game,
            word(3 * 32),
            word(4 * 32 + len(padded)),
            word(len(template)),
            padded,
            word(len(packed)),
            packed,
            bytes(-len(packed) % 32),
        )
        returned, data = self._evm.call(self._harness, function_selector(self._asker, "ask") + b"".join(arguments))
        if not returned:
            return None
        return data[64 : 64 + int.from_bytes(data[32:64], "big")]

    def _twin(self, call: TransitionCall, variation: Variation) -> bytes:
        """The answer that the harness must give. Any other error of the twin gets a note that names the states."""
        try:
            error = self._error(variation, call.num_participants)
            return ACCEPTED if error is None else self._encode(error)
        except Exception as error:
            error.add_note(self._explain(call, variation, f"fails: {error!r}"))
            raise

    def _error(self, variation: Variation, num_participants: int) -> AppError | None:
        try:
            self._rules.valid_transition(ID, variation.from_, variation.to, num_participants)
        except AppError as error:
            return error
        return None

    def _encode(self, error: AppError) -> bytes:
        """The revert data that the bytecode must give for the twin's error, with its length in front."""
        kind = type(error)
        if kind not in self._codes:
            selector, types = self._encoders[kind.__name__]
            names = tuple(field.name for field in fields(error))
            if len(names) != len(types):
                raise AssertionError(f"{kind.__name__} has {len(names)} values, its Solidity twin {len(types)}")
            self._codes[kind] = (bytes((4 + 32 * len(names),)) + selector, names)
        head, names = self._codes[kind]
        values = [getattr(error, name) for name in names]
        for value in values:
            if isinstance(value, int) and not 0 <= value <= UINT256_MAX:
                raise AssertionError(f"{kind.__name__} has the value {value}, which no word can hold")
        return head + b"".join(map(_word, values))

    def _difference(self, call: TransitionCall, variations: Sequence[Variation], expected: list[bytes]) -> TwinsDiffer:
        for variation, verdict in zip(variations, expected, strict=True):
            if self._ask(call, [variation]) != verdict:
                twin = twin_verdict(self._error(variation, call.num_participants))
                return TwinsDiffer(self._explain(call, variation, twin))
        return TwinsDiffer(f"{self._artifact.name} and its twin differ, but only when asked about many moves at once")

    def _explain(self, call: TransitionCall, variation: Variation, twin: str) -> str:
        pair = Pair(variation.from_, variation.to, (call.from_, call.to))
        bytecode = bytecode_verdict(self._artifact, self._ask(call, [variation]))
        return explain(self._artifact, self._rules, pair, bytecode, twin)


def _word(value: int | bytes) -> bytes:
    return value.to_bytes(32, "big") if isinstance(value, int) else value.rjust(32, b"\0")
