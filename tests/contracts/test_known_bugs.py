"""No compiler is used that has a bug which nobody has looked at."""

from __future__ import annotations

import pytest

import scripts.compile_contracts as compiler
from forcemove.contracts.compiler import SOLC_VERSION


def test_each_reason_is_about_a_bug_that_our_compiler_has() -> None:
    assert set(compiler.REASONS) == {bug["uid"] for bug in compiler.known_bugs(SOLC_VERSION)}


def test_our_compiler_is_accepted() -> None:
    compiler.require_known_compiler()


@pytest.mark.parametrize(
    ("version", "first", "last"),
    [
        ("0.8.36", "MemoryByteArrayElementDeleteClearsWholeWord", "MisorderedNamedParametersInRequireWithCustomErrors"),
        ("0.8.9", "MemoryByteArrayElementDeleteClearsWholeWord", "NestedCalldataArrayAbiReencodingSizeValidation"),
    ],
)
def test_a_compiler_with_a_bug_that_has_no_reason_is_refused(version: str, first: str, last: str) -> None:
    with pytest.raises(SystemExit, match=rf"^solc {version} has bugs that nobody has looked at: {first}, .*\b{last}\b"):
        compiler.require_known_compiler(version)


def test_nothing_is_compiled_by_a_compiler_that_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "REASONS", {})
    with pytest.raises(SystemExit, match="nobody has looked at"):
        compiler.build_files()


@pytest.mark.parametrize(
    ("version", "has_it"),
    [("0.8.18", False), ("0.8.19", True), (SOLC_VERSION, True), ("0.8.38", False), ("0.10.0", False)],
)
def test_a_bug_is_there_from_the_version_that_brought_it_until_it_is_fixed(version: str, has_it: bool) -> None:
    assert ("SOL-2026-7" in {bug["uid"] for bug in compiler.known_bugs(version)}) is has_it
