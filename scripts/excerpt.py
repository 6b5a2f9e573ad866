"""The pages' excerpt of the demonstration: a scenario in which a player stops, as `forcemove demo` prints it.

Weapons, commitments and fees are drawn at random in each run. So the scenario is played until Bob loses the very first
round, and two excerpts are compared with such figures aside. Knows of the scenarios only what they print.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import takewhile

from click.testing import CliRunner

COMMAND = ("demo", "--game", "rock-paper-scissors", "--scenario", "stall")
_LAST_TURN = "turn    6"
_END = "gas "
"""The label of the first line that is left out: fees and balances, before the last line."""
_TRIES = 100
_FIGURES = (
    (re.compile(r"\b(rock|paper|scissors)\b"), "WEAPON"),
    (re.compile(r"\bbeats?\b"), "BEATS"),
    (re.compile(r"\([0-9a-f]{4}…[0-9a-f]{4}\)"), "(COMMITMENT)"),
    (re.compile(r"\([\d,]+ gas\)"), "(GAS)"),
)


class ScenarioFailed(Exception):
    """The demonstration has failed, or Bob has won the first round each time, which is very unlikely."""


@cache
def excerpt() -> str:
    """A block with what the demonstration printed. Raises `ScenarioFailed`."""
    for _ in range(_TRIES):
        lines = _play()
        turns = [line for line in lines if line.startswith("turn")]
        if turns[-1].startswith(_LAST_TURN):
            shown = takewhile(lambda line: not line.startswith(_END), lines)
            return "\n".join(["```text", *shown, "[...]", lines[-1], "```"])
    raise ScenarioFailed(f"Bob has not lost the first of {_TRIES} rounds")


def figures_aside(text: str) -> str:
    """The text with a name in place of each figure that another run may print otherwise."""
    for figure, name in _FIGURES:
        text = figure.sub(name, text)
    return text


def _play() -> list[str]:
    from forcemove.cli.main import forcemove

    done = CliRunner().invoke(forcemove, COMMAND)
    if done.exit_code != 0:
        raise ScenarioFailed(done.output)
    return done.output.strip().splitlines()
