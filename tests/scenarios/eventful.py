"""Games to which everything happens, by chance: disputes, reorganisations, forged messages, processes killed before and
after any commit. And the truth about them, which the journal's histories are compared with."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

from forcemove import ChannelHistory, ForcemoveError, Game, Phase, SignedState, VariablePart, load_history
from forcemove.history.entries import Entry
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.protocol.codec.wire import decode_message, encode_message
from forcemove.protocol.machine.inputs import ChallengeWanted, StateReceived
from forcemove.store.records import Batch
from tests.scenarios.story import Player, Playground, Story

__all__ = ["EventfulGame", "Truth"]

_ROUNDS = 400
StateName = tuple[int, bytes]
"""A state's turn and hash."""


class KilledError(BaseException):
    """The process has ended: nothing in it can catch this."""


class Truth:
    """What was committed and sent, as it went by. `signed`: the states whose signature was committed, in their order;
    `accepted`: all states that were committed as accepted; `sent`: the states that went over the line."""

    def __init__(self) -> None:
        self.signed: list[StateName] = []
        self.accepted: dict[StateName, VariablePart] = {}
        self.sent: list[SignedState] = []

    def on_commit(self, batch: Batch) -> None:
        for update in batch.channels:
            channel = CHANNELS.decode(update.snapshot)
            if channel.last_signed is not None and channel.last_signed not in self.signed:
                self.signed.append(channel.last_signed)
            self.accepted |= {(each.state.turn_num, each.hashes.state): each.state for each in channel.accepted}


class EventfulGame:
    """One game, from a seed. `truths`: by seat."""

    def __init__(self, playground: Playground, game: Game, seed: int, *, chance: float = 0.04) -> None:
        """`chance`: of each commit, to be the last one of its process."""
        self.random, self.chance = Random(seed), chance
        self.story: Story = playground.story(game)
        self.truths = (Truth(), Truth())
        self.deaths = self.reorganisations = 0
        self._is_challenged = self._has_waited = False
        for player, truth in zip(self.story.players, self.truths, strict=True):
            player.leave_after = self.random.choice((4, 8, 12))
            self._watch(player, truth)

    def _watch(self, player: Player, truth: Truth) -> None:
        journal, line = player.journal, self.story.lines[player.seat]
        commit, commit_txs, send = journal.commit, journal.transactions.commit, line.send

        def committed(batch: Batch) -> frozenset[bytes]:
            lost = commit(batch)
            assert not lost
            truth.on_commit(batch)
            return lost

        def sent(message: bytes) -> None:
            said = decode_message(message)[1]
            if isinstance(said, StateReceived):
                truth.sent.append(said.signed)
            send(message)

        journal.commit = self._deadly(committed)  # type: ignore[method-assign]
        journal.transactions.commit = self._deadly(commit_txs)  # type: ignore[method-assign]
        line.send = sent  # type: ignore[method-assign]

    def _deadly(self, commit: Callable[..., Any]) -> Callable[..., Any]:
        """The commit, before or after which the process may be killed."""

        def committed(*arguments: Any) -> Any:
            dies, is_saved = self.random.random() < self.chance, self.random.random() < 0.5
            if dies and not is_saved:
                raise KilledError
            result = commit(*arguments)
            if dies:
                raise KilledError
            return result

        return committed

    # ------------------------------------------------------------------------------------------------------- playing

    def play(self) -> None:
        """Until both are paid, or for so long as a table can take; then nobody is killed any more, and all that is on
        its way arrives."""
        for _ in range(_ROUNDS):
            is_busy = [self._poll(player) for player in self.story.players]
            if self._phases == {Phase.CLOSED}:
                break
            self._act()
            if not any(is_busy):
                self._pass_time()
        self.chance = 0.0
        for _ in range(20):
            for player in self.story.players:
                self._poll(player)
            self.story.seconds += 2

    @property
    def _phases(self) -> set[Phase]:
        return {player.phase for player in self.story.players}

    def _poll(self, player: Player) -> bool:
        try:
            with suppress(ForcemoveError):
                return player.client.poll()
        except KilledError:
            self.deaths += 1
            self._restart(player)
        return True

    def _restart(self, player: Player) -> None:
        while True:
            with suppress(KilledError):
                self.story.start(player)
                return

    def _act(self) -> None:
        story, lucky = self.story, self.random.random()
        if lucky < 0.03:
            self._reorganise()
        elif lucky < 0.06:
            bad = VariablePart(story.alice.newest.state.outcome, b"nonsense", story.alice.client.channel.next_turn)
            story.lines[1].send(encode_message(story.agreement.channel_id, story.sign(bad, 1)))
            self.truths[1].sent.pop()
        elif lucky < 0.2 and not self._is_challenged and story.bob.client.channel.next_turn > 5:
            self._is_challenged = True
            with suppress(ForcemoveError):
                story.challenge(1, *story.opening()[2:])
        elif lucky < 0.3 and not self._has_waited and story.alice.phase is Phase.PLAYING:
            self._has_waited = True
            with suppress(ForcemoveError, KilledError):
                story.alice.client.managed.feed(ChallengeWanted())

    def _reorganise(self) -> None:
        story = self.story
        height = story.chain.block_number()
        fork = max(story.first_block, height - self.random.randint(1, 4))
        if fork < height:
            self.reorganisations += 1
            story.reorganise(fork, mined=height - fork + 1)

    def _pass_time(self) -> None:
        story = self.story
        story.seconds += 60
        with suppress(ForcemoveError):
            if story.finalizes_at and self.random.random() < 0.3:
                story.expire()
                story.mine()

    # ------------------------------------------------------------------------------------------------------- histories

    def history(self, player: Player) -> ChannelHistory:
        """The player's, as the journal has it."""
        return load_history(player.journal, self.story.agreement.channel_id)

    def standing(self, player: Player) -> list[Entry]:
        """Without what a reorganisation has removed."""
        history = self.history(player)
        return [each for place, each in enumerate(history.entries) if place not in history.reorged]
