"""One participant's view of one channel: what was agreed, signed and seen on chain, and the phase that follows from
it."""

from __future__ import annotations

from enum import Enum

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from forcemove.errors import InvalidValue, LocalError
from forcemove.protocol.agreement import Agreement
from forcemove.protocol.encoding import StateHashes, digest
from forcemove.protocol.errors import AlreadySigned, EndpointsDiffer, FinalStateSigned, MoneyMissing, NotSupported
from forcemove.protocol.machine.effects import ChooseMove, Effect, Submission
from forcemove.protocol.machine.inputs import ViewsDiffer
from forcemove.protocol.machine.record import EMPTY_RECORD, Record
from forcemove.protocol.rules import build_support_proof
from forcemove.protocol.signing import Key
from forcemove.protocol.types import Signature, SignedState, VariablePart, destination_address
from forcemove.protocol.words import Mode, Status


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

    # Its members are looked up at every step, and an Enum's own hash is slow.
    __hash__ = object.__hash__


OVER = (Phase.FINALIZED, Phase.CLOSED)
"""The phases in which no participant sends any more."""


_NO_DIFFERENCES = ViewsDiffer()


class Accepted(Struct, frozen=True, gc=False):
    """A state that we have verified or made, with its hashes."""

    signed: SignedState
    hashes: StateHashes

    @property
    def state(self) -> VariablePart:
        """The state itself."""
        return self.signed.state


