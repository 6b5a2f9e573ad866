"""Three friends, each with a machine of their own, and a game for three that `forcemove new` has begun."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from forcemove import Adjudicator, Channel, Game, deploy, installed_games, local_keys
from forcemove.scaffold.scaffold import write_game
from tests.cli.nodes import Demo, Node
from tests.cli.tables import BOOK, DEPOSIT, GAS_AT_MOST, GUEST, HOST, START, House, World
from tests.plugin.distribution import Environment
from tests.transport.carriers import Process

CAROL = local_keys()[3]
KEYS = (HOST, GUEST, CAROL)
NAME = "take-three"


class GameForThree:
    """A game of `forcemove new NAME --seats 3`, in a folder that commands are shown with `before`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = write_game(NAME, folder, 3)
        Environment(self.folder, folder).announce(NAME, take_three="take_three:GAME")
        self.before = f"import sys; sys.path.insert(0, {str(self.folder)!r})\n"

    @contextmanager
    def imported(self) -> Iterator[Game]:
        """The game, in this process, as long as the block lasts."""
        sys.path.insert(0, str(self.folder))
        try:
            yield importlib.import_module("take_three").GAME
        finally:
            sys.path.remove(str(self.folder))
            for name in [each for each in sys.modules if each.partition(".")[0] == "take_three"]:
                del sys.modules[name]


class HouseOfThree(House):
    """`carol`: the folder of the second guest."""

    def __init__(self, folder: Path, carrier: Process) -> None:
        self.game = GameForThree(folder / "game")
        super().__init__(folder, carrier)
        self.carol = self.home("carol", CAROL)

    def play(self, home: Path, *arguments: str, game: str = NAME, before: str = "") -> Demo:
        return super().play(home, *arguments, game=game, before=self.game.before + before)


class WorldOfThree(HouseOfThree, World):
    """With a chain, where the game's contract is, too."""

    def __init__(self, node: Node, folder: Path, carrier: Process) -> None:
        self.game = GameForThree(folder / "game")
        self.node, self.endpoints = node, [node.endpoint]
        with self.game.imported() as game:
            book = deploy(node.chain, local_keys()[0], folder / BOOK, (*installed_games().games, game))
        self.adjudicator = Adjudicator(node.chain, book.adjudicator)
        House.__init__(self, folder, carrier)
        self.carol = self.home("carol", CAROL)

    def require_three_ends(self) -> Channel:
        """All journals have the same newest state, which everybody was paid by."""
        ends = [self.channel(home) for home in (self.alice, self.bob, self.carol)]
        last = ends[0]
        assert last.newest is not None
        assert {each.newest.state for each in ends if each.newest} == {last.newest.state}
        self.require_all_paid(last)
        return last

    def require_all_paid(self, last: Channel) -> None:
        """The channel is empty, and each account has what its newest state pays, less gas."""
        assert last.newest is not None
        assert self.held(last) == 0
        participants = last.agreement.fixed_part.participants
        outcome = last.newest.state.outcome
        assert sum(each.amount for each in outcome) == 3 * DEPOSIT
        for key in KEYS:
            most = START - DEPOSIT + outcome[participants.index(key.address)].amount
            assert most - GAS_AT_MOST < self.node.chain.balance(key.address) < most
