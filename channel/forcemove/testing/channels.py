"""A game played in real channels on a chain in this process, honestly and with each kind of dispute.

Every function plays one channel to its end with a bot in each seat, and raises `AssertionError` where that did not go
as it must: the channel closed, nothing left in it, and everybody paid by the newest state.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from forcemove.arena.local_table import local_table
from forcemove.arena.tricks import signed_by
from forcemove.chain.local import local_keys
from forcemove.errors import AppError
from forcemove.flow.channel import moves_of
from forcemove.game import Game
from forcemove.node.effect_executor import MoveChooser
from forcemove.node.managed_channel import ManagedChannel
from forcemove.protocol.errors import MessageRefused
from forcemove.protocol.machine.channel import Phase
from forcemove.protocol.machine.inputs import ChallengeWanted, StateReceived
from forcemove.protocol.rules import build_support_proof
from forcemove.protocol.types import Outcome, SignedState, SupportProof, VariablePart

__all__ = ["play_cheat", "play_forced", "play_honestly", "play_silence", "play_stale"]

STAKE = 10**15
"""Of every channel here, in wei; the deposits last for several rounds."""
_LAST_TURN = 30
"""The turn after which no bot begins another round."""


class _Channel:
    """A table with a bot in each seat."""

    def __init__(self, game: Game, seats: int) -> None:
        self.game, self.seats = game, seats
        self.table = local_table(game, *(self._player(seat) for seat in range(seats)), stake=STAKE)
        self.clients, self.agreement = self.table.channels, self.table.channels[0].channel.agreement
        self.keys = local_keys()[:seats]
        self.last_setup_turn = 2 * seats - 1

    def _player(self, seat: int) -> MoveChooser:
        return moves_of(self.game.bot(seat), another_round=lambda state: state.turn_num < _LAST_TURN)

    @property
    def ahead(self) -> ManagedChannel:
        """The client that knows the newest state."""
        return max(self.clients, key=lambda client: client.channel.next_turn)

    @property
    def newest_turn(self) -> int:
        """The turn of the newest state; -1 before there is one."""
        return self.ahead.channel.next_turn - 1

    @property
    def newest(self) -> VariablePart:
        """The newest state that any client has."""
        return self.ahead.channel.signed_states[-1].state

    @property
    def next_mover(self) -> int:
        """The seat whose turn it is."""
        return (self.newest_turn + 1) % self.seats

    def others(self, seat: int) -> list[int]:
        """All seats but one."""
        return [other for other in range(self.seats) if other != seat]

    def play(self, seats: Sequence[int] | None = None, *, until: float = inf) -> None:
        """Let these seats act, all unless others are given, until the newest state has that turn or nobody acts."""
        acting = range(self.seats) if seats is None else seats
        while any(self.newest_turn < until and self.table.poll(seat) for seat in acting) or self.table.pass_on():
            pass

    def play_moves(self, count: int) -> None:
        """Play this many moves after the opening. Raises `AssertionError` where the game ends before that."""
        self.play(until=self.last_setup_turn + count)
        if self.newest_turn < self.last_setup_turn + count or self.newest.is_final:
            raise AssertionError(f"the game is over before {count} moves are made; begin the dispute earlier")

    def challenge(self, seat: int) -> None:
        """Have a client begin the clock with what it can prove."""
        self.clients[seat].feed(ChallengeWanted())

    def let_time_pass(self) -> None:
        """Move the clock to the end of the challenge."""
        status = self.table.adjudicator.status_of(self.agreement.channel_id, self.agreement.fixed_part.asset)
        self.table.chain.travel_to(status.finalizes_at)

    def proof(self, *states: SignedState) -> SupportProof:
        """A support proof of consecutive states."""
        found = build_support_proof(self.agreement.fixed_part, list(states))
        if found is None:
            raise AssertionError("a signature is missing")
        return found

    def end(self) -> Outcome:
        """Play to the end. Raises `AssertionError` unless the channel is closed for all, with nothing left in it."""
        self.play()
        phases = {client.phase for client in self.clients}
        if phases != {Phase.CLOSED}:
            raise AssertionError(f"the channel is not closed: {', '.join(sorted(phase.value for phase in phases))}")
        for asset, _ in self.agreement.deposits:
            total = self.agreement.fixed_part.total_of(asset)
            held = self.table.adjudicator.holdings_of(self.agreement.channel_id, asset, total).amount
            if held:
                raise AssertionError(f"{held} is left in the channel")
        return self.newest.outcome


def play_honestly(game: Game, seats: int) -> Outcome:
    """Play rounds until the bots leave, and conclude with a state that all have signed. Returns what was paid."""
    return _Channel(game, seats).end()


def play_silence(game: Game, seats: int, *, after: int = 1) -> Outcome:
    """After this many moves the next mover falls silent: it is challenged, its time passes, and all are paid by the
    newest state that all can be held to. Returns what was paid."""
    channel = _Channel(game, seats)
    channel.play_moves(after)
    left, silent = channel.newest, channel.next_mover
    others = channel.others(silent)
    channel.play(others)
    channel.challenge(others[0])
    channel.play(others)
    channel.let_time_pass()
    paid = channel.end()
    if paid != left.outcome:
        raise AssertionError(f"participant {silent} left {left}, and {paid} was paid")
    return paid


def play_forced(game: Game, seats: int, *, after: int = 1) -> Outcome:
    """After this many moves the next mover does not send its move: it is challenged, its client answers on the chain,
    and play goes on to a conclusion. Returns what was paid."""
    channel = _Channel(game, seats)
    channel.play_moves(after)
    mover = channel.next_mover
    withheld = channel.newest_turn + 1
    channel.play((mover,), until=withheld)
    channel.table.lines[mover].unsent.clear()
    challenger = channel.others(mover)[0]
    channel.challenge(challenger)
    while any(channel.table.poll(seat) for seat in (challenger, mover)):
        pass  # nothing is passed on: they see each other on the chain
    if channel.clients[challenger].channel.status.turn_num_record < withheld:
        raise AssertionError(f"turn {withheld} was not answered on the chain")
    return channel.end()


def play_stale(game: Game, seats: int, *, after: int = 3) -> Outcome:
    """After this many moves a participant challenges with the channel's opening: the others' clients answer with a
    newer state, and play goes on to a conclusion. Returns what was paid."""
    channel = _Channel(game, seats)
    channel.play(until=channel.last_setup_turn)
    opening = channel.ahead.channel.signed_states[-seats:]
    channel.play_moves(after)
    adjudicator, stale = channel.table.adjudicator, channel.proof(*opening)
    adjudicator.send(adjudicator.challenge(channel.agreement.fixed_part, stale), channel.keys[channel.next_mover])
    return channel.end()


def play_cheat(game: Game, seats: int, *, after: int = 1) -> Outcome:
    """After this many moves the next mover tries every illegal move that the game knows of, on the others and on the
    chain: all refuse it, the chain for the same reason as the twin. Then it plays on. Returns what was paid."""
    channel = _Channel(game, seats)
    channel.play_moves(after)
    illegal = game.illegal_moves(channel.newest)
    if not illegal:
        raise AssertionError(f"the game knows of no illegal move after {channel.newest}")
    channel.table.pass_on()
    channel.play(channel.others(channel.next_mover))  # so that all have the newest state
    mover = channel.next_mover
    for label, state in illegal:
        _require_refused(channel, label, signed_by(channel.agreement, channel.keys[mover], state, [mover]))
    return channel.end()


def _require_refused(channel: _Channel, label: str, cheat: SignedState) -> None:
    cheater = channel.next_mover
    before = channel.ahead.channel.signed_states[-(channel.seats - 1) :]
    for seat in channel.others(cheater):
        try:
            channel.clients[seat].feed(StateReceived(cheat))
        except MessageRefused:
            continue
        raise AssertionError(f"a client takes a move that {label}: {cheat.state}")
    adjudicator = channel.table.adjudicator
    challenge = adjudicator.challenge(channel.agreement.fixed_part, channel.proof(*before, cheat))
    expected = _reason(channel, before[-1].state, cheat.state)
    try:
        adjudicator.simulate(challenge, channel.keys[cheater].address)
    except AppError as error:
        if error == expected:
            return
        raise AssertionError(f"the chain refuses a move that {label} with {error}, the twin with {expected}") from error
    raise AssertionError(f"the chain takes a move that {label}: {cheat.state}")


def _reason(channel: _Channel, from_: VariablePart, to: VariablePart) -> AppError:
    try:
        channel.game.valid_transition(channel.agreement.channel_id, from_, to, channel.seats)
    except AppError as error:
        return error
    raise AssertionError(f"the twin allows what it calls illegal: {from_} -> {to}")
