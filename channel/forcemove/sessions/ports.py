"""What a table needs of those who sit at it. A terminal, a page or a program implements these ports."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from forcemove.flow.place import Place
    from forcemove.game import Game, Names
    from forcemove.node.managed_channel import ManagedChannel
    from forcemove.protocol.agreement import Agreement
    from forcemove.protocol.machine.effects import ChooseMove
    from forcemove.protocol.machine.inputs import ConcludeWanted, MoveChosen
    from forcemove.sessions.playing.content import TableContent
    from forcemove.sessions.playing.patience import MoveClock
    from forcemove.sessions.presence import TablePresence
    from forcemove.transport.links import Link
    from forcemove.transport.offers import Offer


class Output(Protocol):
    """Where a table is shown."""

    def say(self, text: str) -> None:
        """Show a line that stays."""
        ...

    def note(self, text: str) -> None:
        """Show a line about an error."""
        ...

    def show(self, content: TableContent) -> None:
        """Show the game as it is now, in place of the last content."""
        ...


class Chat(Protocol):
    """What the players of a table say to each other. `is_seen`: says whether a screen is open at our seat, so that the
    others are told that we are there; `presence`: when they were heard from."""

    is_seen: Callable[[], bool]
    presence: TablePresence

    @property
    def lines(self) -> Sequence[str]:
        """The newest lines, ours among them, oldest first."""
        ...

    def say(self, text: str) -> str:
        """Send a line to the other players. Returns what is wrong with it, empty where it was sent."""
        ...


class PlayerSeat(Protocol):
    """The player of a channel: decides on moves, and is shown what happens."""

    @property
    def output(self) -> Output:
        """Where the player is shown what happens."""
        ...

    def choose(self, question: ChooseMove) -> MoveChosen | ConcludeWanted | None:
        """See `forcemove.node.effect_executor.MoveChooser`."""
        ...

    def attach(self, played: ManagedChannel, names: Names, clock: MoveClock) -> None:
        """Take the channel. Called once, before `run`. `names`: of the players, by seat; `clock`: of the mover."""
        ...

    def join_chat(self, chat: Chat) -> None:
        """Take the table's chat. Called once, before `run`. Each line is shown by `output`."""
        ...

    async def run(self) -> None:
        """Run until this is cancelled. Raises the error that ends the game for this player."""
        ...


class Ask(Protocol):
    """Lets a person choose."""

    def __call__(self, prompt: str, options: Sequence[str]) -> Awaitable[int]:
        """The index of the option that was chosen. `prompt`: a line; what there is to see stands in the lines below it.
        Raises `EOFError` where the person leaves: the game then ends as one does that is left, or lets it pass."""
        ...


class LogSeat(Protocol):
    """A person who plays a game over a table's log."""

    def notify(self, line: str) -> None:
        """Show what has happened."""
        ...

    async def ask(self, prompt: str, options: Sequence[str]) -> int:
        """See `Ask`."""
        ...

    async def run(self) -> None:
        """Run until this is cancelled. Raises the error that ends the game for this person."""
        ...


class TableGame(Protocol):
    """A game without money: two clients around a signed log."""

    name: str
    """The game's name for `--game`."""
    title: str
    """The game's name for people."""

    async def demonstrate(self, notify: Callable[[str], None], names: tuple[str, str]) -> Mapping[str, object]:
        """Play one game between two bots and report it line by line; returns the result, as values for JSON."""
        ...

    async def play(self, notify: Callable[[str], None], ask: Ask, names: tuple[str, str]) -> Mapping[str, object]:
        """The same with a person in seat 0, who is asked for each decision."""
        ...

    async def join(
        self, place: Place, notify: Callable[[str], None], ask: Ask | None, *, within: float | None
    ) -> Mapping[str, object]:
        """Play one game with somebody elsewhere, from the beginning of the table's log: what we have said there before
        is not said again, nor asked for. `ask`: a person; without one the bot plays. `within`: seconds that we wait for
        each message. Returns as `demonstrate`; raises what is wrong with the other's part."""
        ...


class TablePort(Output, Protocol):
    """Anyone who sits at a table. `say`, `note` and `show` are for what comes before and after the game; while it is
    played, its seat is shown what happens."""

    def status(self, text: str) -> None:
        """Show what is waited for, in place of the last status."""
        ...

    def invite(self, offer: Offer, link: Link, page: str) -> None:
        """Show how somebody joins our offer. `page`: the address of a page that plays the link, empty for none."""
        ...

    async def agree(self, offer: Offer) -> None:
        """Return once the player agrees to join on the terms of the offer, which were said. Raises the error that ends
        the game for a player who does not."""
        ...

    def take_seat(self, game: Game, agreement: Agreement, index: int) -> PlayerSeat:
        """The player of a channel. `index`: of our participant."""
        ...

    def take_log_seat(self, other: str) -> LogSeat | None:
        """The person who plays over a log, None for a bot. `other`: the other player's name."""
        ...

    def leave_seat(self) -> None:
        """The game is over, or was put aside: the seat shows nothing any more."""
        ...
