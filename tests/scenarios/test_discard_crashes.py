"""A client of Discard that is killed between any two commits of a hand, and comes back with what its journal holds:
nobody signs two states of a turn, no key and no nonce serves for two statements, and play goes on to the payout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count

import pytest

from forcemove import Bot, Move, Phase, SignedState, VariablePart
from forcemove.protocol.codec.wire import decode_message
from forcemove.protocol.machine.inputs import StateReceived
from forcemove_games.cards.curve import COMPRESSED_LENGTH, Point, times_g, total
from forcemove_games.cards.hashing import generator
from forcemove_games.cards.key_proof import KeyProof
from forcemove_games.discard.evidence import Evidence, ShuffleProof, decode_evidence
from forcemove_games.discard.game import Discard
from forcemove_games.discard.position import KeyWords, PositionType, decode
from forcemove_games.discard_sra.cards import SIZE
from tests.games.cards.dealt import stream
from tests.process import wrap_commits
from tests.scenarios.story import Player, Playground

GAME = Discard()
ROUNDS = 600
"""Looks at both clients, at most."""
MOST_POINTS = 60
"""More commits than a client makes in these hands."""


class KilledError(Exception):
    """The process has ended."""


@dataclass
class Killer:
    """Ends a client's process at a commit: where `when` says so of its number, before it is written down (`False`) or
    after (`True`); at None it lives on."""

    when: Callable[[int], bool | None]
    commits: int = 0

    def __call__(self, commit: Callable[[], frozenset[bytes]]) -> frozenset[bytes]:
        self.commits += 1
        is_saved = self.when(self.commits)
        lost = frozenset[bytes]() if is_saved is False else commit()
        if is_saved is not None:
            raise KilledError
        return lost


@dataclass
class Statements:
    """All that one player's processes have ever proved, also what they had no time to store; and what was signed."""

    seat: int
    nonces: dict[Point, Move] = field(default_factory=dict)
    keys: dict[KeyWords, int] = field(default_factory=dict)
    signed: dict[int, SignedState] = field(default_factory=dict)

    def made(self, move: Move) -> None:
        core = decode(move.app_data).core
        key, shown = core.keys[self.seat], decode_evidence(core, move.evidence)
        if any(key):
            assert self.keys.setdefault(key, core.hand) == core.hand
        if shown is not None:
            nonce = nonce_point(shown, key)
            assert self.nonces.setdefault(nonce, move) == move, "a nonce for two statements"

    def has_signed(self, states: Sequence[SignedState]) -> None:
        for each in states:
            if self.seat in each.signatures and each.state.turn_num % 2 == self.seat:
                known = self.signed.setdefault(each.state.turn_num, each)
                assert known.state == each.state, f"turn {each.state.turn_num} was signed twice"


def nonce_point(shown: Evidence, key: KeyWords) -> Point:
    """The multiple of the generator with the nonce of a proof; of a shuffle's, that with the first."""
    if isinstance(shown, ShuffleProof):
        c, first = (int.from_bytes(shown.proof[at : at + 32], "big") for at in (0, 32))
        begin = 32 * (5 + 2 * SIZE)
        ends = begin + COMPRESSED_LENGTH * SIZE
        places = range(begin, ends, COMPRESSED_LENGTH)
        com = (Point.from_compressed(shown.proof[at : at + COMPRESSED_LENGTH]) for at in places)
        return (total(com) - total(generator(i + 1) for i in range(SIZE))) * c + times_g(first)
    assert shown is not None
    c, s = shown if isinstance(shown, KeyProof) else shown.proof
    return times_g(s) - Point.from_coordinates(*key) * c


class WatchedBot:
    """The game's own bot. It plays one hand, and leaves before the second one is shuffled."""

    def __init__(self, bot: Bot, statements: Statements) -> None:
        self._bot, self._statements = bot, statements

    def move(self, state: VariablePart, *, another_round: bool, between: Sequence[VariablePart] = ()) -> Move | None:
        core = decode(state.app_data).core
        wants = another_round or core.hand == 0 or core.position_type < PositionType.KEYED
        move = self._bot.move(state, another_round=wants, between=between)
        if move is not None:
            self._statements.made(move)
        return move

    def is_lost(self, state: VariablePart) -> bool:
        return self._bot.is_lost(state)

    def secrets(self) -> bytes:
        return self._bot.secrets()


