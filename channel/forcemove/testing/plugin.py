"""A plugin for pytest: `-p forcemove.testing.plugin` adds the options `--game-seed` and `--game-seconds`, shows the
progress of a check of a large game, and prints at the end what was covered."""

from __future__ import annotations

from collections.abc import Generator, Iterator

import pytest

from forcemove.testing.session import SECONDS, session

_PROPERTY = "looked at"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options."""
    group = parser.getgroup("forcemove", "games of state channels")
    group.addoption("--game-seed", type=int, default=session.seed, metavar="SEED", help="what samples are drawn with")
    group.addoption(
        *("--game-seconds",),
        type=float,
        default=SECONDS,
        metavar="SECONDS",
        help=f"how long one look at a game may take; {SECONDS:g} unless given",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Take the options over, and print progress in the terminal, past what pytest captures."""
    session.seed, session.seconds = config.getoption("--game-seed"), config.getoption("--game-seconds")
    session.say_progress = _Terminal(config).write


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Keep the coverage with the test's report, so that it is printed though the test has passed."""
    before = session.say_coverage
    session.say_coverage = lambda text: item.user_properties.append((_PROPERTY, text))
    try:
        return (yield)
    finally:
        session.say_coverage = before


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the coverage."""
    lines = list(_coverage(terminalreporter))
    if lines:
        terminalreporter.section("what was looked at of each game", sep="-")
        for line in lines:
            terminalreporter.write_line(line)


def _coverage(terminalreporter: pytest.TerminalReporter) -> Iterator[str]:
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport) and report.when == "call":
                yield from (str(text) for name, text in report.user_properties if name == _PROPERTY)


class _Terminal:
    """The terminal of a run; none in a worker of several, whose reports another process prints."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def write(self, line: str) -> None:
        """Write a line of its own."""
        terminal = self._config.pluginmanager.getplugin("terminalreporter")
        capture = self._config.pluginmanager.getplugin("capturemanager")
        if terminal is None:
            return
        if capture is None:
            terminal.write_line(line)
            return
        with capture.global_and_fixture_disabled():
            terminal.ensure_newline()
            terminal.write_line(line)
