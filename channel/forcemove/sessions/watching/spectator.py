"""A channel that others play, as far as its log proves it to a stranger: each state is believed by its mover's
signature and by the game's rules alone. After a turn that the log has not, that would let one player invent what
follows: there a state is believed by what the chain would want, a proof that all have signed. Asks no relay."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from forcemove.errors import ForcemoveError, MalformedBytes
from forcemove.game import Game
from forcemove.protocol.codec.wire import decode_message
from forcemove.protocol.encoding import StateHashes, digest
from forcemove.protocol.errors import SignatureMissing, StateConflict
from forcemove.protocol.machine.inputs import StateReceived
from forcemove.protocol.rules import build_support_proof, require_valid_state, require_valid_transition
from forcemove.protocol.signing import require_signer
from forcemove.protocol.types import SignedState, VariablePart
from forcemove.rounds import RoundCount
from forcemove.sessions.watching.watch_link import WatchLink

_STATES, _FAULTS = 60, 5
_Checked = tuple[SignedState, StateHashes]
"""A state whose signatures are good, and its hashes."""


@dataclass(frozen=True, slots=True)
class SeenState:
    """A state that was checked. `hashes`: its parts; `signers`: who has signed it, by index."""

    state: VariablePart
    hashes: StateHashes
    signers: frozenset[int]


class ChannelSpectator:
    """What a log proves of a channel. `states`: the newest that were checked, in order; `rounds`: those that have ended
    in all of them; `is_whole`: whether all states since the first were there; `faults`: the newest errors of what was
    not believed; `refused`: how many there were."""

    def __init__(self, link: WatchLink, game: Game) -> None:
        """`link`: names the channel; `game`: whose rules are checked."""
        self.link, self.game = link, game
        self._id, self._count = link.channel_id, len(link.fixed_part.participants)
        self.states: deque[SeenState] = deque(maxlen=_STATES)
        self.rounds = RoundCount(game)
        self.is_whole = True
        self.faults: deque[ForcemoveError] = deque(maxlen=_FAULTS)
        self.refused = 0
        self._unproved: deque[_Checked] = deque(maxlen=_STATES)

    @property
    def newest(self) -> SeenState | None:
        """The newest state that was checked."""
        return self.states[-1] if self.states else None

    def take(self, message: bytes) -> bool:
        """Check an entry of the log; returns whether anything has changed by it. What is not believed is kept as a
        fault: anybody with a seat may post anything."""
        try:
            return self._take(message)
        except ForcemoveError as error:
            self.faults.append(error)
            self.refused += 1
            return True

    def _take(self, message: bytes) -> bool:
        id_, content = decode_message(message)
        if id_ != self._id:
            raise MalformedBytes("message", "it is of another channel")
        if not isinstance(content, StateReceived):
            return False  # a greeting says nothing of the game
        signed, newest = content.signed, self.newest
        turn = signed.state.turn_num
        if newest is not None and turn < newest.state.turn_num:
            return False
        hashes = require_valid_state(self._id, self.link.domain.adjudicator, self.link.fixed_part, signed.state)
        self._require_signed(signed, hashes)
        if newest is not None and turn == newest.state.turn_num:
            return self._again(newest, signed)
        if newest is not None and turn == newest.state.turn_num + 1:
            self._require_transition(newest.state, newest.hashes, signed.state, hashes)
        elif newest is not None or turn != 0:
            return self._after_gap(signed, hashes)
        self._keep(signed, hashes)
        return True

    def _keep(self, signed: SignedState, hashes: StateHashes) -> None:
        self.states.append(SeenState(signed.state, hashes, frozenset(signed.signatures)))
        with suppress(Exception):  # players may agree on a position that is none: a spectator is there
            self.rounds.add(signed.state)

    def _after_gap(self, signed: SignedState, hashes: StateHashes) -> bool:
        """Keep a state that follows none that was checked, until those that lead to it, and it, are signed by all."""
        self._unproved.append((signed, hashes))
        led = self._led_to(signed, hashes)
        if build_support_proof(self.link.fixed_part, [each for each, _ in led]) is None:
            return False
        self.is_whole = False
        for each in led:
            self._keep(*each)
        self._unproved.clear()
        return True

    def _led_to(self, signed: SignedState, hashes: StateHashes) -> list[_Checked]:
        """A state, and before it those that lead to it by the rules, as many as a proof can have."""
        led = [(signed, hashes)]
        for each, its in reversed(self._unproved):
            after, its_after = led[0]
            if len(led) < self._count and each.state.turn_num + 1 == after.state.turn_num:
                with suppress(ForcemoveError):
                    self._require_transition(each.state, its, after.state, its_after)
                    led.insert(0, (each, its))
        return led

    def _require_signed(self, signed: SignedState, hashes: StateHashes) -> None:
        """Raise `SignatureMissing` where the mover has not signed, and what `require_signer` raises."""
        mover = signed.state.turn_num % self._count
        if mover not in signed.signatures:
            raise SignatureMissing(mover)
        for index, signature in signed.signatures.items():
            if index >= self._count:
                raise SignatureMissing(index)
            require_signer(digest(self.link.domain, hashes.state), signature, self.link.fixed_part.participants[index])

    def _again(self, newest: SeenState, signed: SignedState) -> bool:
        """More signatures on the newest state. Raises `StateConflict` where it is another state of the same turn."""
        if newest.state != signed.state:
            raise StateConflict(signed.state.turn_num)
        signers = newest.signers | frozenset(signed.signatures)
        self.states[-1] = SeenState(newest.state, newest.hashes, signers)
        return signers != newest.signers

    def _require_transition(
        self, before: VariablePart, its: StateHashes, state: VariablePart, hashes: StateHashes
    ) -> None:
        require_valid_transition(self._id, self.link.fixed_part, before, its, state, hashes, self.game)


def played(states: Sequence[SeenState], count: int) -> list[SeenState]:
    """The states with a position of the game: none of the opening, and no final one. `count`: the participants."""
    return [each for each in states if each.state.turn_num >= 2 * count - 1 and not each.state.is_final]
