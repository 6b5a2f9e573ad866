"""Whole games on pages: nothing that a player hides is in any answer, in the stream, in the journal's history, or in a
log, in whatever form."""

from __future__ import annotations

import base64
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection, HTTPException

import pytest

from forcemove import Game, VariablePart
from forcemove.history.entries import StateAccepted, StateSigned
from forcemove.playground.buttons import press
from forcemove.playground.playground import Playground
from forcemove_games.discard import GAME as DISCARD
from forcemove_games.discard.board import own_cards
from forcemove_games.discard.secrets import HandSecrets
from forcemove_games.discard_sra.cards import name
from forcemove_games.rock_paper_scissors import GAME as ROCK_PAPER_SCISSORS
from forcemove_games.rock_paper_scissors.openings import decode_openings
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.browser.served.asking import Asker
from tests.browser.served.serving import ServedPlayground, served_games, until
from tests.secret_forms import is_in

_TURNS = {TIC_TAC_TOE.name: 9, ROCK_PAPER_SCISSORS.name: 8, DISCARD.name: 14}
"""The turn up to which each game is played before Alice leaves."""
_ENTRIES_BACK = 3


# ----------------------------------------------------------------------------------------------------- how it is sought


def found_in(text: bytes, secrets: dict[str, bytes]) -> list[str]:
    """The names of the secrets that are in a text."""
    return [name for name, secret in secrets.items() if is_in(text, secret)]


@dataclass
class Said:
    """All that was said since the last look. `logs`: of all loggers, at DEBUG."""

    answers: list[str] = field(default_factory=list)
    stream: list[bytes] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)

    def take(self) -> bytes:
        """What is new. What comes meanwhile stays."""
        found = list[bytes]()
        for lines in (self.answers, self.logs):
            count = len(lines)
            found += [each.encode() for each in lines[:count]]
            del lines[:count]
        count = len(self.stream)
        found += self.stream[:count]
        del self.stream[:count]
        return b"\n".join(found)


