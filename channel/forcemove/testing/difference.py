"""The text about a difference between a game's bytecode and its twin: both verdicts in words, both positions, and the
move."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from random import Random

from forcemove.artifact import Artifact
from forcemove.errors import AppError
from forcemove.game import Game, Move, seat_names
from forcemove.protocol.app import Rules
from forcemove.protocol.types import VariablePart
from forcemove.rounds import position_line
from forcemove.testing.evm import decode_error, selector, signature_of

__all__ = ["Pair", "TwinsDiffer", "bytecode_verdict", "explain", "twin_verdict"]

ACCEPTED = b"\xff"
"""The harness's answer for a pair that the bytecode accepts; else it is a length and the revert data."""

_PANIC, _TEXT = selector("Panic(uint256)"), selector("Error(string)")
_PANICS = {
    0x01: "an assertion failed",
    0x11: "arithmetic overflow",
    0x12: "division by zero",
    0x21: "no value of an enum",
    0x32: "an index is out of bounds",
}
_WORD = 32
_INDENT = "    "


class TwinsDiffer(AssertionError):
    """Bytecode and twin give two verdicts, two errors, or one error with other values, about one pair of states."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two states that were compared, and the two states of the move that they were made from."""

    from_: VariablePart
    to: VariablePart
    made_of: tuple[VariablePart, VariablePart]


def bytecode_verdict(artifact: Artifact, answer: bytes | None) -> str:
    """The meaning of the harness's answer for one pair; None: the bytecode's answer was neither true nor a short
    error."""
    if answer is None:
        return "neither accepts it with true nor refuses it with an error of at most 254 bytes"
    return "accepts it" if answer == ACCEPTED else f"refuses it with {_decoded(artifact, answer[1:])}"


def twin_verdict(error: AppError | None) -> str:
    """The twin's verdict in words; `error` is None if it accepts."""
    if error is None:
        return "accepts it"
    values = {each.name.rstrip("_"): getattr(error, each.name) for each in fields(error)}
    return f"refuses it with {_error(type(error).__name__, values)}"


def explain(artifact: Artifact, rules: Rules, pair: Pair, bytecode: str, twin: str) -> str:
    """A text that explains where a contract and its twin differ.

    - `artifact`: the compiled contract.
    - `rules`: the twin.
    - `pair`: the two states that they judge differently.
    - `bytecode`: the contract's verdict, in words.
    - `twin`: the twin's verdict, in words.
    """
    seats = len(pair.from_.outcome) or 1
    return "\n".join(
        (
            f"{artifact.name} and its twin differ about the move of participant {(pair.from_.turn_num + 1) % seats} "
            f"on turn {pair.to.turn_num}{_as_word(rules, pair)}:",
            f"{_INDENT}{artifact.name} {bytecode}",
            f"{_INDENT}the twin {twin}",
            *_state("before", rules, pair.from_),
            *_state("after", rules, pair.to),
            *_changes(pair),
        )
    )


# -------------------------------------------------------------------------------------------------------------- errors


def _decoded(artifact: Artifact, data: bytes) -> str:
    if not data:
        return "no error: the ABI decoder refuses the calldata, or it reverts without a reason"
    if data[:4] == _PANIC:
        code = int.from_bytes(data[4:], "big")
        return f"Panic({code:#x}): {_PANICS.get(code, 'see the Solidity manual')}"
    if data[:4] == _TEXT:
        return f"Error({data[4 + 2 * _WORD :].rstrip(bytes(1)).decode('utf-8', 'replace')!r})"
    names = {selector(signature_of(entry)): entry for entry in artifact.abi if entry["type"] == "error"}
    if data[:4] not in names:
        return f"an error that its ABI does not declare: 0x{data.hex()}"
    found = decode_error(artifact, data)
    assert found is not None, "there are data"  # noqa: S101
    inputs = [item["name"] for item in names[data[:4]]["inputs"]]
    return _error(found.name, dict(zip(inputs, found.values, strict=True)))


def _error(name: str, values: Mapping[str, object]) -> str:
    return f"{name}({', '.join(f'{key}={_value(value)}' for key, value in values.items())})"


def _value(value: object) -> str:
    if isinstance(value, bytes):
        return f"0x{value.hex()}"
    return f"{value:#x}" if isinstance(value, int) and value >= 2**64 else str(value)


# ----------------------------------------------------------------------------------------------------------- positions


def _as_word(rules: Rules, pair: Pair) -> str:
    """The word that a person types to make the move, where the game has one for it."""
    if not isinstance(rules, Game):
        return ""
    try:
        choices = rules.choices(pair.from_, Random(0).randbytes, b"")  # noqa: S311  # nothing secret
    except Exception:
        return ""
    move = Move(pair.to.outcome, pair.to.app_data, pair.to.evidence)
    words = [f", {each.word!r} ({each.text})" for each in choices if each.move == move]
    return words[0] if words else ""


def _state(when: str, rules: Rules, state: VariablePart) -> Iterator[str]:
    yield f"{when} (turn {state.turn_num}; amounts {', '.join(_value(each.amount) for each in state.outcome)}):"
    if isinstance(rules, Game):
        yield from (f"{_INDENT}{line}" for line in _drawn(rules, state))
    yield f"{_INDENT}appData: {' '.join(map(_short, _words_of(state.app_data))) or 'empty'}"
    if state.evidence:
        yield f"{_INDENT}evidence: {' '.join(map(_short, _words_of(state.evidence)))}"


def _drawn(game: Game, state: VariablePart) -> list[str]:
    """The position as people see it. An error while it is drawn must not hide the difference."""
    names = seat_names(len(state.outcome))
    lines: list[str] = []
    try:
        lines.append(position_line(game, None, state, names))
        lines += game.board(state, names).splitlines()
        lines.append(", ".join(f"{key}={_value(value)}" for key, value in game.position(state).items()))
    except AppError as error:
        lines.append(f"no position: the twin {twin_verdict(error)}")
    except Exception as error:
        lines.append(f"the game cannot draw it: {error!r}")
    return lines


def _words_of(data: bytes) -> list[bytes]:
    return [data[at : at + _WORD] for at in range(0, len(data), _WORD)]


def _short(word: bytes) -> str:
    return f"{int.from_bytes(word, 'big'):#x}" if len(word) == _WORD else f"and {len(word)} bytes 0x{word.hex()}"


def _changes(pair: Pair) -> Iterator[str]:
    """How the pair differs from the move that it was made from."""
    changed = [
        line
        for when, was, is_ in zip(("before", "after"), pair.made_of, (pair.from_, pair.to), strict=True)
        for line in _changed(when, was, is_)
    ]
    if changed:
        yield "It was made of a legal move, or of what was asked about, by a change:"
        yield from (f"{_INDENT}{line}" for line in changed)


def _changed(when: str, was: VariablePart, is_: VariablePart) -> Iterator[str]:
    for what, was_, now in (("appData", was.app_data, is_.app_data), ("evidence", was.evidence, is_.evidence)):
        if len(was_) != len(now):
            yield f"{when}: {what} of {len(now)} bytes instead of {len(was_)}"
            continue
        for index, (old, new) in enumerate(zip(_words_of(was_), _words_of(now), strict=True)):
            if old != new:
                yield f"{when}: word {index} of {what} is {_short(new)} instead of {_short(old)}"
    for seat, (old_entry, new_entry) in enumerate(zip(was.outcome, is_.outcome, strict=False)):
        if old_entry != new_entry:
            yield f"{when}: participant {seat} has {_value(new_entry.amount)} instead of {_value(old_entry.amount)}"
