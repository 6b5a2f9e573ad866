"""From a channel to its chain: a channel's submissions become requests to the sender of an account."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from forcemove.chain.adjudicator import Adjudicator
from forcemove.chain.prices import Prices
from forcemove.node.events import Event, Mined, SubmissionRefused
from forcemove.protocol.machine.channel import Channel
from forcemove.protocol.machine.effects import Submission, SubmitChallenge
from forcemove.protocol.machine.view_differences import acts_first
from forcemove.protocol.signing import Key
from forcemove.sender.transactions import Confirmed, NonceUsedElsewhere, Reorged, TxFailed, TxOutcome, TxRequest
from forcemove.workers.chain_defaults import LOCAL_CHAINS
from forcemove.workers.tx_requests import tx_request_for

_BLOCK_TIME, _LOCAL_BLOCK_TIME = 12.0, 1.0
"""Seconds from block to block on Ethereum's mainnet, and at most on a chain that people run for themselves."""
_AGAIN = 20
"""After this many pauses a submission that is due again is held back again, so that the other participant sends first.
Not sooner: a submission that is asked for at each look, because endpoints contradict each other, would be held back
forever."""
_BLOCKS = 1.5
"""Block times for which a transaction is held back: until the other participant's is mined, and its block is read."""


class TxSubmitter:
    """Where the submissions of one channel on a chain go."""

    def __init__(
        self,
        adjudicator: Adjudicator,
        send: Callable[[TxRequest], None],
        clock: Callable[[], float],
        prices: Callable[[], Prices],
        *,
        max_cost: int | None = None,
        challenger: Key | None = None,
        block_time: float | None = None,
    ) -> None:
        """Submit through a sender.

        - `adjudicator`: that of the channel.
        - `send`: asks an account's sender for a transaction.
        - `clock`: our own, seconds.
        - `prices`: what gas costs now.
        - `max_cost`: what a transaction's gas may cost, in wei, see `tx_requests.tx_request_for`.
        - `challenger`: a participant's key, which signs challenges that another account sends; None where the
          account is the participant's own.
        - `block_time`: seconds from block to block, by the chain unless given. For one and a half of them a
          transaction is held back that another participant is about to send (`view_differences.acts_first`).
        """
        self._adjudicator, self._send, self._clock, self._prices = adjudicator, send, clock, prices
        self._max_cost, self._challenger, self._block_time = max_cost, challenger, block_time
        self._held_since: dict[Submission, float] = {}
        self._has_challenged = False

    def submit(self, channel: Channel, submission: Submission, now: int) -> bool:
        """Ask for a submission's transaction at block time `now`, in seconds. Returns whether that was done; if not, it
        is to be tried again. Raises what the sender raises."""
        if self._is_held_back(channel, submission, now):
            return False
        prices, max_cost, challenger = self._prices(), self._max_cost, self._challenger
        self._send(tx_request_for(channel, submission, self._adjudicator, prices, max_cost, challenger))
        self._has_challenged = self._has_challenged or isinstance(submission, SubmitChallenge)
        return True

    def event_of(self, submission: Submission, outcome: TxOutcome) -> Event | None:
        """The event that notifies the owner of a submission's outcome, or None."""
        match outcome:
            case Confirmed(_, receipt):
                return Mined(submission, self._adjudicator.placed(receipt))
            case TxFailed(_, error, cost):
                return SubmissionRefused(submission, error, cost)
            case Reorged() | NonceUsedElsewhere():
                return None
            case _:
                assert_never(outcome)

    def _is_held_back(self, channel: Channel, submission: Submission, now: int) -> bool:
        """Whether another participant is about to send the same submission, and has not had a block's time yet. By our
        own clock, not the chain's: an endpoint that shows no new blocks holds back no defence."""
        if acts_first(channel, submission, now, has_challenged=self._has_challenged):
            return False
        chain_id = channel.agreement.domain.chain_id
        usual = _LOCAL_BLOCK_TIME if chain_id in LOCAL_CHAINS else _BLOCK_TIME
        pause, seconds = _BLOCKS * (usual if self._block_time is None else self._block_time), self._clock()
        since = self._held_since.get(submission)
        if since is None or not 0 <= seconds - since < _AGAIN * pause:
            since = self._held_since[submission] = seconds
        return seconds - since < pause