@contextmanager
def logging_to(said: Said) -> Iterator[None]:
    """Write what every logger says at DEBUG."""

    class Writer(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.logs.append(f"{record.name}: {record.getMessage()} {record.args!r} {record.exc_info!r}")

    root, writer = logging.getLogger(), Writer(logging.NOTSET)
    level = root.level
    root.addHandler(writer)
    root.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        root.setLevel(level)
        root.removeHandler(writer)


@contextmanager
def streaming_to(said: Said, asker: Asker) -> Iterator[None]:
    """Read the stream of the page in a thread, piece by piece."""
    connection = HTTPConnection("127.0.0.1", asker.served.port, timeout=60)
    connection.request("GET", f"{asker.page}/events", headers={"Cookie": asker.cookie})
    answer = connection.getresponse()
    assert answer.status == 200

    def read() -> None:
        with suppress(HTTPException, OSError):  # it is cut off at the end
            while piece := answer.read1(65_536):
                said.stream.append(piece)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    yield
    asker.served.call(asker.served.cut_connections)
    thread.join(20)
    connection.close()


# ----------------------------------------------------------------------------------------------------- what is a secret


def hidden_now(playground: Playground) -> dict[str, bytes]:
    """What the players still hide: keys forever, salts until they are revealed, seeds forever. Called in the server's
    thread."""
    found = {f"key of {each.name}": each.key.secret for each in playground.players}
    shown = b"".join(state.app_data for state in states_of(playground))
    for player in playground.players:
        own = player.managed.channel.secrets
        if playground.match.game is ROCK_PAPER_SCISSORS:
            salts = [each.salt for each in decode_openings(own)]
            found |= {f"salt {each.hex()}": each for each in salts if each not in shown}
        if playground.match.game is DISCARD:
            for seed in HandSecrets.decode(own).seeds:
                found[f"seed of {player.name}, {seed.turn_num}"] = seed.secret
                found[f"card key of {player.name}, {seed.turn_num}"] = seed.key.to_bytes(32)
    return found


def states_of(playground: Playground) -> list[VariablePart]:
    entries = playground.history(playground.channel.agreement.channel_id).entries
    return [each.signed.state for each in entries if isinstance(each, StateSigned | StateAccepted)]


def cards_of_bob(playground: Playground) -> list[str]:
    """The cards in Bob's hand by their names, as he knows them."""
    channel = playground.players[1].managed.channel
    if playground.match.game is not DISCARD or channel.newest is None or channel.newest.state.is_final:
        return []
    own = own_cards(channel.newest.state, channel.secrets)
    return [] if own is None else [name(card) for card in own[1]]


# ------------------------------------------------------------------------------------------------------------- the game


@dataclass
class Watched:
    """A person's game, of which all that is said is kept."""

    ours: ServedPlayground
    asker: Asker
    said: Said

    @property
    def turn(self) -> int:
        return self.ours.call(lambda: self.ours.playground.channel.next_turn)

    def look(self) -> None:
        """Ask for all pages that there are."""
        count = self.ours.call(lambda: len(states_of(self.ours.playground)))
        places = range(max(0, count - _ENTRIES_BACK), count + _ENTRIES_BACK)
        paths = ["/", self.asker.page, *(f"{self.asker.page}?at={place}" for place in places)]
        self.said.answers += [self.asker.get(path).body for path in paths]

    def require_hidden(self) -> int:
        """Nothing that is hidden still was said; returns how many bytes were said."""
        self.look()
        text = self.said.take()
        playground = self.ours.playground
        secrets, cards = self.ours.call(lambda: (hidden_now(playground), cards_of_bob(playground)))
        journal = self.ours.call(lambda: playground.players[0].journal.history(self.id).bodies)
        assert found_in(text, secrets) == []
        assert found_in(b"".join(journal), secrets) == []
        last = self.asker.get(self.asker.page).body
        assert [each for each in cards if each in last] == []
        return len(text)

    @property
    def id(self) -> bytes:
        return bytes.fromhex(self.asker.page.removeprefix("/c/0x"))

    def act(self, do: str) -> None:
        """Make the first move that is possible, or leave."""
        playground, turn = self.ours.playground, self.turn
        word = self.ours.call(lambda: next((each.word for each in playground.match.person.choices), ""))
        self.said.answers.append(
            self.asker.post(f"{self.asker.page}/act", {"do": do, "word": word, "turn": str(turn)}).body
        )
        until(lambda: self.turn > turn)


@contextmanager
def watched(game: Game) -> Iterator[Watched]:
    said = Said()
    with logging_to(said), served_games(game) as ours:
        asker = Asker(ours)
        with streaming_to(said, asker):
            yield Watched(ours, asker, said)


def can_move(playground: Playground) -> bool:
    return bool(playground.match.person.choices) or playground.match.checks is not None


@pytest.mark.parametrize("game", [TIC_TAC_TOE, ROCK_PAPER_SCISSORS, DISCARD], ids=lambda game: game.name)
def test_nothing_that_is_hidden_is_said_in_a_whole_game(game: Game) -> None:
    with watched(game) as ours:
        playground, said = ours.ours.playground, 0
        while ours.turn < _TURNS[game.name]:
            until(lambda: ours.ours.call(partial(can_move, playground)))
            said += ours.require_hidden()
            ours.act("move")
            said += ours.require_hidden()
        until(lambda: ours.ours.call(partial(can_move, playground)))
        ours.act("leave")
        until(lambda: ours.ours.call(lambda: playground.match.checks is not None))
        said += ours.require_hidden()
    assert said > 100_000


# ---------------------------------------------------------------------------------------------------- leaks are noticed


def to_page(ours: Watched, text: str) -> None:
    ours.ours.call(lambda: ours.ours.playground.errors.append(text))


def to_log(_: Watched, text: str) -> None:
    logging.getLogger("forcemove.anything").debug("drew %s", text)


@pytest.mark.parametrize("leak", [to_page, to_log])
def test_a_leak_would_be_found(leak: Callable[[Watched, str], None]) -> None:
    with watched(ROCK_PAPER_SCISSORS) as ours:
        playground = ours.ours.playground
        until(lambda: ours.ours.call(partial(can_move, playground)))
        ours.ours.call(lambda: press(playground, "silent"))
        ours.act("move")
        ours.require_hidden()
        secrets = ours.ours.call(lambda: hidden_now(playground))
        (salt,) = [name for name in secrets if name.startswith("salt")]
        leak(ours, secrets[salt].hex())
        with pytest.raises(AssertionError, match="salt"):
            ours.require_hidden()


_PLANTED = bytes(range(7, 39))


@pytest.mark.parametrize("before", [b"", b"a", b"ab"])
@pytest.mark.parametrize(
    "write",
    [
        lambda data: data,
        lambda data: repr(data).encode(),
        lambda data: data.hex().encode(),
        lambda data: data.hex().upper().encode(),
        base64.b64encode,
        base64.urlsafe_b64encode,
    ],
)
def test_a_secret_is_found_in_each_form(write: Callable[[bytes], bytes], before: bytes) -> None:
    assert found_in(write(before + _PLANTED + b"after"), {"planted": _PLANTED}) == ["planted"]
    assert found_in(write(before + bytes(32) + b"after"), {"planted": _PLANTED}) == []


def test_a_secret_is_found_as_a_number() -> None:
    assert found_in(b"at %d." % int.from_bytes(_PLANTED), {"planted": _PLANTED}) == ["planted"]