class KilledHand:
    """A hand of which each seat's process is killed as its `Killer` says. `kills`: how often somebody was."""

    def __init__(self, playground: Playground, killers: dict[int, Killer]) -> None:
        self.story, self.kills = playground.story(GAME), 0
        self.statements = [Statements(seat) for seat in range(2)]
        self._lives = count()
        for player in self.story.players:
            self._give_bot(player, b"")
            self._listen(player)
            if player.seat in killers:
                wrap_commits(player.journal, killers[player.seat])

    def _give_bot(self, player: Player, secrets: bytes) -> None:
        """A new one, with chance of its own: what it draws now it has not drawn before."""
        fresh = stream(f"life {next(self._lives)} of {player.seat}")
        player.bot, player.leave_after = (
            WatchedBot(GAME.bot(player.seat, fresh, secrets), self.statements[player.seat]),
            0,
        )

    def _listen(self, player: Player) -> None:
        """Remember every state that it sends."""
        line, known = self.story.lines[player.seat], self.statements[player.seat]
        send = line.send

        def listened(message: bytes) -> None:
            said = decode_message(message)[1]
            if isinstance(said, StateReceived):
                known.has_signed([said.signed])
            send(message)

        line.send = listened  # type: ignore[method-assign]  # the same, heard

    def play(self) -> None:
        """To the payout; where nothing happens any more, a minute passes."""
        for _ in range(ROUNDS):
            if {player.phase for player in self.story.players} == {Phase.CLOSED}:
                return
            if not [player for player in self.story.players if self._poll(player)]:
                self.story.seconds += 60
        raise AssertionError("the hand never ends")

    def _poll(self, player: Player) -> bool:
        try:
            return player.client.poll()
        except KilledError:
            self._come_back(player)
            return True

    def _come_back(self, player: Player) -> None:
        """Another process on the same journal; what was on its way to the dead one is lost."""
        self.kills += 1
        self.story.lines[player.seat].receive()
        stored = player.stored
        if stored is not None:
            self.statements[player.seat].has_signed(stored.signed_states)
        self._give_bot(player, b"" if stored is None else stored.secrets)
        self.story.start(player)

    def require_right(self) -> None:
        """The hand was played to its end, both were paid, and nobody was accused of anything."""
        alice, bob = self.story.players
        self.story.ends_with(alice.newest.state.outcome)
        assert alice.faults == bob.faults == []
        signed = {**self.statements[0].signed, **self.statements[1].signed}
        kinds = {decode(each.state.app_data).position_type for each in signed.values() if not each.state.is_final}
        assert kinds >= {PositionType.KEYED, PositionType.SHUFFLED, PositionType.DEALT, PositionType.PLAYING}
        assert kinds & {PositionType.OVER, PositionType.TIED}
        assert all(len(each.keys) >= 2 and len(each.nonces) > 3 for each in self.statements)


def at_every_second(number: int) -> bool | None:
    """Each process writes down one commit. At its second one it ends, in turn before and after that is written down: a
    process that has saved nothing would begin where the one before it began."""
    return None if number % 2 else number % 4 == 0


@pytest.mark.parametrize("dying", [(0,), (1,), (0, 1)], ids=["Alice dies", "Bob dies", "both die"])
def test_threat_21_a_player_killed_at_every_second_commit_of_a_hand_plays_on(
    playground: Playground, dying: tuple[int, ...]
) -> None:
    hand = KilledHand(playground, {seat: Killer(at_every_second) for seat in dying})
    hand.play()
    hand.require_right()
    assert hand.kills >= 8 * len(dying)


@pytest.mark.long
@pytest.mark.parametrize("seat", [0, 1], ids=["Alice", "Bob"])
@pytest.mark.parametrize("is_saved", [True, False], ids=["after saving", "before saving"])
@pytest.mark.parametrize("again", [0, 1, 3])
def test_threat_21_a_player_killed_at_any_commit_of_a_hand_and_soon_again_plays_on(
    playground: Playground, seat: int, again: int, *, is_saved: bool
) -> None:
    """`again`: this many commits later, before it is written down; 0 where it is killed only once."""
    at, commits = 0, 1
    while at < commits:
        at += 1
        deaths = {**({at + again: False} if again else {}), at: is_saved}
        killer = Killer(deaths.get)
        hand = KilledHand(playground, {seat: killer})
        hand.play()
        hand.require_right()
        commits = killer.commits
        assert hand.kills == sum(each <= commits for each in deaths)
    assert 10 < at < MOST_POINTS
