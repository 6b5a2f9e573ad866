"""What the wallet's page shows, and how it finds out what became of a transaction, whatever the wallet says."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forcemove.browser.templating import PLAIN_NAV
from forcemove.browser.wallet.render import wallet_page
from forcemove.browser.wallet.view import SentState, WalletRow
from forcemove.browser.wallet.wallet_pages import WalletPages
from forcemove.chain.addresses import show_address
from forcemove.chain.chain import Call
from forcemove.chain.codec import function
from forcemove.chain.errors import TransactionReverted
from forcemove.chain.local import EmbeddedChain, connect
from forcemove.chain.token import Token
from forcemove.history.tokens import TokenFacts
from forcemove.node.wallets import WalletRequest
from tests.chain.world import deploy_contract
from tests.node.wallets import ADMIN, ALICES, BOBS, DEPOSIT, Table

LOST = bytes(range(32))


class Wallet:
    """Alice's page. `now`: its clock."""

    def __init__(self, table: Table) -> None:
        self.table, self.now = table, 0.0
        self.player = table.players[0]
        self.pages = WalletPages(
            ALICES.address,
            [table.chain],
            self.player.process.node.wallet_requests,
            has_tower=False,
            clock=lambda: self.now,
        )
        table.rest()
        self.look()

    def look(self) -> None:
        asyncio.run(self.pages.look())

    @property
    def rows(self) -> tuple[WalletRow, ...]:
        return tuple(self.pages.view("token").rows)

    @property
    def row(self) -> WalletRow:
        (row,) = self.rows
        return row

    def is_shown_as(self, state: SentState) -> bool:
        """Whether this is what became of the one transaction."""
        return self.row.state is state

    def send(self) -> bytes:
        """Sign and send what the row says, as a wallet does; the transaction's hash."""
        row = self.row
        call = Call(bytes.fromhex(row.to[2:]), bytes.fromhex(row.data[2:]), int(row.value, 16))
        return self.table.chain.send(call, ALICES).transaction_hash


@pytest.fixture(scope="module")
def chain() -> EmbeddedChain:
    return EmbeddedChain()


@pytest.fixture
def wallet(chain: EmbeddedChain, tmp_path: Path) -> Wallet:
    return Wallet(Table(chain, tmp_path))


def test_a_deposit_is_said_in_words_with_amount_contract_and_channel(wallet: Wallet) -> None:
    row = wallet.row
    channel = wallet.player.process.channel.agreement.channel_id
    assert row.title.startswith("Pay in")
    assert int(row.value, 16) == DEPOSIT
    assert dict(row.details)["amount"] == "0.05 ether, and the gas"
    assert dict(row.details)["channel"] == "0x" + channel.hex()
    assert row.to == "0x" + wallet.table.assembly.adjudicator.address.hex()
    assert row.state is SentState.WAITING
    page = wallet_page(wallet.pages.view("token"), PLAIN_NAV)
    assert "A wallet that is asleep answers no challenge." in page
    assert row.name in page


def test_what_the_person_refuses_is_said_and_can_be_signed_again(wallet: Wallet) -> None:
    assert wallet.pages.on_refused(wallet.row.name)
    assert wallet.is_shown_as(SentState.REFUSED)
    wallet.look()
    assert wallet.is_shown_as(SentState.REFUSED)


def test_a_transaction_that_no_node_knows_is_said_to_be_lost_after_a_while(wallet: Wallet) -> None:
    assert wallet.pages.on_sent(wallet.row.name, LOST)
    wallet.look()
    assert wallet.is_shown_as(SentState.SENT)
    wallet.now += 31
    wallet.look()
    assert wallet.is_shown_as(SentState.LOST)
    assert wallet.row.hash == "0x" + LOST.hex()


def test_a_transaction_in_a_block_is_said_to_be_mined_until_its_effect_is_seen(wallet: Wallet) -> None:
    name = wallet.row.name
    hash_ = wallet.send()
    assert wallet.pages.on_sent(name, hash_)
    wallet.look()
    assert wallet.is_shown_as(SentState.MINED)
    wallet.table.rest()
    wallet.look()
    assert wallet.rows == ()
    assert not wallet.pages.on_sent(name, hash_)


