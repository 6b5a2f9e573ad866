"""What the wallet's page is made of: each transaction in words, and as a wallet wants it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, assert_never

from forcemove.chain.addresses import show_address
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.hashing import keccak256
from forcemove.protocol.machine import effects
from forcemove.text.amounts import exact_amount, show_asset

if TYPE_CHECKING:
    from forcemove.chain.chain import Call
    from forcemove.node.wallets import WalletRequest


class SentState(Enum):
    """What became of what the wallet was asked for, as far as we know. The value says so to people."""

    WAITING = "It waits for your wallet."
    REFUSED = "You have refused it in the wallet. It is still wanted."
    PERHAPS = "Your wallet has sent something that no block has yet. If it was this, wait: do not sign it again."
    SENT = "The wallet has sent it. It waits for a block."
    MINED = "It is in a block; the effect is looked for."
    REVERTED = "It was mined and has failed, which cost gas. If it still stands here, it can be signed again."
    LOST = "No node knows the transaction: the wallet has replaced or dropped it. It can be signed again."


SENT_STATES = (SentState.PERHAPS, SentState.SENT, SentState.MINED)
"""Nothing is asked for then, though it can be: what says so may be wrong."""


@dataclass(frozen=True, slots=True)
class WalletRow:
    """One transaction to sign.

    - `name`: of the request, in forms.
    - `title`: what it does.
    - `details`: amount, contract, channel and more: a label and a text each.
    - `to`, `data`, `value`: the call, as hex.
    - `state`: what became of it.
    - `hash`: of the transaction that the wallet has sent last, as hex; empty where it has sent none.
    """

    name: str
    title: str
    details: Sequence[tuple[str, str]]
    to: str
    data: str
    value: str
    state: SentState
    hash: str = ""

    @property
    def tone(self) -> str:
        """The class of the state's text."""
        return "muted" if self.state in (SentState.WAITING, SentState.SENT, SentState.MINED) else "bad"

    @property
    def button(self) -> str:
        """What can be done."""
        return "Sign it again" if self.state in SENT_STATES else "Sign in the wallet"


@dataclass(frozen=True, slots=True)
class WalletView:
    """The page. `account`: the wallet's, as hex in lower case, and `shown_account` for people; `chain_id`: of its
    transactions; `rows`: what is to be signed; `form_token`: for the page's forms; `has_tower`: whether a watchtower
    answers for the player."""

    account: str
    shown_account: str
    chain_id: int
    rows: Sequence[WalletRow]
    form_token: str
    has_tower: bool


@dataclass(frozen=True, slots=True)
class TokenApproval:
    """What must be signed before a token's deposit. `amount`: what the contract may take then, in the token's smallest
    unit; 0 takes back what it may take already."""

    amount: int
    call: Call


def request_name(request: WalletRequest, approved: int | None = None) -> str:
    """A short name of a request, the same for equal ones: 16 digits of a hash over the call. `approved`: the amount of
    the approval before it, None for the request itself."""
    tx = request.request
    call = tx.to + tx.value.to_bytes(32) + tx.data
    kind = b"\0" if approved is None else b"\1" + approved.to_bytes(32)
    return keccak256(kind + request.channel_tx.channel_id + call).hex()[:16]


def wallet_row(request: WalletRequest, approval: TokenApproval | None, state: SentState, sent: bytes) -> WalletRow:
    """A request as the page shows it.

    - `request`: what a channel wants.
    - `approval`: what must be signed before it, None where nothing must.
    - `state`: what became of it.
    - `sent`: the hash of the transaction that the wallet has sent, empty for none.
    """
    tx = request.request
    call = tx.call if approval is None else approval.call
    title = title_of(request.channel_tx.submission) if approval is None else _approval_title(request, approval)
    name = request_name(request, None if approval is None else approval.amount)
    details = (
        ("amount", _paid(request) if approval is None else "nothing yet but the gas"),
        ("gas", f"at most {tx.gas:,}" if tx.gas and approval is None else "as your wallet says"),
        ("contract", show_address(call.to or b"")),
        ("channel", hex_text(request.channel_tx.channel_id)),
    )
    data = (hex_text(call.to or b""), hex_text(call.data), hex(call.value))
    return WalletRow(name, title, details, *data, state, hex_text(sent) if sent else "")


def _paid(request: WalletRequest) -> str:
    """What a transaction takes from the wallet: ether, or the token that it is allowed to take."""
    deposited = _deposited(request)
    return (
        f"{exact_amount(request.request.value)}, and the gas"
        if deposited is None
        else f"{deposited}, and the gas in ether"
    )


def _approval_title(request: WalletRequest, approval: TokenApproval) -> str:
    if not approval.amount:
        return "Take back what the contract may still take from before: some tokens want that first"
    return f"Let the contract take {_deposited(request)}"


def _deposited(request: WalletRequest) -> str | None:
    """How much of a token a request deposits, exactly; None where it is of no token."""
    needed = request.request.allowance
    return None if needed is None else show_asset(needed.token, needed.amount, request.tokens)


def title_of(submission: effects.Submission) -> str:
    """What a submission does, for people."""
    match submission:
        case effects.SubmitDeposit():
            return "Pay in: without it the game does not begin"
        case effects.SubmitChallenge():
            return "Challenge: the chain gives the other player a time to answer"
        case effects.SubmitRespond():
            return "Answer the challenge with your move"
        case effects.SubmitCheckpoint():
            return "Answer the challenge with a newer state"
        case effects.SubmitConclude():
            return "End the channel as all have signed, and pay it out"
        case effects.SubmitTransfer():
            return "Pay out what the channel holds"
        case effects.SubmitPayCredit():
            return "Fetch what could not be paid out"
        case _:
            assert_never(submission)
