"""Towers for tests: on a journal in a file, on a chain that is as bad as a test wants it."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forcemove import Adjudicator, Chain, Key, SignedState, Tower, TowerSettings, VariablePart, local_keys, open_journal
from forcemove.protocol.app import Rules
from forcemove.store.journal import Journal
from forcemove.watchtower import appointment, budgeted_sender, channel_guard, watched_channel
from forcemove_games.tic_tac_toe import GAME
from tests.scenarios.story import ALICE, BOB, Playground, Story
from tests.simulation.chain import MemoryChain

TOWER, OTHER_TOWER = local_keys()[5:7]
ETHER = 10**18
SETTINGS = TowerSettings(confirmations=1, buried=3)


@dataclass
class Keeper:
    """A tower's process: a journal, and a tower on it. `now`: its own clock, seconds."""

    journal_at: str
    adjudicators: Sequence[Adjudicator]
    apps: dict[bytes, Rules]
    key: Key = TOWER
    served: dict[bytes, int] = field(default_factory=lambda: {ALICE.address: ETHER, BOB.address: ETHER})
    settings: TowerSettings = SETTINGS
    now: float = 0.0
    told: list[budgeted_sender.AnswerResult] = field(default_factory=list)
    troubles: list[Exception] = field(default_factory=list)
    journal: Journal = field(init=False)
    tower: Tower = field(init=False)

    def __post_init__(self) -> None:
        self.start()

    @classmethod
    def of(cls, story: Story, folder: Path, *chains: Chain, name: str = "tower", **options: Any) -> Keeper:
        """One that watches the story's adjudicator, through these endpoints or the story's own, and knows its game."""
        seen = [Adjudicator(chain, story.adjudicator.address) for chain in chains] or [story.adjudicator]
        apps: dict[bytes, Rules] = {story.agreement.fixed_part.app_definition: story.game}
        return cls(str(folder / name), seen, options.pop("apps", apps), **options)

    def start(self) -> None:
        """Another process, on what the journal has, which has looked once."""
        self.journal = open_journal(self.journal_at, owner=secrets.token_bytes(16), clock=lambda: self.now)
        self.tower = Tower(
            self.journal,
            self.key,
            self.adjudicators,
            self.served,
            apps=self.apps,
            settings=self.settings,
            on_answer=self.told.append,
            on_error=self.troubles.append,
            clock=lambda: self.now,
        )
        self.tower.poll()

    def die(self, away: float = 3_600) -> None:
        """Without a word. `away`: seconds until the next process, which finds that the old lease has expired."""
        self.journal.close()
        self.now += away
        self.start()

    def rest(self, seconds: float = 30) -> None:
        """Poll until nothing happens any more, and nothing waits to be mined: a real chain takes its time."""
        end = time.monotonic() + seconds
        while self.tower.poll() or self.is_waiting:
            assert time.monotonic() < end, "it never comes to rest"

    def face_stale_challenge(self, story: Story) -> None:
        """Somebody challenges with the last two states of the setup; then `rest`."""
        story.challenge(1, *stale(story))
        self.rest()

    @property
    def guard(self) -> channel_guard.ChannelGuard:
        """What guards the tower's channels, while it drives."""
        assert self.tower._guard is not None
        return self.tower._guard

    @property
    def watched(self) -> list[watched_channel.WatchedChannel]:
        """All channels that it watches."""
        return [each for watch in self.guard.watches.values() for each in watch.channels.values()]

    @property
    def is_waiting(self) -> bool:
        """Whether something that it has sent, or is to send, is not mined."""
        return self.tower.is_driving and bool(self.guard.sender._sender.request_ids)

    def give(self, given: appointment.Appointment | None, key: Key = ALICE) -> appointment.AppointmentReceipt:
        assert given is not None
        return self.tower.accept(appointment.sign_appointment(given, self.key.address, key))

    def give_newest(self, story: Story, seat: int = 0) -> appointment.AppointmentReceipt:
        return self.give(newest(story, seat), (ALICE, BOB)[seat])

    @property
    def kept(self) -> int:
        """How many appointments are in the journal."""
        return len(self.journal.towers.appointments(self.tower._name))

    @property
    def answers(self) -> list[str]:
        """What was mined of what it has sent."""
        return [type(each.submission).__name__ for each in self.told if each.error is None and each.block is not None]

    @property
    def sent(self) -> int:
        """How many transactions of its account are mined."""
        return self.adjudicators[0].chain.nonce_of(self.key.address)

    def close(self) -> None:
        self.journal.close()


def three_stories() -> list[Story]:
    """Three games of one playground, each played to turn 6."""
    playground = Playground.on(MemoryChain())
    made = [playground.story(GAME) for _ in range(3)]
    for each in made:
        each.play_until(6)
    return made


def newest(story: Story, seat: int = 0) -> appointment.Appointment:
    """What this player's client hands over now."""
    given = appointment.make_appointment(story.players[seat].client.channel, story.first_block)
    assert given is not None
    return given


def finished(story: Story) -> appointment.Appointment:
    """The final state after the newest one, signed by both."""
    state = story.alice.newest.state
    final = VariablePart(state.outcome, b"", state.turn_num + 1, True)
    return appointment.Appointment(story.agreement, story.first_block, (story.sign(final, 0, 1),))


def stale(story: Story) -> Sequence[SignedState]:
    """The last two states of the setup."""
    return story.opening()[2:4]