class Channel(Struct, frozen=True, gc=False, tag=True, rename={"superseded": "kept", "was_griefed": "was_harried"}):
    """Everything that a participant must not forget.

    - `index`: which participant we are.
    - `accepted`: the newest states, consecutive, oldest first, at most n + 1.
    - `superseded`: what we could prove when the chain showed a state beyond all that we knew, and `accepted` was begun
      again.
    - `last_signed`: turn number and struct hash of the newest state that we have signed.
    - `final_outcome`: the hash of its outcome, once that state was final.
    - `record`, `holdings`, `credits`: what we know of the chain.
    - `asked`: the turn of the last move that our player was asked for, and by when it must be made; it is not asked
      twice.
    - `conclude_at`: the block time at which we conclude if nobody else has.
    - `requested`: the transactions that were requested, oldest first; none is requested twice.
    - `secrets`: what our player wants to be given again after a restart.
    - `was_griefed`: a counterparty has made us answer a challenge with a state that it could have had from us without
      one.
    - `views`: what the endpoints do not agree on, UNSET where there are none; it is not stored, for every process
      compares the endpoints again.
    """

    agreement: Agreement
    index: int
    genuine: bool = False
    accepted: tuple[Accepted, ...] = ()
    superseded: tuple[Accepted, ...] = ()
    last_signed: tuple[int, bytes] | None = None
    final_outcome: bytes | None = None
    leaving: bool = False
    record: Record = EMPTY_RECORD
    holdings: tuple[tuple[bytes, int], ...] = ()
    credits: tuple[tuple[bytes, int], ...] = ()
    asked: tuple[int, int | None] | None = None
    conclude_at: int | None = None
    requested: tuple[Submission, ...] = ()
    secrets: bytes = b""
    was_griefed: bool = False
    views: ViewsDiffer | UnsetType = UNSET

    def __repr__(self) -> str:
        """Short, and without secrets."""
        return f"Channel(0x{self.agreement.channel_id.hex()}, participant {self.index}, next turn {self.next_turn})"

    @property
    def newest(self) -> Accepted | None:
        """The newest state that we have accepted."""
        return self.accepted[-1] if self.accepted else None

    @property
    def next_turn(self) -> int:
        """The turn number of the next state."""
        return self.accepted[-1].signed.state.turn_num + 1 if self.accepted else 0

    @property
    def is_our_turn(self) -> bool:
        """Whether the next state is ours to sign."""
        return self.next_turn % self.agreement.count == self.index

    def is_our_turn_after(self, state: VariablePart) -> bool:
        """Whether this is the newest state, and the next one ours to sign, if we can."""
        return self.may_sign_next and self.newest is not None and self.newest.state == state

    @property
    def is_unproved(self) -> bool:
        """Whether two participants play, and we have only a state that the chain is said to have recorded, which does
        not follow our own states and which we have not signed. A signature on its successor would support whatever it
        pays, and nobody has proved the state to us: nothing is signed. The state can be challenged, and collected."""
        if self.agreement.count > 2 or len(self.accepted) != 1:
            return False
        newest = self.accepted[0].signed
        return self.index not in newest.signatures and newest.state != self.agreement.setup_state(0)

    @property
    def breaks_our_end(self) -> bool:
        """Whether we have signed a final state that pays otherwise than the newest state: the chain has recorded other
        states than those of which ours was the end. We sign nothing after them; they can be challenged, and
        collected."""
        signed, newest = self.final_outcome, self.newest
        return signed is not None and newest is not None and signed != newest.hashes.outcome

    @property
    def may_sign_next(self) -> bool:
        """Whether we can sign what follows the newest state. Where we cannot, we answer and challenge with the states
        that there are. After our end that pays the same, only another end is signed."""
        return self.is_our_turn and not (self.is_unproved or self.breaks_our_end)

    @property
    def cannot_sign_next(self) -> bool:
        """Whether the next state is ours, and we can sign none: a challenge lets the chain decide."""
        return self.is_our_turn and not self.may_sign_next

    @property
    def signed_states(self) -> tuple[SignedState, ...]:
        """The accepted states, for support proofs."""
        return tuple(accepted.signed for accepted in self.accepted)

    @property
    def superseded_states(self) -> tuple[SignedState, ...]:
        """The superseded states, for support proofs."""
        return tuple(each.signed for each in self.superseded)

    @property
    def status(self) -> Status:
        """What the adjudicator has recorded, as far as the logs say."""
        return self.record.status

    @property
    def differences(self) -> ViewsDiffer:
        """What the endpoints do not agree on, as far as they were compared."""
        return _NO_DIFFERENCES if self.views is UNSET else self.views

    @property
    def differs(self) -> bool:
        """Whether anything is shown that the endpoints do not agree on."""
        return self.views is not UNSET and self.views != _NO_DIFFERENCES

    @property
    def is_denied(self) -> bool:
        """Whether some endpoint denies something of what the others show, or they were not compared yet."""
        return self.views is not UNSET and self.views.is_denied

    @property
    def clocks(self) -> tuple[Status, ...]:
        """What is recorded, unless an endpoint denies it, and the clocks that only some endpoints show."""
        recorded = () if self.is_denied else (self.status,)
        return (*recorded, *(clock.status for clock in self.differences.clocks))

    @property
    def must_move(self) -> bool:
        """Whether a clock runs, in the record or in what some endpoint shows, that our next move would stop."""
        if not self.accepted or self.accepted[-1].signed.state.is_final or not self.may_sign_next:
            return False
        return any(each.finalizes_at and each.turn_num_record + 1 == self.next_turn for each in self.clocks)

    def waits_for_message(self, now: int) -> bool:
        """Whether a counterparty is to send a message: its state, or its signature on the final one."""
        match self.phase(now):
            case Phase.PREFUND | Phase.FUNDING | Phase.PLAYING | Phase.CHALLENGED:
                return not self.is_our_turn
            case Phase.CONCLUDING:
                return len(self.accepted[-1].signed.signatures) < self.agreement.count
            case _:
                return False

    def question(self, state: VariablePart, answer_by: int | None = None) -> ChooseMove:
        """What our player is asked when it is our turn after `state`."""
        between = tuple(each.state for each in self.accepted if self._is_between(each.state.turn_num, state.turn_num))
        return ChooseMove(state, answer_by, self.secrets, self.was_griefed, between)

    def _is_between(self, turn_num: int, newest: int) -> bool:
        """Whether a turn is later than our own last one, and earlier than the newest."""
        return newest - self.agreement.count < turn_num - 1 and turn_num < newest

    def held(self, asset: bytes) -> int:
        """What the channel is known to hold of an asset."""
        for each, amount in self.holdings:
            if each == asset:
                return amount
        return 0

    @property
    def payee(self) -> bytes | None:
        """The account that we are paid at (20 bytes), or None where another channel is paid for us."""
        return destination_address(self.agreement.destinations[self.index])

    @property
    def is_funded(self) -> bool:
        """Whether the holdings of every asset reach the outcome's total."""
        return all(self.held(asset) >= sum(amounts) for asset, amounts in self.agreement.deposits)

    @property
    def is_over_and_paid(self) -> bool:
        """Whether nothing is left to do: everything is paid out, and the adjudicator owes us nothing."""
        return self.is_closed and not any(amount for _, amount in self.credits)

    @property
    def is_closed(self) -> bool:
        """Whether everything was paid out; of a friendly game, whether all have signed its final state."""
        if not self.accepted or not self.accepted[-1].signed.state.is_final or not self.agreement.is_friendly:
            return self.record.closed
        return len(self.accepted[-1].signed.signatures) == self.agreement.count

    @property
    def lacks_money(self) -> bool:
        """Whether play has begun and the channel does not hold all deposits any more: a reorganisation has taken one
        away. Until it is there again, nothing but answers to challenges is signed."""
        if not self.accepted or self.is_funded or self.record.payout_begun:
            return False
        newest, last_of_opening = self.accepted[-1].signed.state, 2 * self.agreement.count - 1
        return newest.turn_num > last_of_opening or (newest.turn_num == last_of_opening and not newest.is_final)

    @property
    def may_pay_in(self) -> bool:
        """Whether nothing speaks against our deposit: nobody has challenged, we do not leave, and no endpoint
        denies anything."""
        return self.status.is_empty and not (self.leaving or self.is_denied)

    def reason_to_wait(self, phase: Phase) -> LocalError | None:
        """Why we sign no move although it is our turn, None where we would: `FinalStateSigned`, `MoneyMissing`,
        `EndpointsDiffer` or `NotSupported`. `phase`: the channel's phase now."""
        id_ = self.agreement.channel_id
        if self.breaks_our_end:
            return FinalStateSigned(self.next_turn)
        if phase is Phase.PLAYING and self.lacks_money and not self.must_move:
            return MoneyMissing(id_)
        if self.is_denied and not self.must_move:
            return EndpointsDiffer(id_)
        return NotSupported(self.next_turn - 1) if self.is_unproved else None

    def phase(self, now: int) -> Phase:
        """The phase at the chain's time `now`, in seconds: the first line that applies."""
        if not self.genuine:
            return Phase.CHECKING
        record, newest = self.record, self.accepted[-1].signed.state if self.accepted else None
        if record.closed or (newest is not None and newest.is_final and self.is_closed):
            return Phase.CLOSED
        if record.status.finalizes_at:
            is_final = record.payout_begun or record.status.mode(now) is Mode.FINALIZED
            return Phase.FINALIZED if is_final else Phase.CHALLENGED
        if newest is None:
            return Phase.PREFUND
        if newest.is_final:
            return Phase.CONCLUDING
        setups = (newest.turn_num + 1) // self.agreement.count
        if setups >= 2:
            return Phase.PLAYING
        return Phase.FUNDING if setups else Phase.PREFUND

    # ---------------------------------------------------------------------------------------------------- changes

    def accept(self, state: Accepted) -> Channel:
        """With one more state, the successor of the newest."""
        return replace(self, accepted=(*self.accepted[-self.agreement.count :], state))

    def reset(self, recorded: Accepted) -> Channel:
        """From a state that the chain has recorded, and that does not follow our own states; what these prove is
        kept. After an end that we have signed we make no more moves."""
        proof = build_support_proof(self.agreement.fixed_part, self.signed_states)
        superseded = self.accepted if proof else self.superseded
        leaving = self.leaving or self.final_outcome is not None
        return replace(self, accepted=(recorded,), superseded=superseded, leaving=leaving)

    def replace_newest(self, state: Accepted) -> Channel:
        """With more signatures on the newest state. Raises `InvalidValue` on any other state."""
        if self.accepted[-1].hashes != state.hashes:
            raise InvalidValue("state", state.state.turn_num, "the newest state, with more signatures")
        return replace(self, accepted=(*self.accepted[:-1], state))

    def sign_next(self, state: VariablePart, hashes: StateHashes, key: Key) -> Channel:
        """Sign the successor of the newest state; it is the newest now. Raises `AlreadySigned`, `FinalStateSigned`.

        The caller persists the channel that it gets back before the signature leaves.
        """
        signature = self._sign(state, hashes, key)
        accepted = Accepted(SignedState(state, {self.index: signature}), hashes)
        return replace(
            self,
            accepted=(*self.accepted[-self.agreement.count :], accepted),
            last_signed=(state.turn_num, hashes.state),
            final_outcome=hashes.outcome if state.is_final else self.final_outcome,
        )

    def countersign(self, newest: Accepted, key: Key) -> Channel:
        """Add our signature to the newest state, somebody else's final one. Raises and is to be persisted as above."""
        hashes = newest.hashes
        signed = newest.signed.with_signature(self.index, self._sign(newest.state, hashes, key))
        channel = replace(self, last_signed=(newest.state.turn_num, hashes.state), final_outcome=hashes.outcome)
        return channel.replace_newest(Accepted(signed, hashes))

    def _sign(self, state: VariablePart, hashes: StateHashes, key: Key) -> Signature:
        """The only place that signs states: never two of one turn."""
        last = self.last_signed
        if last is not None and state.turn_num <= last[0] and last != (state.turn_num, hashes.state):
            raise AlreadySigned(state.turn_num)
        if self.final_outcome is not None and not (state.is_final and hashes.outcome == self.final_outcome):
            raise FinalStateSigned(state.turn_num)
        return key.sign(digest(self.agreement.domain, hashes.state))

    def ask(self, turn_num: int, answer_by: int | None) -> Channel:
        """Remember that our move of this turn was asked for, and by when it must be made (a block time, seconds)."""
        return replace(self, asked=(turn_num, answer_by))

    def request(self, submission: Submission) -> Channel:
        """Remember that this transaction was asked for."""
        return replace(self, requested=(*self.requested, submission))

    def forget_chain(self) -> Channel:
        """As if nothing on the chain had been seen and nothing requested: signed and accepted states stay."""
        return replace(
            self,
            record=EMPTY_RECORD,
            holdings=(),
            credits=(),
            asked=None,
            conclude_at=None,
            requested=(),
        )


Step = tuple[Channel, tuple[Effect, ...]]
"""A channel after an input, and the effects."""
