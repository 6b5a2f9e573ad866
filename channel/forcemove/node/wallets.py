"""Transactions for an account whose key is elsewhere, such as in a browser's wallet: they are listed, and somebody else
signs and sends them.

Nothing here is sent. What became of a transaction shows by its effect on the channel, through any endpoint: a request
whose effect is there, or that the channel does not want any more, is listed no longer. A process that begins again asks
for what its channels still want. A wallet may send a request twice, or an old one: the adjudicator refuses a second
deposit, and nothing else moves money of the payer's but its gas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from forcemove.history.tokens import Tokens
from forcemove.node.managed_channel import ManagedChannel
from forcemove.protocol.machine.channel import OVER
from forcemove.protocol.machine.effects import Submission, SubmitDeposit, SubmitPayCredit, SubmitTransfer
from forcemove.sender.transactions import ChannelTx, TxRequest
from forcemove.store.records import Account


@dataclass(frozen=True, slots=True)
class WalletRequest:
    """A transaction that a channel wants of a wallet.

    - `account`: the wallet's, and the chain that the transaction is for.
    - `channel_tx`: the channel, and what it wants of the adjudicator.
    - `request`: the call, its gas by our own table, and the allowance that a token's deposit needs before it.
    - `tokens`: what the channel's tokens say of themselves, as far as that is known.
    """

    account: Account
    channel_tx: ChannelTx
    request: TxRequest
    tokens: Tokens = ()


class ExternalWallet:
    """The requests for one account that sends elsewhere."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._requests: dict[ChannelTx, TxRequest] = {}

    def submit(self, request: TxRequest) -> None:
        """Ask for a transaction; the newest request of a channel for one submission counts."""
        if isinstance(request.request_id, ChannelTx):
            self._requests[request.request_id] = request

    def requests(self, channels: Mapping[bytes, ManagedChannel]) -> Iterator[WalletRequest]:
        """What the channels want still, oldest first. `channels`: those that are driven, by id."""
        for channel_tx, request in list(self._requests.items()):
            managed = channels.get(channel_tx.channel_id)
            if managed is None or channel_tx.submission not in managed.channel.requested:
                del self._requests[channel_tx]
            elif _is_due(managed, channel_tx.submission):
                yield WalletRequest(self._account, channel_tx, request, managed.tokens)


def _is_due(managed: ManagedChannel, submission: Submission) -> bool:
    """Whether a wanted transaction is to be signed now. A channel asks once for what a reorganisation may make due
    again. A deposit is not signed where it is there, nor where it might be lost; and once the outcome is final, nothing
    is but its payment."""
    channel = managed.channel
    if managed.phase in OVER:
        return isinstance(submission, SubmitTransfer | SubmitPayCredit)
    if not isinstance(submission, SubmitDeposit):
        return True
    lies_there = channel.held(submission.asset) - submission.expected_held  # anybody can have paid a little in
    return channel.may_pay_in and 0 <= lies_there < submission.amount
