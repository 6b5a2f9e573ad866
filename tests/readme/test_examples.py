"""The pages' Python runs as it is there. Each section is a session of its own, so that it can be copied alone."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from tests.readme.text import PAGES, README, Section, name_of, sections, sections_with

KINDS = {"python", "sh", "ts", "mermaid", "solidity", "json", "text", "{eval-rst}"}
"""The kinds of blocks that tests look at: see the tests beside this one."""


@pytest.mark.parametrize("section", sections_with("python"), ids=str)
def test_every_python_example_says_what_comes_out(section: Section) -> None:
    examples = "\n".join(section.blocks("python"))
    test = doctest.DocTestParser().get_doctest(examples, {}, str(section), None, None)
    said: list[str] = []

    results = doctest.DocTestRunner(verbose=False).run(test, out=said.append)

    assert results.attempted
    assert not results.failed, "".join(said)


@pytest.mark.parametrize("section", sections_with("python"), ids=str)
def test_no_line_of_an_example_is_left_out(section: Section) -> None:
    assert [block for block in section.blocks("python") if not block.startswith(">>> ")] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_is_of_a_kind_that_tests_look_at(page: Path) -> None:
    fences = re.findall(r"^```(.*)$", page.read_text("utf-8"), re.MULTILINE)

    assert set(fences[::2]) <= KINDS
    assert set(fences[1::2]) <= {""}


def test_the_first_example_has_ten_lines() -> None:
    (example, *_) = (block for section in sections(README) for block in section.blocks("python"))
    lines = [line for line in example.splitlines() if line.startswith((">>> ", "... "))]

    assert len(lines) == 10
