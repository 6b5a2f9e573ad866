"""Makes distributions in a folder, as an installer would leave them there: modules, and a `dist-info` beside them."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from forcemove.contracts.place import CONTRACTS
from forcemove.registry import GROUP
from scripts.compile_contracts import ARTIFACTS, standard_json
from tests.cli import warm

__all__ = ["Environment", "Ran"]

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Ran:
    """How a program has ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Environment:
    """Python with what this repository installs, and with what is put into a folder besides."""

    site: Path
    work: Path

    def announce(self, name: str, version: str = "1.0", *, group: str = GROUP, **games: str) -> None:
        """Let a distribution announce games: by name (hyphens written as underscores) what the entry point says."""
        info = self.site / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        points = "".join(f"{game.replace('_', '-')} = {value}\n" for game, value in games.items())
        (info / "entry_points.txt").write_text(f"[{group}]\n{points}")

    def install_counting(self) -> None:
        """The game of `tests.plugin.counting_game`, its contract with its sources beside it."""
        folder = self.site / "counting_game"
        shutil.copytree(_HERE / "counting_game", folder, ignore=shutil.ignore_patterns("__pycache__"))
        artifact = json.loads((ARTIFACTS / "test" / "CountingApp.json").read_text("utf-8"))
        artifact["standardJson"] = standard_json([CONTRACTS / "test" / "CountingApp.sol"])
        (folder / "CountingApp.json").write_text(json.dumps(artifact), "utf-8")
        self.announce("counting-game", "1.2", counting="counting_game:GAME")

    def uninstall(self, name: str) -> None:
        """Take a distribution's announcement away."""
        for info in self.site.glob(f"{name.replace('-', '_')}-*.dist-info"):
            shutil.rmtree(info)

    def __call__(self, *arguments: str, typed: str = "") -> Ran:
        """Run `forcemove`, in a process and a directory of its own."""
        ended = warm.run(
            arguments,
            folder=self.work,
            environment=os.environ | {"NO_COLOR": "1"},
            before=f"import sys; sys.path.insert(0, {str(self.site)!r})",
            typed=typed,
        )
        assert "Traceback" not in ended.stderr, ended.stderr
        return Ran(ended.returncode, ended.stdout, ended.stderr)
