"""Channels that came from a backup: they sign nothing and pay nothing in, but are defended and collected."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from forcemove import ChannelSetup, Node, Phase, open_journal
from forcemove.node.events import Event, Mined, Sent
from forcemove.protocol.errors import SignsNothing
from forcemove.protocol.machine.effects import SubmitCheckpoint, SubmitConclude, SubmitRespond
from forcemove.protocol.machine.inputs import ChallengeWanted, ConcludeWanted, Input, MoveChosen
from forcemove.protocol.rules import build_support_proof
from forcemove.protocol.types import ETHER
from forcemove.store.journal import Journal
from forcemove.store.records import ExportKind, Ownership
from forcemove.workers.polling import poll_once
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.expected import known
from tests.node.test_node import House
from tests.scenarios.story import DURATION, KEYS, Playground


class Copied:
    """Alice's channel as a backup has it, in a process of its own. Her other process, the original, is gone."""

    def __init__(self, home: House, folder: Path) -> None:
        self.home, self.alice, self.bob = home, *home.processes
        data = self.alice.journal.export(self.alice.journal.ids(), ExportKind.BACKUP)
        self.alice.node.release()
        self.journal: Journal = open_journal(str(folder / "copy"), owner=secrets.token_bytes(16))
        self.journal.import_(data)
        self.events: list[Event] = []
        self.node = Node(self.journal, on_error=self.alice.troubles.append)
        self.managed = self.node.add(
            ChannelSetup(home.assemblies[0], KEYS[0], home.lines[0][0], _never, on_event=self.events.append)
        )
        self.node.poll()

    def play(self) -> None:
        while self.node.poll() or self.bob.node.poll():
            pass

    def poll(self) -> None:
        """Without Bob."""
        while self.node.poll():
            pass


def _never(_: object) -> None:
    raise AssertionError("a copy asks nobody for a move")


def played(playground: Playground, folder: Path, until: int) -> House:
    home = House(playground, folder, 1, TIC_TAC_TOE)
    home.stops_at = until
    home.play()
    return home


@pytest.fixture
def copied(playground: Playground, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Copied]:
    """In the middle of a game. The parameter: the last turn; after an even one Bob is to move."""
    copy = Copied(played(playground, tmp_path, request.param), tmp_path)
    yield copy
    copy.journal.close()
    copy.home.close()


after_turns = pytest.mark.parametrize("copied", [6, 7], indirect=True)


def sent(copied: Copied) -> list[object]:
    return [event for event in copied.events if isinstance(event, Sent)]


@after_turns
def test_threat_53_a_copy_signs_nothing_whatever_is_wanted_of_it(copied: Copied) -> None:
    newest = known(copied.managed.channel.newest)
    wishes: list[Input] = [ConcludeWanted(), MoveChosen(newest.state.outcome, b"")]
    for wish in wishes:
        with pytest.raises(SignsNothing):
            copied.managed.feed(wish)
    copied.home.stops_at = 10**6
    copied.play()
    assert copied.managed.phase is Phase.PLAYING
    assert sent(copied) == []
    assert copied.managed.channel.last_signed is not None


@after_turns
def test_threat_53_a_copy_answers_an_old_state_with_what_it_has(copied: Copied) -> None:
    assembly = copied.home.assemblies[0]
    fixed_part, newest = assembly.agreement.fixed_part, copied.managed.channel.newest
    assert newest is not None
    proof = known(build_support_proof(fixed_part, copied.managed.channel.signed_states[:2]))
    assembly.adjudicator.send(assembly.adjudicator.challenge(fixed_part, proof), KEYS[1])
    copied.play()
    assert assembly.adjudicator.status_of(assembly.agreement.channel_id, ETHER).finalizes_at == 0
    done = [type(event.submission) for event in copied.events if isinstance(event, Mined)]
    assert done in ([SubmitCheckpoint], [SubmitRespond])
    assert sent(copied) == []


@after_turns
def test_threat_53_a_copy_challenges_and_collects(copied: Copied) -> None:
    """Nobody answers any more, and where it is our turn, nobody makes our move."""
    assembly = copied.home.assemblies[0]
    copied.managed.feed(ChallengeWanted())
    copied.poll()
    copied.home.chain.travel_to(copied.home.chain.now() + DURATION + 1)
    copied.poll()
    assert copied.managed.phase is Phase.CLOSED
    assert assembly.adjudicator.holdings_of(assembly.agreement.channel_id, bytes(20), 0).amount == 0
    assert sent(copied) == []
    assert copied.journal.channels()[0].ownership is Ownership.BACKUP


def test_threat_53_a_copy_concludes_what_all_have_signed(playground: Playground, tmp_path: Path) -> None:
    """Bob's signature on the final state has arrived, and was not read before the copy was made."""
    home = played(playground, tmp_path, 7)
    alice, bob = home.processes
    (managed,) = alice.node.channels.values()
    managed.feed(ConcludeWanted())
    alice.node.step()
    bob.node.step()
    copied = Copied(home, tmp_path)
    copied.poll()
    mined = [type(event.submission) for event in copied.events if isinstance(event, Mined)]
    assert mined == [SubmitConclude]
    assert copied.managed.phase is Phase.CLOSED
    assert sent(copied) == []
    copied.journal.close()
    home.close()


def test_threat_53_a_copy_pays_nothing_in(playground: Playground, tmp_path: Path) -> None:
    """The original has asked for a deposit, and has died before it was sent."""
    home = House(playground, tmp_path, 1, TIC_TAC_TOE)
    alice, bob = home.processes
    (managed,) = alice.node.channels.values()
    (chain,) = alice.node._workers.chains.values()
    while managed.phase is not Phase.FUNDING:
        poll_once(chain.viewers[0], alice.troubles.append)
        alice.node.step()
        bob.node.poll()
    copied = Copied(home, tmp_path)
    copied.poll()
    assert copied.managed.phase is Phase.FUNDING
    assert home.held() == 0
    assert [event for event in copied.events if isinstance(event, Mined)] == []
    copied.journal.close()
    home.close()
