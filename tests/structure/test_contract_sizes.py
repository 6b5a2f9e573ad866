"""A function of a contract is short enough to be read at once; one that is longer has a reason."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.structure.imports import ROOT

MOST = 40
REASONS = {
    "Reader.outcome": "in parts, each costs up to 193 gas for a call, and challenges with one state miss their target",
    "Reader._words": "one loop over tokens in assembly, which cannot call a function of Solidity",
}
CONTRACTS = ROOT / "contracts"
FUNCTION = re.compile(r"^( +)(?:function (\w+)|constructor|modifier (\w+)|fallback|receive)\b")


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """The name of each function that has a body, with its contract's, and how many lines it has from its head on."""
    lines = path.read_text("utf-8").splitlines()
    for at, line in enumerate(lines):
        if head := FUNCTION.match(line):
            end = next(end for end in range(at, len(lines)) if lines[end] == f"{head[1]}}}" or ends(lines[end]))
            yield f"{path.stem}.{head[2] or head[3] or 'constructor'}", end - at + 1


def ends(line: str) -> bool:
    """Of the head of a function: it has no body, or one in the same line."""
    return line.endswith((";", "}")) and (line.endswith("{}") or not line.startswith(" " * 8))


LENGTHS = {
    name: length
    for path in sorted(CONTRACTS.rglob("*.sol"))
    if "node_modules" not in path.parts
    for name, length in functions(path)
}


def test_no_function_is_long_without_a_reason() -> None:
    assert {name for name, length in LENGTHS.items() if length > MOST} - REASONS.keys() == set()


@pytest.mark.parametrize("name", REASONS)
def test_a_reason_is_still_needed(name: str) -> None:
    assert LENGTHS[name] > MOST


def test_a_long_function_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "Long.sol"
    body = "        x();\n" * MOST
    path.write_text(
        f"contract Long {{\n    function f(\n        uint256 x\n    ) external {{\n{body}    }}\n}}\n", "utf-8"
    )
    assert dict(functions(path)) == {"Long.f": MOST + 4}
