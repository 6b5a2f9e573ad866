"""The list of mutations fits the sources: it would be found out in a long run only, and late."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.mutate import Failure, Mutation, load, problems, uncovered

TEST = "tests/threats/test_mutations.py::test_every_mutation_applies"


def mutation(**changes: object) -> Mutation:
    """A good one."""
    values: dict[str, object] = {
        "name": "high s is good",
        "threats": (9,),
        "file": "contracts/libraries/Signatures.sol",
        "contract": "Harness",
        "find": "if (s > HALF_ORDER) revert",
        "replace": "if (false) revert",
        "tests": (TEST,),
    }
    return Mutation(**values | changes)  # type: ignore[arg-type]  # the names are the fields'


def test_every_mutation_applies() -> None:
    assert problems(load()) == []


def test_every_attack_has_a_mutation() -> None:
    assert uncovered(load()) == []


def test_a_good_mutation_has_no_problem() -> None:
    assert problems([mutation()]) == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"file": "contracts/Missing.sol"}, "there is no contracts/Missing.sol"),
        ({"find": "nowhere to be found"}, "has its text 0 times"),
        ({"find": "signature"}, "has its text"),
        ({"contract": "TicTacToe"}, "not part of the contract TicTacToe"),
        ({"contract": "Missing"}, "not part of the contract Missing"),
        ({"replace": "if (s > HALF_ORDER) revert"}, "changes nothing"),
        ({"tests": ()}, "names no test"),
        ({"tests": ("tests/threats/test_mutations.py::test_missing",)}, "there is no test"),
        ({"tests": ("tests/missing.py::test_missing",)}, "there is no test"),
    ],
)
def test_a_mutation_that_would_show_nothing_is_named(changes: dict[str, object], problem: str) -> None:
    (found,) = problems([mutation(**changes)])
    assert found.startswith("9: high s is good: ")
    assert problem in found


def test_two_mutations_of_one_name_are_named() -> None:
    assert problems([mutation(), mutation()]) == ["two mutations are called high s is good"]


def test_an_incomplete_mutation_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mutations.toml"
    path.write_text('[[mutation]]\nname = "half of one"\n', "utf-8")
    with pytest.raises(Failure, match="half of one"):
        load(path)
