"""Asks a game's bytecode and its Python twin about the same pairs of states, many at a time.

A `Call` is the hand-packed calldata of `validTransition(channelId, from, to, 2)`; a variation of it is a few words put
elsewhere, together with the two states that the varied calldata encodes. `GameHarness` answers for a whole list of
variations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import cache
from typing import NamedTuple

from forcemove.channel.errors import AppError
from forcemove.channel.protocol.app import Rules
from forcemove.channel.protocol.encoding import encode_variable_part_tail, word
from forcemove.channel.protocol.outcome import Allocation, Outcome, address_destination
from forcemove.channel.protocol.state import VariablePart
from tests.evm import Evm, errors_of, function_selector

FROM, TO = 0, 1
ID = bytes.fromhex("c0" * 32)
ALICE, BOB = address_destination(b"\xa1" * 20), address_destination(b"\xb0" * 20)

_TRUE = b"\xff"
_SLACK = bytes(64)
"""Zeros behind the calldata, so that an appData that claims to be longer is refused by the game, not the decoder."""

# Where things stand in an encoded state with two allocations.
TURN_NUM = 2 * 32
_AMOUNTS = (7 * 32, 10 * 32)
LENGTH = 11 * 32
_WORDS = 12 * 32


@cache
def outcome(alice: int, bob: int) -> Outcome:
    """An outcome in ether."""
    return (Allocation(bytes(20), ALICE, alice), Allocation(bytes(20), BOB, bob))


class Variation(NamedTuple):
    """Patches of a call, as the harness reads them without their number, and what the calldata then encodes."""

    patches: tuple[bytes, ...]
    from_: VariablePart
    to: VariablePart


class Call:
    """The calldata for two states, and where to patch it."""

    def __init__(self, from_: VariablePart, to: VariablePart, num_participants: int = 2) -> None:
        self.from_, self.to, self.num_participants = from_, to, num_participants
        tails = (encode_variable_part_tail(from_), encode_variable_part_tail(to))
        head = (ID, word(4 * 32), word(4 * 32 + len(tails[FROM])), word(num_participants))
        self.exact = b"".join((*head, *tails))
        self.calldata = self.exact + _SLACK
        self._starts = (4 + 4 * 32, 4 + 4 * 32 + len(tails[FROM]))

    def patch(self, side: int, position: int, value: bytes) -> bytes:
        """Put a word at a place of one of the two encoded states."""
        return (self._starts[side] + position).to_bytes(2, "big") + value

    def word(self, side: int, index: int, value: int) -> Variation:
        """Another word of appData."""
        changed = value.to_bytes(32, "big")
        patch = self.patch(side, _WORDS + 32 * index, changed)
        old = (self.from_, self.to)[side].app_data
        return self._with_app_data(side, old[: 32 * index] + changed + old[32 * index + 32 :], (patch,))

    def length(self, side: int, length: int) -> Variation:
        """appData that claims another length: what follows it in the calldata becomes part of it."""
        start = self._starts[side] + _WORDS - 4
        patch = self.patch(side, LENGTH, word(length))
        return self._with_app_data(side, self.calldata[start : start + length], (patch,))

    def _with_app_data(self, side: int, app_data: bytes, patches: tuple[bytes, ...]) -> Variation:
        if side == FROM:
            return Variation(patches, self._changed(self.from_, app_data=app_data), self.to)
        return Variation(patches, self.from_, self._changed(self.to, app_data=app_data))

    def amounts(self, side: int, alice: int, bob: int) -> Variation:
        """Other amounts in one of the two outcomes."""
        patches = tuple(self.patch(side, at, word(n)) for at, n in zip(_AMOUNTS, (alice, bob), strict=True))
        if side == FROM:
            return Variation(patches, self._changed(self.from_, outcome_=outcome(alice, bob)), self.to)
        return Variation(patches, self.from_, self._changed(self.to, outcome_=outcome(alice, bob)))

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

    @staticmethod
    def _changed(state: VariablePart, app_data: bytes | None = None, outcome_: Outcome | None = None) -> VariablePart:
        return VariablePart(
            state.outcome if outcome_ is None else outcome_,
            state.app_data if app_data is None else app_data,
            state.turn_num,
        )


def _joined(base: VariablePart, first: VariablePart, second: VariablePart) -> VariablePart:
    if first is base or second is base:
        return second if first is base else first
    old = tuple(_words_of(base.app_data))
    words = [
        b if b != a else c for a, b, c in zip(old, _words_of(first.app_data), _words_of(second.app_data), strict=True)
    ]
    return VariablePart(
        first.outcome if second.outcome is base.outcome else second.outcome, b"".join(words), base.turn_num
    )


def _words_of(app_data: bytes) -> list[bytes]:
    return [app_data[start : start + 32] for start in range(0, len(app_data), 32)]


class Bench:
    """A game's bytecode and its twin, side by side."""

    def __init__(self, contract: str, rules: Rules) -> None:
        self._evm = Evm()
        self._game = bytes.fromhex(self._evm.deploy(contract).removeprefix("0x"))
        self._harness = self._evm.deploy("GameHarness")
        self._contract = contract
        self._selector = function_selector(contract, "validTransition")
        self._valid_transition = rules.valid_transition
        self._encoders = {name: (selector, types) for selector, (name, types) in errors_of(contract).items()}
        self._codes: dict[type[AppError], tuple[bytes, tuple[str, ...]]] = {}
        self.cases = 0

    def compare(self, call: Call, variations: Sequence[Variation]) -> list[bool]:
        """Fail unless both say the same of every variation: the verdict, the error and its values.

        Returns which of them both accept.
        """
        count = call.num_participants
        expected = [self._twin(variation.from_, variation.to, count) for variation in variations]
        actual = self._ask(call, variations)
        self.cases += len(variations)
        if b"".join(expected) != actual:
            self._explain(call, variations, expected, actual)
        return [verdict == _TRUE for verdict in expected]

    def require_accepted(self, call: Call) -> None:
        """Fail unless both accept the call."""
        assert self.compare(call, [call.unchanged()]) == [True], f"{call.from_} -> {call.to}"

    def require_refused(self, call: Call) -> None:
        """Fail unless both refuse the call, for the same reason."""
        assert self.compare(call, [call.unchanged()]) == [False], f"{call.from_} -> {call.to}"

    def ask_raw(self, calldata: bytes) -> tuple[bool, bytes]:
        """Whether the bytecode returned on calldata of any form, and what."""
        return self._evm.call("0x" + self._game.hex(), self._selector + calldata)

    def _ask(self, call: Call, variations: Iterable[Variation]) -> bytes:
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
        returned, data = self._evm.call(self._harness, function_selector("GameHarness", "ask") + b"".join(arguments))
        assert returned, data
        return data[64 : 64 + int.from_bytes(data[32:64], "big")]

    def _twin(self, from_: VariablePart, to: VariablePart, num_participants: int) -> bytes:
        try:
            self._valid_transition(ID, from_, to, num_participants)
        except AppError as error:
            return self._encode(error)
        return _TRUE

    def _encode(self, error: AppError) -> bytes:
        """The revert data that the bytecode must give for the twin's error, with its length in front."""
        kind = type(error)
        if kind not in self._codes:
            selector, types = self._encoders[kind.__name__]
            names = tuple(field.name for field in fields(error))
            assert len(names) == len(types)
            self._codes[kind] = (bytes((4 + 32 * len(names),)) + selector, names)
        head, names = self._codes[kind]
        return head + b"".join([_word(getattr(error, name)) for name in names])

    def _explain(self, call: Call, variations: Sequence[Variation], expected: list[bytes], actual: bytes) -> None:
        for variation, verdict in zip(variations, expected, strict=True):
            alone = self._ask(call, [variation])
            assert alone == verdict, f"{self._contract}: {variation.from_} -> {variation.to}"
        raise AssertionError((expected, actual))


def _word(value: int | bytes) -> bytes:
    return value.to_bytes(32, "big") if isinstance(value, int) else value.rjust(32, b"\0")
