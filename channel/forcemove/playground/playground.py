"""The playground: a person plays Bob in a channel, and buttons let Bob, the network and the chain misbehave.

Nothing here runs by itself: the owner of a playground calls `poll`, again at `next_due` at the latest, always in the
same thread. So whatever moves the chain's clock is never inside of what reads it.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from forcemove.arena.chain import ArenaChain
from forcemove.arena.evm_chain import EvmChain
from forcemove.arena.participant import LocalParticipant
from forcemove.chain.errors import Unreachable
from forcemove.chain.local import local_keys
from forcemove.errors import ForcemoveError
from forcemove.game import Game, Level, Randomness
from forcemove.history.history import ChannelHistory
from forcemove.history.overview import Overview, overview
from forcemove.node.assemble import assemble
from forcemove.node.histories import load_history
from forcemove.node.nonces import draw_nonce
from forcemove.node.policy import usual_gas
from forcemove.playground.match import PlaygroundMatch
from forcemove.playground.tours import TOURS, PlaygroundTour
from forcemove.protocol.agreement import DEPOSIT_IN_STAKES
from forcemove.protocol.machine.channel import Channel, Phase
from forcemove.protocol.rules import build_support_proof
from forcemove.sender.errors import NotTaken, StillToSend
from forcemove.text.amounts import exact_amount, format_amount
from forcemove.text.explanations import headline

STAKE = 2 * 10**17
"""Of a round, in wei, unless another is given."""
DURATION = 3_600
"""Of a challenge, in seconds, unless another is given."""
_NAMES = ("Alice", "Bob")
_TICK = 1.0
"""Seconds between two looks at the chain where nothing else is due."""


class Playground:
    """`match`: the game that is played; `book`: names the contracts on `chain`; `errors`: what has gone wrong that no
    button has caused; `revision`: rises with each change that can be seen; `level`: how well Bob plays from his next
    move on."""

    def __init__(
        self,
        games: Sequence[Game],
        *,
        chain: Callable[[Callable[[], float]], ArenaChain] = EvmChain,
        clock: Callable[[], float] = time.monotonic,
        stake: int = STAKE,
        duration: int = DURATION,
        level: Level = Level.MEDIUM,
        randomness: Randomness = secrets.token_bytes,
        nonces: Callable[[], int] = draw_nonce,
    ) -> None:
        """Bring up a chain with the contracts, and begin the first game.

        - `games`: what can be played, the first one first; all of them for two.
        - `chain`: makes the chain, which goes with the clock that it is given.
        - `clock`: seconds that go on steadily.
        - `stake`: of a round, in wei.
        - `duration`: of a challenge, in seconds.
        - `level`: how well Bob plays.
        - `randomness`: for the person's hidden choices.
        - `nonces`: gives each game's channel its `channel_nonce`.
        """
        self.games: Sequence[Game] = tuple(games)
        self.names = _NAMES
        self.errors: list[str] = []
        self.revision, self.level = 0, level
        self.chain = chain(clock)
        self.chain.follow_clock()
        self._clock, self._stake, self._duration, self._randomness = clock, stake, duration, randomness
        self.book = self.chain.deploy(self.games)
        self._nonces = nonces
        self.endpoint, bobs = (self.chain.endpoint_named(f"{name.lower()}'s endpoint") for name in _NAMES)
        self._endpoints = self.endpoint, bobs
        self.players = tuple(
            LocalParticipant(name, key, partial(self._on_error, name), clock=clock)
            for name, key in zip(_NAMES, local_keys(), strict=False)
        )
        self.players[0].on_committed = self._on_committed
        self.match = self._begin(self.games[0])
        self.tour: PlaygroundTour | None = None
        self._history: tuple[tuple[bytes, int], ChannelHistory] | None = None
        self._gas: tuple[object, dict[str, int]] = (None, {})

    def _begin(self, game: Game) -> PlaygroundMatch:
        self.chain.follow_clock()
        nonce, addresses = self._nonces(), [each.key.address for each in self.players]
        channel = [
            assemble(
                endpoint,
                self.book,
                game,
                addresses,
                stake=self._stake,
                deposit=self._stake * DEPOSIT_IN_STAKES,
                duration=self._duration,
                nonce=nonce,
            )
            for endpoint in self._endpoints
        ]
        return PlaygroundMatch(
            game, self.chain, self.players, channel, self._clock, self._randomness, lambda: self.level
        )

    def new_game(self, game: Game) -> None:
        """Put the game aside that is played, and begin another one. The endpoint is back, and gas is as it usually
        is."""
        self.endpoint.is_away = False
        if self.chain.is_dear:
            self.chain.set_dear(False)
        self.match, self.tour = self._begin(game), None
        self.poll()

    def begin_tour(self, name: str) -> None:
        """Begin the tour of this name, in the game that is played, or in another one where that is over."""
        if self.match.checks is not None:
            self.new_game(self.match.game)
        self.tour = PlaygroundTour(TOURS[name], self.match, self._history_now())

    def end_tour(self) -> None:
        """Guide no more."""
        self.tour = None

    # --------------------------------------------------------------------------------------------------------- driving

    def poll(self) -> bool:
        """Do all that is due now; returns whether anything has changed that can be seen: what is committed, the phase,
        or the end."""
        self.chain.follow_clock()
        self.chain.take_up()
        was, phase = self.revision, self.match.managed.phase
        has_ended = self.match.poll()
        self.revision += has_ended or self.match.managed.phase is not phase
        while self.tour is not None and self.tour.advance(self._history_now()):
            self.revision += 1
        return self.revision != was

    @property
    def next_due(self) -> float:
        """When to poll again at the latest, by the clock."""
        due = [each for each in (self.match.network.next_due, self.match.bob.next_due) if each is not None]
        return min([self._clock() + _TICK, *due])

    def _on_committed(self) -> None:
        """The history may have more: a fault is entered a second after it was found."""
        self.revision += 1

    def _on_error(self, name: str, error: Exception) -> None:
        """Keep an error that no button has caused: an endpoint that is away cannot be reached, and where gas is dear an
        offer may be refused."""
        if isinstance(error, Unreachable | StillToSend) and self.endpoint.is_away:
            return
        if isinstance(error, NotTaken) and self.chain.is_dear:
            return
        what = headline(error) if isinstance(error, ForcemoveError) else f"{type(error).__name__}: {error}"
        text = f"{name}: {what}"
        if text not in self.errors:
            self.errors.append(text)
            self.revision += 1

    # --------------------------------------------------------------------------------------------------------- looking

    @property
    def channel(self) -> Channel:
        """The channel as the person sees it."""
        return self.match.channel

    @property
    def now(self) -> int:
        """The chain's time as the person's node has read it last, seconds."""
        return self.match.managed.time()

    @property
    def own(self) -> bytes:
        """The person's secrets, as the game gave them."""
        return self.channel.secrets

    def history(self, channel_id: bytes) -> ChannelHistory:
        """What has happened in a channel of the person's. Raises `JournalError`."""
        key = channel_id, self.revision
        if self._history is None or self._history[0] != key:
            self._history = key, load_history(self.players[0].journal, channel_id)
        return self._history[1]

    def _history_now(self) -> ChannelHistory:
        return self.history(self.channel.agreement.channel_id)

    def overview(self) -> Overview:
        """What the person may know of the channel, and do."""
        return overview(
            self.channel,
            self._history_now(),
            self.now,
            choices=self.match.person.choices,
            gas={
                **usual_gas(self.channel.agreement, self.match.game, self.match.managed.prices),
                **self._gas_now(),
            },
        )

    def _gas_now(self) -> dict[str, int]:
        """The gas of a challenge, where the person could make one now; asked for once a turn."""
        channel, phase = self.channel, self.match.managed.phase
        key = channel.agreement.channel_id, channel.next_turn, phase
        if self._gas[0] != key:
            self._gas = key, {}
            if phase is Phase.PLAYING and not channel.is_our_turn:
                self._gas = key, self._challenge_gas(channel)
        return self._gas[1]

    def _challenge_gas(self, channel: Channel) -> dict[str, int]:
        proof = build_support_proof(channel.agreement.fixed_part, channel.signed_states)
        if proof is None:
            return {}
        adjudicator = self.match.adjudicator
        operation = adjudicator.challenge(channel.agreement.fixed_part, proof)
        try:
            return {"challenge": adjudicator.gas_of(operation, self.players[0].key.address)}
        except ForcemoveError:  # it is shown without a number
            return {}

    # ----------------------------------------------------------------------------------------------------------- doing

    def act(self, word: str, turn: int) -> str:
        """Do what the person has decided; returns why it was not done, empty where it was. `word`: of a move, or
        `challenge` or `leave`; `turn`: the turn of the next state when the person decided. What was decided for an
        earlier turn is done already, or late: nothing happens then."""
        if turn != self.channel.next_turn:
            return ""
        if word not in [each for each, _ in self.match.person.options]:
            return "" if self.match.person.has_decided(word) else "That is not possible right now."
        refused = self.match.person.take(word)
        self.revision += 1
        self.poll()
        return refused

    @property
    def guide(self) -> str:
        """What a tour says, how the game has ended, and what is wrong, for people; empty where there is nothing."""
        tour = () if self.tour is None else (self.tour.text,)
        return "\n".join((*self.errors, *tour, *_end_lines(self.match)))


def _end_lines(match: PlaygroundMatch) -> Iterator[str]:
    """The balances of each player, expected and found."""
    for each in match.checks or ():
        parts = f"paid in {format_amount(each.deposit)}, was paid {format_amount(each.due)}"
        if each.is_right:
            yield f"{each.name} {parts}. The balance is as expected: {format_amount(each.found)}."
        else:
            expected, found = exact_amount(each.expected), exact_amount(each.found)
            yield f"{each.name} {parts}. WRONG: {expected} expected, {found} found."
