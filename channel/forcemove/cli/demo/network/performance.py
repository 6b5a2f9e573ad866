"""The demonstration over a network, from its set-up to the last balance."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forcemove.cli.demo.network.columns import Columns
from forcemove.cli.demo.network.stories import NAMES, STORIES, Ending, Story, ending_line
from forcemove.cli.demo.network.world import World, opened_world
from forcemove.cli.terminal import Terminal
from forcemove.game import Game

__all__ = ["NetworkPerformance"]


@dataclass
class NetworkPerformance:
    """One run. `stories`: scenario and game each; `stake`: in wei; `duration`: seconds of a challenge. `endings`: what
    has come of them so far."""

    stories: tuple[tuple[str, Game], ...]
    stake: int
    duration: int
    terminal: Terminal
    quiet: bool
    endings: list[tuple[str, Game, Ending]] = field(default_factory=list)

    @property
    def is_right(self) -> bool:
        """Whether each has ended as it must."""
        return len(self.endings) == len(self.stories) and all(ending.is_right for _, _, ending in self.endings)

    def to_json(self) -> dict[str, Any]:
        """What has come of it: amounts are decimal digits, in wei."""
        return {
            "stories": [
                {
                    "scenario": scenario,
                    "game": game.name,
                    "paid": dict(zip(NAMES, map(str, ending.found), strict=True)),
                    "expected": dict(zip(NAMES, map(str, ending.expected), strict=True)),
                }
                for scenario, game, ending in self.endings
            ]
        }

    async def play(self) -> None:
        """Raises `WentWrong`, and what the chain raises."""
        self.terminal.status("Bringing up a chain and a relay")
        games = tuple({game.name: game for _, game in self.stories}.values())
        with tempfile.TemporaryDirectory() as folder:
            async with opened_world(Path(folder), games) as world:
                for scenario, game in self.stories:
                    await self._play(world, scenario, game)

    async def _play(self, world: World, scenario: str, game: Game) -> None:
        self.terminal.close()
        self._say("")
        self._say(f"{game.title}: {scenario}", "bold")
        story = Story(world, game, self.stake, self.duration, Columns(NAMES, self.terminal, quiet=self.quiet))
        try:
            ending = await STORIES[scenario](story)
        finally:
            await asyncio.gather(*(player.kill() for player in story.players))
        self.endings.append((scenario, game, ending))
        self._say(ending_line(ending), "green" if ending.is_right else "red")

    def _say(self, text: str, style: str = "") -> None:
        if not self.quiet:
            self.terminal.say(text, style)
