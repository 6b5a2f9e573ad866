"""What the wallet's page shows, and what it was told. It asks the chain what became of transactions; nothing here is
believed by a channel."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from forcemove.browser.pages import ChangeSignal
from forcemove.browser.table_pages import TablePages
from forcemove.browser.wallet.view import (
    SENT_STATES,
    SentState,
    TokenApproval,
    WalletRow,
    WalletView,
    request_name,
    wallet_row,
)
from forcemove.chain.addresses import show_address
from forcemove.chain.asking import Steps, together
from forcemove.chain.chain import Chain
from forcemove.chain.token import Token
from forcemove.errors import ForcemoveError
from forcemove.node.wallets import WalletRequest
from forcemove.protocol.codec.json_text import hex_text
from forcemove.protocol.machine.effects import SubmitDeposit, operation_name
from forcemove.sender.transactions import Allowance
from forcemove.sessions.service import TableService

T = TypeVar("T")
KeyT = TypeVar("KeyT")
_LOOK_EVERY = 1.0
_LOST_AFTER = 30.0
"""Seconds for which a transaction may be on its way from the wallet to our nodes."""


@dataclass
class _Sent:
    """What the wallet was seen to do with a request. `hash`: of its transaction, empty where it has refused; `at`:
    when, by a clock that does not go back; `state`: see `SentState`."""

    hash: bytes
    at: float
    state: SentState


@dataclass(frozen=True, slots=True)
class _Facts:
    """What one endpoint shows: what became of transactions, by their hashes, how much of a token may be taken, and how
    many transactions of the account are in no block."""

    states: Mapping[bytes, SentState]
    allowed: Mapping[Allowance, int]
    waiting: int


class WalletPages:
    """The wallet of one player on one chain."""

    def __init__(
        self,
        account: bytes,
        chains: Sequence[Chain],
        requests: Callable[[], Sequence[WalletRequest]],
        *,
        has_tower: bool,
        clock: Callable[[], float] = time.monotonic,
        patience: float = 10.0,
    ) -> None:
        """Show what is wanted of a wallet.

        - `account`: the wallet's, 20 bytes.
        - `chains`: the chain through each endpoint, at least one.
        - `requests`: what the channels want of it now, see `Node.wallet_requests`.
        - `has_tower`: whether a watchtower answers for the player.
        - `clock`: seconds that do not go back.
        - `patience`: seconds that the endpoints have for all questions of a look.
        """
        self.changes = ChangeSignal()
        self._account, self._chains, self._requests = account, tuple(chains), requests
        self._has_tower, self._clock, self._patience = has_tower, clock, patience
        self._sent: dict[str, _Sent] = {}
        self._approvals: dict[str, int] = {}
        self._has_unknown = False
        self._shown: object = None
        self._looking: asyncio.Task[None] | None = None

    # --------------------------------------------------------------------------------------------------------- looking

    def view(self, form_token: str) -> WalletView:
        """The page as it is now."""
        return WalletView(
            hex_text(self._account),
            show_address(self._account),
            self._chains[0].chain_id,
            self._rows(),
            form_token,
            self._has_tower,
        )

    def _rows(self) -> tuple[WalletRow, ...]:
        return tuple(self._row(each) for each in self._requests() if each.account.address == self._account)

    def to_sign(self, channel_id: bytes) -> tuple[str, ...]:
        """The adjudicator's operations that a channel (its id) waits for the wallet to sign."""
        ours = (each for each in self._requests() if each.account.address == self._account)
        return tuple(
            operation_name(each.channel_tx.submission)
            for each in ours
            if each.channel_tx.channel_id == channel_id and self._row(each).state not in SENT_STATES
        )

    def _row(self, request: WalletRequest) -> WalletRow:
        approval = self._approval_of(request)
        sent = self._sent.get(request_name(request, None if approval is None else approval.amount))
        state, hash_ = (SentState.WAITING, b"") if sent is None else (sent.state, sent.hash)
        if self._has_unknown and state not in SENT_STATES and _pays_in(request):
            state = SentState.PERHAPS
        return wallet_row(request, approval, state, hash_)

    def _approval_of(self, request: WalletRequest) -> TokenApproval | None:
        """What is to be signed before a request, as far as was seen."""
        amount, needed = self._approvals.get(request_name(request)), request.request.allowance
        if amount is None or needed is None:
            return None
        return TokenApproval(amount, Token(self._chains[0], needed.token).approve(needed.spender, amount))

    async def watch(self) -> None:
        """Look at the chain again and again, until this is cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(_LOOK_EVERY)

    async def look(self) -> None:
        """See what became of what the wallet has sent, and which tokens it must allow the contract to take. A node that
        does not answer changes nothing, and is asked once, however many pages are open: who asks while a look is on
        waits for that one."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        await asyncio.shield(self._looking)

    async def _look(self) -> None:
        requests = tuple(self._requests())
        hashes = {each.hash for each in self._sent.values() if each.hash}
        needed = {each.request.allowance for each in requests if each.request.allowance is not None}
        facts = await self._ask(hashes, needed) if hashes or any(map(_pays_in, requests)) else []
        for sent in self._sent.values():
            sent.state = self._state(sent, facts)
        known = sum(each.state is SentState.SENT for each in self._sent.values())
        if facts:
            self._has_unknown = any(each.waiting > known for each in facts)
        approvals = {request_name(each): self._to_approve(each, facts) for each in requests}
        self._approvals = {name: amount for name, amount in approvals.items() if amount is not None}
        names = {request_name(each, approved) for each in self._requests() for approved in _approvals_of(each)}
        self._sent = {name: each for name, each in self._sent.items() if name in names}
        rows = self._rows()
        if rows != self._shown:
            self._shown = rows
            self.changes.notify()

    async def _ask(self, hashes: Collection[bytes], needed: Collection[Allowance]) -> list[_Facts]:
        """What each endpoint shows, in their order, without those that do not answer in time."""
        begun = [each.worker.begin(_facts(each, self._account, hashes, needed)) for each in self._chains]
        asked = [asyncio.wrap_future(each) for each in begun]
        _, late = await asyncio.wait(asked, timeout=self._patience)
        for each in late:
            each.cancel()
        return [each.result() for each in asked if each not in late and each.exception() is None]

    def _to_approve(self, request: WalletRequest, facts: Sequence[_Facts]) -> int | None:
        """How much a token's deposit needs to be allowed first: 0 where what is left of an earlier allowance is to be
        taken back before, since some tokens, such as USDT, refuse to change it to anything but 0. None where there is
        enough, or the deposit is in a block and has taken it."""
        needed, sent = request.request.allowance, self._sent.get(request_name(request))
        if needed is None or (sent is not None and sent.state is SentState.MINED):
            return None
        allowed = next((each.allowed[needed] for each in facts if needed in each.allowed), 0)
        return None if allowed >= needed.amount else 0 if allowed else needed.amount

    def _state(self, sent: _Sent, facts: Sequence[_Facts]) -> SentState:
        """What the endpoints show of a transaction; one that shows it mined counts for more than one that does not."""
        found = {each.states.get(sent.hash) for each in facts}
        for state in (SentState.MINED, SentState.REVERTED, SentState.SENT):
            if state in found:
                return state
        is_late = self._clock() - sent.at > _LOST_AFTER
        return SentState.LOST if is_late and SentState.LOST in found else sent.state

    # ----------------------------------------------------------------------------------------------------------- told

    def on_sent(self, name: str, hash_: bytes) -> bool:
        """The wallet has sent what was asked for; returns whether there is such a request. `name`: of the request;
        `hash_`: of the transaction, 32 bytes."""
        return self._keep(name, _Sent(hash_, self._clock(), SentState.SENT))

    def on_refused(self, name: str) -> bool:
        """The person has refused it in the wallet; returns whether there is such a request."""
        return self._keep(name, _Sent(b"", self._clock(), SentState.REFUSED))

    def _keep(self, name: str, sent: _Sent) -> bool:
        if name not in {each.name for each in self._rows()}:
            return False
        self._sent[name] = sent
        self.changes.notify()
        return True


