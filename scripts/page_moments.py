"""The moments of the page that the pages' pictures show, and what is shown at each of them as text.

Each moment is reached in a real playground whose clock stands still, with numbers that are drawn from a seed: so a
moment is the same each time. Nothing here needs a browser.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import dataclass
from functools import partial
from html.parser import HTMLParser
from itertools import count
from time import time

from forcemove.browser.lobby.render import lobby_page
from forcemove.browser.lobby.view import OfferDraft
from forcemove.browser.playground.playground_pages import PlaygroundPages
from forcemove.browser.render import channel_page
from forcemove.browser.server import BrowserServer
from forcemove.chain.local import EmbeddedChain, deploy_locally, local_keys
from forcemove.game import Game, Level, Randomness
from forcemove.playground.buttons import press
from forcemove.playground.playground import Playground
from forcemove_games.discard import GAME as DISCARD
from forcemove_games.randomness import seeded
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from scripts.measuring.processes import started_relay
from tests.browser.served.lobby import GAMES, ServedLobby, served_lobby
from tests.browser.served.serving import running, until

_STEPS = 60
_VARYING = re.compile(
    r"0x[0-9a-fA-F]{4,}(?:…[0-9a-fA-F]+)?|\b\d{1,2}:\d\d:\d\d\b(?: on \d{4}-\d\d-\d\d)?"
    r"|\b[\d,.]+(?= gas\b| gwei\b)|(?<=:)\d{4,5}\b"
)
"""What differs from one machine, or one version of the contracts, to another: hashes, times of day (late in the evening
those of the next day), gas, fees, and ports."""


class PlayedMoment:
    """A playground that a moment is reached in. `pages`: shows it."""

    def __init__(self, game: Game, seed: int) -> None:
        """Begin a game. `seed`: of all that is drawn at random."""
        self.now = 100.0
        source = seeded(seed.to_bytes(32), b"pictures")
        self.playground = Playground(
            [_with_bot(game, source)],
            clock=lambda: self.now,
            randomness=source,
            level=Level.HARD,
            nonces=count(1).__next__,
        )
        self.pages = PlaygroundPages(self.playground, lambda: self.now)
        self.playground.poll()

    def wait(self, seconds: float = 1) -> None:
        """Let time pass, in which everybody acts."""
        self.now += seconds
        self.playground.poll()

    def press(self, *names: str) -> None:
        """Press buttons of the playground. Raises `ValueError` on a shut one."""
        for name in names:
            self._require(press(self.playground, name))
            self.wait()

    def act(self, word: str) -> None:
        """Decide something, and let Bob answer. Raises `ValueError` where it is not possible."""
        for _ in range(_STEPS):
            if word in [each for each, _ in self.playground.match.person.options]:
                break
            self.wait()
        self._require(self.playground.act(word, self.playground.channel.next_turn))
        self.wait()

    def _require(self, refused: str) -> None:
        if refused:
            raise ValueError(refused)

    @property
    def html(self) -> str:
        """The page as it is served."""
        view = self.pages.view(self.playground.channel.agreement.channel_id, None, "token")
        if view is None:
            raise ValueError("there is no such channel")
        return channel_page(view)


def _with_bot(game: Game, source: Randomness) -> Game:
    """The same game, with a bot that draws its numbers from `source`."""
    found = copy(game)
    vars(found)["bot"] = lambda seat, _=source, secrets=b"", level=Level.HARD: game.bot(seat, source, secrets, level)
    return found


# ------------------------------------------------------------------------------------------------------------- moments


def _in_play(moment: PlayedMoment) -> None:
    moment.act("4")
    moment.act("8")


def _challenged(moment: PlayedMoment) -> None:
    _in_play(moment)
    moment.press("silent")
    moment.act(moment.playground.match.person.choices[0].word)
    moment.act("challenge")


def _paid(moment: PlayedMoment) -> None:
    _challenged(moment)
    moment.press("run-out")
    moment.wait()


def _reorganised(moment: PlayedMoment) -> None:
    moment.press("illegal")
    moment.act("4")
    moment.wait()
    moment.press("old")
    moment.press("undo")
    moment.wait()


def _hand(moment: PlayedMoment) -> None:
    for _ in range(2):
        moment.act(moment.playground.match.person.choices[0].word)


@dataclass(frozen=True)
class Shown:
    """A page at a moment. `address`: opens it once in a browser; `html`: the page as it is served."""

    address: str
    html: str


@dataclass(frozen=True)
class GameMoment:
    """A moment of a game in the playground. `reach`: plays up to it; `parts`: what its picture shows of the page, as
    selectors; `width`: of the window, in pixels; `seed`: of all that is drawn at random."""

    game: Game
    reach: Callable[[PlayedMoment], None]
    parts: tuple[str, ...]
    width: int = 1180
    seed: int = 1

    def play(self) -> PlayedMoment:
        """A playground at this moment."""
        found = PlayedMoment(self.game, self.seed)
        self.reach(found)
        return found

    def html(self) -> str:
        """The page as it is served."""
        return self.play().html

    @contextmanager
    def shown(self) -> Iterator[Shown]:
        """The page, served."""
        played = self.play()
        with running(BrowserServer(played.pages)) as served:
            yield Shown(served.address, served.call(lambda: played.html))


@dataclass(frozen=True)
class LobbyMoment:
    """The moment at which Alice waits at her own table, and two others offer games; over a relay, and a chain. `parts`,
    `width`: see `GameMoment`."""

    parts: tuple[str, ...]
    width: int = 1000

    def html(self) -> str:
        """See `GameMoment`."""
        with self.shown() as shown:
            return shown.html

    @contextmanager
    def shown(self) -> Iterator[Shown]:
        """See `GameMoment`."""
        with started_relay() as (url, _), ExitStack() as stack:
            chain = EmbeddedChain()
            book = deploy_locally(chain, GAMES)
            alice, bob, carol = (
                stack.enter_context(served_lobby(url, key, who, chains=(chain,), book=book))
                for who, key in zip(("Alice", "Bob", "Carol"), local_keys(), strict=False)
            )
            for count, (host, draft) in enumerate(zip((bob, carol, alice), _OFFERS, strict=True), 1):
                host.call(partial(host.pages.make, draft, 0))
                until(lambda count=count: alice.call(partial(_is_known, alice, count)))  # type: ignore[misc]
                # Offers that end in one second are listed in the order of their hashes, which is chance.
                until(partial(_is_later, int(time())))
            token = alice.server.session.form_token
            yield Shown(alice.address, alice.call(lambda: lobby_page(alice.pages.view(token), alice.server.nav)))


_OFFERS = (
    OfferDraft("tic-tac-toe", "0.01 ether"),
    OfferDraft("rock-paper-scissors", "0"),
    OfferDraft("discard", "0.05 ether", duration="7200"),
)
"""What Bob, Carol and Alice offer."""


def _is_later(second: int) -> bool:
    return time() >= second + 1


def _is_known(lobby: ServedLobby, count: int) -> bool:
    """Whether a person sees this many open games, and the own one among the tables."""
    view = lobby.pages.view("token")
    return len(view.offers) == count and all("Waiting" in each.lines[0] for each in view.tables)


Moment = GameMoment | LobbyMoment
MOMENTS: Mapping[str, Moment] = {
    "board": GameMoment(TIC_TAC_TOE, _in_play, (".top",)),
    "challenge": GameMoment(TIC_TAC_TOE, _challenged, (".top",)),
    "paid": GameMoment(TIC_TAC_TOE, _paid, ("#guide", ".top")),
    "reorganised": GameMoment(TIC_TAC_TOE, _reorganised, (".lanes", ".list"), width=880),
    "hand": GameMoment(DISCARD, _hand, ("#board",)),
    "lobby": LobbyMoment(("main",)),
}


# ---------------------------------------------------------------------------------------------------------------- text


class _Outline(HTMLParser):
    """Reads a page as lines: elements, and words."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        words = [named[name] or "" for name in ("aria-label", "title") if name in named]
        class_ = named.get("class")
        mark = f"{tag}.{class_.replace(' ', '.')}" if class_ else tag
        self.lines.append(f"<{mark}>" + "".join(f" [{each}]" for each in words))

    def handle_data(self, data: str) -> None:
        if words := " ".join(data.split()):
            self.lines[-1:] = [*(f"{each} {words}" for each in self.lines[-1:])]


def shown_lines(html: str) -> list[str]:
    """What a page shows: its elements with their classes and its words in their order, and repeated elements counted.
    What differs from one run to another has a sign in its place."""
    outline = _Outline()
    outline.feed(html)
    outline.close()
    return list(_counted(_VARYING.sub("*", each) for each in outline.lines))


def _counted(lines: Iterable[str]) -> Iterator[str]:
    last, times = "", 0
    for each in (*lines, ""):
        if each == last:
            times += 1
            continue
        if last:
            yield last if times == 1 else f"{times} x {last}"
        last, times = each, 1
