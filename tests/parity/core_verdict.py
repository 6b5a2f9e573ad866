"""Verdicts of the two implementations in one form, so that `==` compares them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from forcemove.errors import ForcemoveError, RuleError
from forcemove.protocol.rule_errors import ADJUDICATOR_ERRORS
from tests.evm import decode_error


class Verdict(NamedTuple):
    """Allowed (`error` is empty), or refused with the error of this name and these values."""

    error: str = ""
    values: tuple[object, ...] = ()


ALLOWED = Verdict()


def of_python(check: Callable[[], object]) -> Verdict:
    """What a rule of the twin says."""
    try:
        check()
    except RuleError as error:
        return of_error(error)
    return ALLOWED


def of_error(error: ForcemoveError) -> Verdict:
    return Verdict(type(error).__name__, tuple(error.values().values()))


def of_bytecode(success: bool, output: bytes) -> Verdict:
    """What the bytecode says. Fails on reverts without data and on panics: the twin has no such thing."""
    if success:
        return ALLOWED
    for contract in ("Adjudicator", "CountingApp", "BoundApp", "GivingApp", "RockPaperScissors"):
        try:
            revert = decode_error(contract, output)
        except KeyError:
            continue
        assert revert is not None, "it reverted without a word"
        assert contract != "Adjudicator" or revert.name in ADJUDICATOR_ERRORS
        return Verdict(*revert)
    raise AssertionError(f"unknown error 0x{output.hex()}")
