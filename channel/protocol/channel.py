"""One participant's view of one channel: what has been agreed, signed and seen on chain, and the phase that follows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

from channel.errors import AlreadySigned, FinalStateSigned
from channel.protocol.agreement import Agreement
from channel.protocol.effects import Effect
from channel.protocol.encoding import StateHashes, digest
from channel.protocol.outcome import Outcome
from channel.protocol.signing import Key
from channel.protocol.state import SignedState, VariablePart
from channel.protocol.status import EMPTY_STATUS, Mode, Status

__all__ = ["Accepted", "Channel", "Owed", "Phase"]


class Phase(Enum):
    """Derived from a channel and the clock, never stored."""

    CHECKING = "checking the contracts"
    PREFUND = "agreeing"
    FUNDING = "funding"
    PLAYING = "playing"
    CONCLUDING = "concluding"
    CHALLENGED = "in challenge"
    FINALIZED = "finalized"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Accepted:
    """A state that we have verified, or made, with its hashes."""

    signed: SignedState
    hashes: StateHashes

    @property
    def state(self) -> VariablePart:
        """The state itself."""
        return self.signed.state


@dataclass(frozen=True, slots=True)
class Owed:
    """What a finalised channel still owes: the recorded state's struct hash (32 bytes) and the outcome that is left."""

    state_hash: bytes
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Channel:
    """Everything that a participant must not forget. `index`: which participant we are.

    `accepted`: the newest states, consecutive, oldest first, at most n + 1. `last_signed`: turn number and struct hash
    of the newest state that we have signed, `final_outcome` the outcome hash once that was a final one. `status`,
    `recorded`, `owed`, `holdings`, `closed`: what we know of the chain. `requested`: what we have asked of the world
    and shall not ask twice.
    """

    agreement: Agreement
    index: int
    genuine: bool = False
    accepted: tuple[Accepted, ...] = ()
    last_signed: tuple[int, bytes] | None = None
    final_outcome: bytes | None = None
    leaving: bool = False
    status: Status = EMPTY_STATUS
    recorded: Accepted | None = None
    owed: Owed | None = None
    holdings: tuple[tuple[bytes, int], ...] = ()
    closed: bool = False
    requested: frozenset[Effect] = field(default_factory=frozenset)

    @property
    def newest(self) -> Accepted | None:
        """The newest state that we have accepted."""
        return self.accepted[-1] if self.accepted else None

    @property
    def next_turn(self) -> int:
        """The turn number of the next state."""
        return self.accepted[-1].state.turn_num + 1 if self.accepted else 0

    @property
    def is_our_turn(self) -> bool:
        """Whether the next state is ours to sign."""
        return self.next_turn % self.agreement.count == self.index

    @property
    def signed_states(self) -> tuple[SignedState, ...]:
        """The accepted states, for support proofs."""
        return tuple(accepted.signed for accepted in self.accepted)

    def held(self, asset: bytes) -> int:
        """What the channel is known to hold of an asset."""
        return dict(self.holdings).get(asset, 0)

    @property
    def is_funded(self) -> bool:
        """Whether the holdings of every asset reach the outcome's total."""
        return all(self.held(asset) >= sum(amounts) for asset, amounts in self.agreement.deposits)

    def phase(self, now: int) -> Phase:
        """The first line that applies; `now` is the chain's time, seconds."""
        mode = self.status.mode(now)
        if self.closed:
            return Phase.CLOSED
        if mode is Mode.FINALIZED:
            return Phase.FINALIZED
        if mode is Mode.CHALLENGE:
            return Phase.CHALLENGED
        return self._phase_off_chain()

    def _phase_off_chain(self) -> Phase:
        if not self.genuine:
            return Phase.CHECKING
        newest = self.newest
        if newest is not None and newest.state.is_final:
            return Phase.CONCLUDING
        if self.next_turn < self.agreement.count:
            return Phase.PREFUND
        return Phase.FUNDING if self.next_turn < 2 * self.agreement.count else Phase.PLAYING

    # ---------------------------------------------------------------------------------------------------- changes

    def accept(self, state: Accepted) -> Channel:
        """With one more state, the successor of the newest."""
        return replace(self, accepted=(*self.accepted[-self.agreement.count :], state))

    def replace_newest(self, state: Accepted) -> Channel:
        """With more signatures on the newest state."""
        return replace(self, accepted=(*self.accepted[:-1], state))

    def sign(self, state: VariablePart, hashes: StateHashes, key: Key) -> tuple[Channel, Accepted]:
        """The only place that signs states. Raises `AlreadySigned`, `FinalStateSigned`.

        The channel that comes back remembers the signature; it must be persisted before the signature leaves.
        """
        self._require_unsigned(state, hashes)
        signature = key.sign(digest(self.agreement.domain, hashes.state))
        channel = replace(
            self,
            last_signed=(state.turn_num, hashes.state),
            final_outcome=hashes.outcome if state.is_final else self.final_outcome,
        )
        return channel, Accepted(SignedState(state, {self.index: signature}), hashes)

    def _require_unsigned(self, state: VariablePart, hashes: StateHashes) -> None:
        last = self.last_signed
        if last is not None and state.turn_num <= last[0] and last != (state.turn_num, hashes.state):
            raise AlreadySigned(state.turn_num)
        if self.final_outcome is not None and not (state.is_final and hashes.outcome == self.final_outcome):
            raise FinalStateSigned(state.turn_num)

    def request(self, effect: Effect) -> Channel:
        """Remember that this was asked of the world."""
        return replace(self, requested=self.requested | {effect})
