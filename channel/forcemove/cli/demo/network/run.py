"""The demonstration over a network, from its set-up to the last balance."""

from __future__ import annotations

import asyncio
import signal
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from forcemove.cli.demo.network.columns import Columns
from forcemove.cli.demo.signals import NO_LOSS, CutOff, Stopped
from forcemove.cli.play.signals import Terminated, run_until_terminated
from forcemove.cli.terminal import Terminal
from forcemove.demo.network.local_network import DemoNetwork, opened_network
from forcemove.demo.network.scenarios import NAMES, SCENARIOS, ScenarioEnding, ScenarioRun, ending_line
from forcemove.game import Game
from forcemove.inspect.documents import Amount, CommandErrorJson, Document

__all__ = ["NetworkDemoRun"]

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
