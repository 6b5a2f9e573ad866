"""The demonstration over a network, from its set-up to the last balance. The output of both players is side by side, in
the order in which it is printed; without a terminal it is lines, each with its player's name before it.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from forcemove.cli.demo.signals import NO_LOSS, CutOff, Stopped
from forcemove.cli.play.signals import Terminated, run_until_terminated
from forcemove.cli.terminal import Terminal
from forcemove.cli.wrapping import width_of, wrapped
from forcemove.demo.network.local_network import DemoNetwork, opened_network
from forcemove.demo.network.scenarios import NAMES, SCENARIOS, ScenarioEnding, ScenarioRun, ending_line
from forcemove.demo.output import shortened
from forcemove.game import Game
from forcemove.inspect.documents import Amount, CommandErrorJson, Document

_GAP = 2
_ENDS = 10
"""Characters at both ends of a word that is wider than a column, such as a link."""


class Columns:
    """A column for each player. `names`: of the players, by seat."""

    def __init__(self, names: tuple[str, str], terminal: Terminal) -> None:
        self._names, self._terminal = names, terminal
        width = width_of(sys.stdout)
        self._half = None if width is None else width // len(names)
        if self._half is not None:
            self._terminal.say("".join(f"{name:<{self._half}}" for name in names).rstrip(), "bold")

    def add(self, name: str, line: str) -> None:
        """Show a line that a player's process has printed, or a comment on it."""
        line = shortened(line)
        if self._half is None:
            self._terminal.say(f"{name:<6}| {line}")
            return
        margin, width = " " * (self._half * self._names.index(name)), self._half - _GAP
        text = " ".join(_cut(word, width - _GAP) for word in line.split())
        for each in wrapped(text, width, _GAP):
            self._terminal.say(margin + each)


def _cut(word: str, width: int) -> str:
    return word if len(word) <= width else f"{word[:_ENDS]}\N{HORIZONTAL ELLIPSIS}{word[-_ENDS:]}"


# -------------------------------------------------------------------------------------------------------------- the run

_PROGRAM = (sys.executable, "-m", "forcemove")


class PayoutJson(Document):
    """What a player was paid, and is due by the channel's last state, in wei."""

    name: str
    paid: Amount
    expected: Amount


class NetworkScenarioJson(Document):
    """How a scenario has ended."""

    scenario: str
    game: str
    players: list[PayoutJson]


class NetworkDemoDocument(Document):
    """What `demo --network` prints."""

    scenarios: list[NetworkScenarioJson]
    error: CommandErrorJson | None = None


@dataclass
class NetworkDemoRun:
    """One run of the demonstration over a network. `scenarios`: name and game of each; `stake`: in wei; `duration`:
    seconds of a challenge. `endings`: of the scenarios so far."""

    scenarios: tuple[tuple[str, Game], ...]
    stake: int
    duration: int
    terminal: Terminal
    endings: list[tuple[str, Game, ScenarioEnding]] = field(default_factory=list)

    @property
    def verdicts(self) -> list[bool]:
        """Whether each scenario that has ended has ended as it must."""
        return [all(each.is_right for each in ending) for _, _, ending in self.endings]

    @property
    def document(self) -> NetworkDemoDocument:
        """The results."""
        return NetworkDemoDocument(
            [
                NetworkScenarioJson(
                    scenario, game.name, [PayoutJson(each.name, str(each.found), str(each.expected)) for each in ending]
                )
                for scenario, game, ending in self.endings
            ]
        )

    def play(self) -> None:
        """Play the scenarios. Raises `CutOff` where a signal ends it, `PlayerFailed`, and what the chain raises."""
        try:
            run_until_terminated(self._play_all())
        except Terminated:
            raise CutOff(Stopped(signal.SIGTERM), NO_LOSS) from None
        except KeyboardInterrupt:
            raise CutOff(Stopped(signal.SIGINT), NO_LOSS) from None

    async def _play_all(self) -> None:
        self.terminal.status("Bringing up a chain and a relay")
        games = tuple({game.name: game for _, game in self.scenarios}.values())
        with tempfile.TemporaryDirectory() as folder:
            async with opened_network(Path(folder), games, _PROGRAM) as network:
                for scenario, game in self.scenarios:
                    await self._play(network, scenario, game)

    async def _play(self, network: DemoNetwork, scenario: str, game: Game) -> None:
        self.terminal.close()
        self.terminal.say("")
        self.terminal.say(f"{game.title}: {scenario}", "bold")
        run = ScenarioRun(network, game, self.stake, self.duration, Columns(NAMES, self.terminal).add)
        try:
            ending = await SCENARIOS[scenario](run)
        finally:
            await asyncio.gather(*(player.kill() for player in run.players))
        self.endings.append((scenario, game, ending))
        self.terminal.say(ending_line(ending), "green" if self.verdicts[-1] else "red")
