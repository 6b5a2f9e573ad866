"""The README's Python runs as it stands there, each example after those above it."""

from __future__ import annotations

import doctest

from tests.readme.text import README, blocks


def test_every_python_example_says_what_comes_out() -> None:
    examples = "\n".join(blocks("python"))
    test = doctest.DocTestParser().get_doctest(examples, {}, README.name, None, None)
    said: list[str] = []

    results = doctest.DocTestRunner(verbose=False).run(test, out=said.append)

    assert results.attempted >= 20
    assert not results.failed, "".join(said)


def test_the_first_example_has_ten_lines() -> None:
    lines = [line for line in blocks("python")[0].splitlines() if line.startswith((">>> ", "... "))]

    assert len(lines) == 10
