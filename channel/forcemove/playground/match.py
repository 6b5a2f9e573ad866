"""One game of the playground: a person and Bob in one channel, from nothing until the balances are compared."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

from forcemove.arena.balances import BalanceCheck, check_balances
from forcemove.arena.chain import ArenaChain
from forcemove.arena.network import MemoryNetwork
from forcemove.arena.participant import LocalParticipant
from forcemove.chain.adjudicator import Adjudicator
from forcemove.errors import ForcemoveError
from forcemove.flow.channel import is_stuck
from forcemove.game import Game, Level, Randomness
from forcemove.node.assemble import Assembly
from forcemove.node.managed_channel import ManagedChannel
from forcemove.playground.counterparty import Counterparty
from forcemove.protocol.machine.channel import Channel, Phase
from forcemove.protocol.machine.inputs import ChallengeWanted, Reconnected
from forcemove.protocol.machine.results import is_over, is_unpaid
from forcemove.protocol.types import Outcome
from forcemove.protocol.words import Status
from forcemove.sessions.playing.human_player import HumanPlayer
from forcemove.sessions.playing.patience import Patience

PATIENCE = 120
"""Seconds of the chain's clock after which the person's program challenges by itself where the person has nothing left
to decide: before play, and after leaving."""
_SILENCE = 2.0
"""Seconds to wait for a message before asking whether one was lost."""
_ROUNDS = 100
"""How often both participants have their turn in one poll at most."""
_MINE_EVERY = 12
"""Seconds of the chain's clock between two empty blocks, while a transaction waits for another block."""


class PlaygroundMatch:
    """One game. `checks`: the balances, once the channel has paid all; None before."""

    def __init__(
        self,
        game: Game,
        chain: ArenaChain,
        players: Sequence[LocalParticipant],
        assemblies: Sequence[Assembly],
        clock: Callable[[], float],
        randomness: Randomness,
        level: Callable[[], Level],
    ) -> None:
        """Begin a game; the first `poll` does something.

        - `game`: what is played.
        - `chain`: on which it is played.
        - `players`: the person and Bob.
        - `assemblies`: the channel, through the endpoint of each player.
        - `clock`: seconds that go on steadily.
        - `randomness`: for the person's hidden choices.
        - `level`: how well Bob plays, asked before each of his moves.
        """
        self.game, self.players, self.chain = game, players, chain
        self.checks: tuple[BalanceCheck, ...] | None = None
        self.network = MemoryNetwork(len(players), clock)
        self.person = HumanPlayer(game, randomness, agrees=True)
        chain.begin_game()
        for player in players:
            player.leave_all()
        me, bob = assemblies
        self.adjudicator = Adjudicator(chain, me.adjudicator.address)
        self._before = tuple(chain.balance(each.key.address) for each in players)
        self._status: tuple[bytes, Status] | None = None
        self.bob = Counterparty(players[1], bob.adjudicator, self.network.ends[1], game, level, self.status, clock)
        mine, his = self.network.ends
        players[1].join(bob, his, self.bob.choose, on_event=self.bob.on_event, silence=_SILENCE, block_time=0)
        names = tuple(each.name for each in players)
        players[0].join(me, mine, self.person.choose, silence=_SILENCE, block_time=0, names=names)
        self.person.attach(self.managed)
        self._compared_at = -1
        self._mined_at = chain.time
        self._patience = Patience(PATIENCE, chain.time)

    @property
    def managed(self) -> ManagedChannel:
        """The channel as the person's node drives it."""
        return self.players[0].managed

    @property
    def channel(self) -> Channel:
        """The channel as the person sees it."""
        return self.managed.channel

    @property
    def finalizes_at(self) -> int:
        """The time at which a clock that runs has run out, by the chain itself; 0 where none runs."""
        return self.status().finalizes_at

    def status(self) -> Status:
        """The channel's status by the chain itself, asked for once a block."""
        if self._status is None or self._status[0] != self.chain.head:
            agreement = self.channel.agreement
            status = self.adjudicator.status_of(agreement.channel_id, agreement.fixed_part.asset)
            self._status = self.chain.head, status
        return self._status[1]

    @property
    def has_money(self) -> bool:
        """Whether anybody has paid in, or is about to."""
        return not is_unpaid(self.channel)

    def greet(self) -> None:
        """Let both ask whether a message was lost."""
        with contextlib.suppress(ForcemoveError):
            self.managed.feed(Reconnected())
        self.bob.greet()

    def poll(self) -> bool:
        """Do all that can be done now; returns whether the game has ended, or has not any more."""
        for _ in range(_ROUNDS):
            self.network.deliver()
            # The person first: a defence is faster than who attacks.
            has_happened = [self.players[0].poll(), self.bob.poll()]
            if not any(has_happened):
                break
        self._mine_for_who_waits()
        self._lose_patience()
        return self._compare()

    # --------------------------------------------------------------------------------------------------------- the end

    @property
    def is_over(self) -> bool:
        """Whether the channel is over for the person, and all that is sent is mined."""
        managed = self.managed
        is_quiet = not managed.client.has_work and not any(each.is_sending for each in self.players)
        return is_quiet and is_over(managed.channel, managed.time())

    def _compare(self) -> bool:
        """Compare the balances where the game is over; whether the result is another one."""
        if not self.is_over or not self._is_paid:
            was, self.checks, self._compared_at = self.checks, None, -1
            return was is not None
        if self._compared_at == self.chain.block_number():
            return False
        self._compared_at = self.chain.block_number()
        names, agreement = [each.name for each in self.players], self.channel.agreement
        self.checks = check_balances(self.chain, self.adjudicator, agreement, names, self._before, self._agreed)
        return True

    @property
    def _is_paid(self) -> bool:
        """Whether the chain holds nothing for the channel any more."""
        agreement = self.channel.agreement
        return all(
            self.adjudicator.holdings_of(agreement.channel_id, asset, agreement.fixed_part.total_of(asset)).amount == 0
            for asset, _ in agreement.deposits
        )

    @property
    def _agreed(self) -> Outcome | None:
        """The outcome of the final state that all have signed, by the word of any of the clients."""
        for player in self.players:
            newest = player.managed.channel.newest
            if newest is not None and newest.state.is_final and len(newest.signed.signatures) == len(self.players):
                return newest.state.outcome
        return None

    # -------------------------------------------------------------------------------------------------------- patience

    def _mine_for_who_waits(self) -> None:
        """Make a block now and then while a client waits for one to try again what was refused."""
        if not any(each.managed.client.has_failures for each in self.players):
            self._mined_at = self.chain.time
        elif self.chain.time >= self._mined_at + _MINE_EVERY:
            self._mined_at = self.chain.time
            self.chain.mine()

    def _lose_patience(self) -> None:
        """Challenge for a person who has nothing left to decide, where Bob keeps everybody waiting."""
        channel, phase, now = self.channel, self.managed.phase, self.managed.time()
        can_decide = phase is Phase.PLAYING and not (channel.leaving or channel.lacks_money)
        if not self._patience.is_lost(channel, phase, now) or can_decide or not is_stuck(channel, phase):
            return
        self._patience.begin(now)
        with contextlib.suppress(ForcemoveError):  # there may be nothing to challenge with yet
            self.managed.feed(ChallengeWanted())