def test_a_deposit_that_may_be_on_its_way_is_not_asked_for_again(
    chain: EmbeddedChain, wallet: Wallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as one that the wallet has sent while the page was loaded again."""
    count, waiting = chain.rpc.ask, [1]

    def queue(method: str, *params: Any) -> Any:
        found = count(method, *params)
        is_queue = method == "eth_getTransactionCount" and params[-1] == "pending"
        return hex(int(str(found), 16) + waiting[0]) if is_queue else found

    monkeypatch.setattr(chain.rpc, "ask", queue)
    channel = wallet.player.process.channel.agreement.channel_id
    assert wallet.pages.to_sign(channel) == ("deposit",)
    wallet.look()
    assert wallet.is_shown_as(SentState.PERHAPS)
    assert "Sign it again</button>" in wallet_page(wallet.pages.view("token"), PLAIN_NAV)
    assert wallet.pages.to_sign(channel) == ()
    assert wallet.pages.on_sent(wallet.row.name, LOST)
    wallet.look()
    assert wallet.is_shown_as(SentState.SENT)  # it is the one that waits
    waiting[0] = 0
    wallet.now += 31
    wallet.look()
    assert wallet.is_shown_as(SentState.LOST)


def test_a_transaction_that_failed_says_so_and_what_is_wanted_stays(wallet: Wallet, chain: EmbeddedChain) -> None:
    """The hash is of another transaction of the wallet, one that has failed."""
    failed = chain.sign_as(
        Call(wallet.table.assembly.adjudicator.address, b"\0" * 4),
        ALICES,
        chain.nonce_of(ALICES.address),
        100_000,
        chain.fees(),
    )
    chain.broadcast(failed)
    with pytest.raises(TransactionReverted):
        chain.wait(failed)
    assert wallet.pages.on_sent(wallet.row.name, failed.hash)
    wallet.look()
    assert wallet.is_shown_as(SentState.REVERTED)
    assert wallet.row.tone == "bad"


def test_a_token_is_approved_first_and_paid_in_then(chain: EmbeddedChain, tmp_path: Path) -> None:
    token = deploy_contract(chain, "TestToken")
    for key in (ALICES, BOBS):
        chain.send(Call(token, function("mint", "TestToken").encode(key.address, DEPOSIT)), ADMIN)
    wallet = Wallet(Table(chain, tmp_path, token))
    approving = wallet.row
    assert approving.title == f"Let the contract take {DEPOSIT:,} of the smallest unit of {show_address(token)}"
    assert dict(approving.details)["amount"] == "nothing yet but the gas"
    assert approving.to == "0x" + token.hex()
    assert wallet.pages.on_sent(approving.name, wallet.send())
    wallet.look()
    paying = wallet.row
    assert (paying.title[:6], paying.state) == ("Pay in", SentState.WAITING)
    assert dict(paying.details)["amount"] == (
        f"{DEPOSIT:,} of the smallest unit of {show_address(token)}, and the gas in ether"
    )
    wallet.send()
    wallet.table.rest()
    wallet.look()
    assert wallet.rows == ()


def test_what_is_left_of_an_earlier_approval_is_taken_back_first(chain: EmbeddedChain, tmp_path: Path) -> None:
    """Some tokens refuse to change it to anything but 0."""
    token = deploy_contract(chain, "StubbornToken")
    for key in (ALICES, BOBS):
        chain.send(Call(token, function("mint", "TestToken").encode(key.address, DEPOSIT)), ADMIN)
    table = Table(chain, tmp_path, token)
    chain.send(Token(chain, token).approve(table.assembly.adjudicator.address, DEPOSIT - 1), ALICES)
    wallet = Wallet(table)
    titles = []
    for _ in range(3):
        row = wallet.row
        titles.append(row.title.split(" ")[0])
        assert row.state is SentState.WAITING
        assert wallet.pages.on_sent(row.name, wallet.send())
        wallet.look()
    assert titles == ["Take", "Let", "Pay"]
    assert wallet.is_shown_as(SentState.MINED)  # nothing is to be approved again meanwhile
    table.rest()
    wallet.look()
    assert wallet.rows == ()


def test_a_token_whose_decimals_are_known_is_asked_for_in_whole_ones(chain: EmbeddedChain, tmp_path: Path) -> None:
    token = deploy_contract(chain, "TestToken")
    facts = TokenFacts(token, "TT<b>", 18)
    wallet = Wallet(Table(chain, tmp_path, token, (facts,)))
    row = wallet.row
    assert row.title.startswith("Let the contract take 0.05 TT")
    assert f"({DEPOSIT:,} of the smallest unit of {show_address(token)})" in row.title
    assert "<b>" not in wallet_page(wallet.pages.view("token"), PLAIN_NAV)


def test_what_is_sent_while_the_nodes_are_asked_is_remembered(wallet: Wallet) -> None:
    """The request came after the look had begun."""
    (first,) = wallet.player.process.node.wallet_requests()
    newer = replace(first, request=replace(first.request, value=first.request.value + 1))
    wanted, answered = [first], list[WalletRequest]()

    def requests() -> tuple[WalletRequest, ...]:
        answered.extend(wanted)
        return tuple(wanted)

    pages = WalletPages(ALICES.address, [wallet.table.chain], requests, has_tower=False)

    async def main() -> None:
        assert pages.on_sent(pages.view("token").rows[0].name, LOST)
        answered.clear()
        looking = asyncio.create_task(pages.look())
        while not answered:
            await asyncio.sleep(0)
        wanted.append(newer)
        assert pages.on_sent(pages.view("token").rows[1].name, LOST)
        await looking
        assert pages.view("token").rows[1].state is SentState.SENT

    asyncio.run(main())


def test_nodes_are_asked_once_however_many_pages_look_and_one_that_hangs_not_for_long(
    chain: EmbeddedChain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = deploy_contract(chain, "TestToken")
    table = Table(chain, tmp_path, token)
    table.rest()
    requests = table.players[0].process.node.wallet_requests
    ask, methods = chain.rpc.ask, list[str]()

    def count(method: str, *params: Any) -> Any:
        methods.append(method)
        return ask(method, *params)

    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        hanging = connect(url, expected_chain_id=chain.chain_id)
        pages = WalletPages(ALICES.address, [hanging, chain], requests, has_tower=False, patience=0.5)
        (row,) = pages.view("token").rows
        assert pages.on_sent(row.name, LOST)
        monkeypatch.setattr(chain.rpc, "ask", count)

        async def main() -> None:
            async with asyncio.timeout(8):
                await asyncio.gather(*(pages.look() for _ in range(10)))

        asyncio.run(main())
        silent.settimeout(0)
        asked = list(iter(lambda: _accepted(silent), None))
    assert len(asked) == 1
    assert methods.count("eth_getTransactionReceipt") == 1
    (row,) = pages.view("token").rows
    assert row.title.startswith("Let the contract take")


def _accepted(server: socket.socket) -> socket.socket | None:
    try:
        return server.accept()[0]
    except BlockingIOError:
        return None


def test_names_that_the_page_does_not_have_are_not_known(wallet: Wallet) -> None:
    assert not wallet.pages.on_sent("0" * 16, LOST)
    assert not wallet.pages.on_refused("0" * 16)