def wallet_of(service: TableService, tables: TablePages) -> WalletPages | None:
    """The page of a service's wallet; None where a key pays. `tables`: the pages that ask for its signature."""
    account = service.wallet.payer
    if not isinstance(account, bytes) or not service.chains:
        return None
    pages = WalletPages(account, service.chains, service.wallet_requests, has_tower=service.has_tower)
    tables.to_sign = pages.to_sign
    return pages


def _approvals_of(request: WalletRequest) -> tuple[int | None, ...]:
    """What the wallet may be asked for, see `request_name`."""
    needed = request.request.allowance
    return (None,) if needed is None else (None, 0, needed.amount)


def _pays_in(request: WalletRequest) -> bool:
    """Whether it is a deposit, which nobody should pay for twice. Any other is urged until it is sent."""
    return isinstance(request.channel_tx.submission, SubmitDeposit)


def _facts(chain: Chain, account: bytes, hashes: Collection[bytes], needed: Collection[Allowance]) -> Steps[_Facts]:
    states = yield from together(_state_of(chain, each) for each in hashes)
    allowed = yield from together(Token(chain, each.token).allowance.steps(account, each.spender) for each in needed)
    blocks = ("pending", "latest")
    counts = yield from together(chain.nonce_of.steps(account, block=each) for each in blocks)
    sent = _known(blocks, counts)
    waiting = sent["pending"] - sent["latest"] if len(sent) == len(blocks) else 0
    return _Facts(_known(hashes, states), _known(needed, allowed), waiting)


def _known(asked: Iterable[KeyT], found: Iterable[T | ForcemoveError]) -> dict[KeyT, T]:
    pairs = zip(asked, found, strict=True)
    return {each: answer for each, answer in pairs if not isinstance(answer, ForcemoveError)}


def _state_of(chain: Chain, hash_: bytes) -> Steps[SentState]:
    found = yield from chain.receipt.steps(hash_)
    if found is not None:
        _, has_failed = found
        return SentState.REVERTED if has_failed else SentState.MINED
    return SentState.SENT if (yield from chain.knows.steps(hash_)) else SentState.LOST
