"""Errors are facts: the twins of the adjudicator's carry its names and values."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass

import pytest

from forcemove import ForcemoveError, RuleError, errors
from forcemove.protocol import rule_errors
from tests.evm import artifact

DECLARED = {entry["name"]: entry["inputs"] for entry in artifact("Adjudicator")["abi"] if entry["type"] == "error"}
KEYWORDS = {"from": "from_"}


def snake_case(name: str) -> str:
    snake = re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: "_" + match[1].lower(), name)
    return KEYWORDS.get(snake, snake)


def test_every_error_of_the_adjudicator_has_a_class_and_there_are_no_others() -> None:
    assert rule_errors.ADJUDICATOR_ERRORS.keys() == DECLARED.keys()


@pytest.mark.parametrize("name", sorted(DECLARED))
def test_fields_are_the_parameters_in_their_order(name: str) -> None:
    expected = [snake_case(parameter["name"]) for parameter in DECLARED[name]]
    assert [field.name for field in fields(rule_errors.ADJUDICATOR_ERRORS[name])] == expected


@pytest.mark.parametrize("name", sorted(DECLARED))
def test_numbers_are_integers_and_the_rest_is_bytes(name: str) -> None:
    expected = ["int" if parameter["type"].startswith("uint") else "bytes" for parameter in DECLARED[name]]
    assert [field.type for field in fields(rule_errors.ADJUDICATOR_ERRORS[name])] == expected


@pytest.mark.parametrize("name", sorted(DECLARED))
def test_a_broken_rule_is_a_rule_error(name: str) -> None:
    assert issubclass(rule_errors.ADJUDICATOR_ERRORS[name], RuleError)


def every_error() -> list[type[ForcemoveError]]:
    return [
        member for member in vars(errors).values() if isinstance(member, type) and issubclass(member, ForcemoveError)
    ]


@pytest.mark.parametrize("error", every_error(), ids=lambda error: error.__name__)
def test_an_error_is_documented_facts(error: type[ForcemoveError]) -> None:
    assert error.__doc__
    assert error is ForcemoveError or is_dataclass(error)


def test_errors_are_equal_by_class_and_values() -> None:
    assert rule_errors.TurnNumberNotIncreased(5, 4) == rule_errors.TurnNumberNotIncreased(5, 4)
    assert hash(rule_errors.TurnNumberNotIncreased(5, 4)) == hash(rule_errors.TurnNumberNotIncreased(5, 4))
    assert rule_errors.TurnNumberNotIncreased(5, 4) != rule_errors.TurnNumberNotIncreased(5, 3)
    assert rule_errors.TurnNumberNotIncreased(5, 4) != (5, 4)


def test_an_error_shows_its_name_and_values() -> None:
    assert str(rule_errors.TurnNumberNotIncreased(5, 4)) == "TurnNumberNotIncreased(recorded=5, submitted=4)"
    assert str(rule_errors.ChannelClosed(b"\x01" * 32)) == f"ChannelClosed(channel_id=0x{'01' * 32})"


def test_values_are_by_name() -> None:
    assert rule_errors.TotalChanged(bytes(20), 1, 2).values() == {"asset": bytes(20), "from_": 1, "to": 2}
