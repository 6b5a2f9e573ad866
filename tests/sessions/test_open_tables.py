"""What the journal has is continued as the game that it is of, for the token that it is of."""

from __future__ import annotations

import asyncio
import re
import secrets
import sqlite3
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import pytest
from msgspec.structs import replace

from forcemove import EmbeddedChain, PassingError, deploy, local_keys
from forcemove.browser.lobby.lobby_pages import LobbyPages
from forcemove.browser.lobby.lobby_site import LobbySite
from forcemove.browser.lobby.render import lobby_panels
from forcemove.browser.security import PostedForm
from forcemove.browser.table_pages import TablePages
from forcemove.browser.templating import PLAIN_NAV
from forcemove.chain.errors import NodeBusy, Unreachable
from forcemove.history.tokens import TokenFacts
from forcemove.sessions.channel_game import ChannelGameRunner
from forcemove.sessions.meetings import meeting, terms, tokens, venues
from forcemove.sessions.meetings.stored import StoredMeetings, agreed_move_time, forget_offer, signed_names
from forcemove.sessions.options import TableOptions, Wallet
from forcemove.sessions.running.lobby_follower import LobbyFollower
from forcemove.sessions.running.open_tables import OpenTables
from forcemove.sessions.running.playable import PlayableGame, playable_games
from forcemove.sessions.running.running_table import RunningTable
from forcemove.sessions.service import TableService
from forcemove.sessions.table import PlayTable
from forcemove.store.errors import JournalUnwritable
from forcemove.store.opening import MEMORY, open_journal
from forcemove.store.records import OWNER_LENGTH, Batch, ChannelUpdate
from forcemove.transport.ending import end
from forcemove.transport.joins import Join, OfferStatus
from forcemove.transport.offers import SignedOffer
from forcemove_games.rock_paper_scissors import GAME as OTHER_GAME
from forcemove_games.tic_tac_toe import GAME
from tests.browser.served.lobby import Lines
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint
from tests.simulation.node import MemoryNode

ADMIN, ALICE, BOB = local_keys()[:3]
TOKEN = TokenFacts(b"\xa0" * 20, "TT", 6)
NO_RELAY, OTHER_RELAY = "ws://127.0.0.1:9", "ws://127.0.0.1:10"


class Recorded(OpenTables):
    """Tables that note as which game each of them is opened, and at which relay."""

    opened: list[PlayableGame]
    relays: list[str]

    def _play_table(self, game: PlayableGame, table: RunningTable, options: TableOptions | None = None) -> PlayTable:
        self.opened.append(game)
        self.relays.append(table.relay)
        return super()._play_table(game, table, options)


@pytest.mark.parametrize("is_known", [True, False], ids=["a known token", "a token that was not named"])
@pytest.mark.parametrize("has_met", [True, False], ids=["a meeting", "an offer"])
@pytest.mark.parametrize("keeps_relay", [True, False], ids=["where they met", "at another relay"])
def test_a_game_for_a_token_is_gone_on_with_for_that_token(
    tmp_path: Path, *, is_known: bool, has_met: bool, keeps_relay: bool
) -> None:
    chain = EmbeddedChain()
    book = deploy(chain, ADMIN, tmp_path / "book.json", [GAME, OTHER_GAME])
    venue = venues.GameOnChain((chain,), book, GAME, TOKEN)
    playable = playable_games([OTHER_GAME, GAME], [chain], book, TOKEN if is_known else None)
    offer = venues.new_offer(venue, ALICE.address, ALICE.address, 10**6, 3_600)

    async def main() -> tuple[list[PlayableGame], list[str]]:
        with open_journal(MEMORY, owner=secrets.token_bytes(OWNER_LENGTH)) as journal:
            stored = StoredMeetings(journal, venue, ALICE.address, OTHER_RELAY)
            if has_met:
                stored.keep(meeting.Meeting(offer, (Join(offer.hash, BOB.address, BOB.address),), has_met=False))
            else:
                stored.keep_offer(offer)
            service = TableService(journal, Wallet(ALICE, ALICE, ALICE.address), Lines(), chains=[chain], games=[GAME])
            shown = TablePages(journal, [GAME])
            options = TableOptions(NO_RELAY, keeps_relay=keeps_relay)
            tables = Recorded(service, playable, options, shown.sit, shown.leave_seat, Lines())
            tables.opened, tables.relays = [], []
            running = asyncio.create_task(tables.run())
            await asyncio.sleep(0)
            tables.resume()
            running.cancel()
            await asyncio.wait([running])
            return tables.opened, tables.relays

    (opened,), (relay,) = asyncio.run(main())
    assert (opened.game, opened.token) == (GAME, TOKEN if is_known else None)
    assert relay == (OTHER_RELAY if keeps_relay else NO_RELAY)


@pytest.mark.parametrize("keeps_relay", [True, False], ids=["where they met", "at our own relay"])
def test_the_same_again_is_offered_where_they_met(*, keeps_relay: bool) -> None:
    (playable,) = playable_games([GAME], (), None)
    offer = venues.new_offer(playable.venue, ALICE.address, ALICE.address, 0, 3_600)
    met = meeting.Meeting(offer, (Join(offer.hash, BOB.address, BOB.address),), has_met=True)

    async def main() -> list[str]:
        with open_journal(MEMORY, owner=secrets.token_bytes(OWNER_LENGTH)) as journal:
            StoredMeetings(journal, playable.venue, ALICE.address, OTHER_RELAY).keep(met)
            service = TableService(journal, Wallet(ALICE, ALICE, ALICE.address), Lines(), games=[GAME])
            shown, options = TablePages(journal, [GAME]), TableOptions(NO_RELAY, keeps_relay=keeps_relay)
            tables = Recorded(service, [playable], options, shown.sit, shown.leave_seat, Lines())
            tables.opened, tables.relays = [], []
            tables.resume()
            (table,) = tables.tables.values()
            table.end()
            pages = LobbyPages(LobbyFollower(NO_RELAY, [playable], ALICE.address), tables)
            form = lobby_panels(pages.view("token"))["tables"].partition('action="/offers">')[2].partition("</form>")[0]
            fields = PostedForm(dict(re.findall(r'name="(\w+)" value="(.*?)"', form)))
            LobbySite(pages).post("/offers", fields, PLAIN_NAV)
            assert len(tables.tables) == 2
            await end(tables._tasks.values())
            return tables.relays

    assert asyncio.run(main()) == [OTHER_RELAY if keeps_relay else NO_RELAY] * 2


def test_the_list_of_open_games_says_a_known_tokens_amounts_as_the_terms_do(tmp_path: Path) -> None:
    chain = EmbeddedChain()
    book = deploy(chain, ADMIN, tmp_path / "book.json", [GAME])
    playable = playable_games([GAME], [chain], book, TOKEN)
    offer = venues.new_offer(
        venues.GameOnChain((chain,), book, GAME, TOKEN), BOB.address, BOB.address, 2_500_000, 3_600
    )
    with open_journal(MEMORY, owner=secrets.token_bytes(OWNER_LENGTH)) as journal:
        service = TableService(journal, Wallet(ALICE, ALICE, ALICE.address), Lines(), chains=[chain], games=[GAME])
        shown = TablePages(journal, [GAME])
        follower = LobbyFollower(NO_RELAY, playable, ALICE.address)
        follower.offers = (OfferStatus(SignedOffer.sign(offer, BOB), (), 0, False),)
        pages = LobbyPages(
            follower, OpenTables(service, playable, TableOptions(NO_RELAY), shown.sit, shown.leave_seat, Lines())
        )
        (row,) = pages.view("token").offers
        page = pages.offer_page(offer.hash, "token")
    assert page is not None
    assert (row.stake, row.deposit) == (
        "2.5 TT 0xA0a0\N{HORIZONTAL ELLIPSIS}a0a0",
        "12.5 TT 0xA0a0\N{HORIZONTAL ELLIPSIS}a0a0",
    )
    assert dict(page.terms)["stake"] == f"{row.stake} a round"


@pytest.mark.parametrize("body", [b"nonsense", bytes.fromhex("92cd03e790")], ids=["no meeting", "of a newer program"])
def test_a_meeting_that_cannot_be_read_keeps_no_other_game_from_being_gone_on_with(tmp_path: Path, body: bytes) -> None:
    """Nobody has paid into a game that is a meeting still; into another one of the journal somebody may have."""
    venue = venues.FriendlyGame(GAME.name, GAME.title)
    offer = venues.new_offer(venue, ALICE.address, ALICE.address, 0, 3_600, move_time=90)
    with open_journal(str(tmp_path / "journal"), owner=secrets.token_bytes(OWNER_LENGTH)) as journal:
        stored, met = (
            StoredMeetings(journal, venue, ALICE.address),
            meeting.Meeting(offer, (Join(offer.hash, BOB.address, BOB.address, "Bob"),), has_met=False),
        )
        journal.meetings.keep(bytes(32), body)
        stored.keep(met)
        assert list(stored.meetings(lambda _: True)) == [met]
        assert list(stored.offers(lambda _: True)) == []
        agreement = terms.agreement_of(offer, met.joins, GAME)
        assert (signed_names(journal, agreement), agreed_move_time(journal, agreement)) == (("", "Bob"), 90)
        forget_offer(journal, offer.hash)
        assert [id_ for id_, _ in journal.meetings.all()] == [bytes(32)]


def test_a_meeting_with_a_guest_who_wants_to_be_paid_at_the_adjudicator_is_passed_over(tmp_path: Path) -> None:
    """An older program has met such a guest, and with its journal no game could be begun or continued any more."""
    chain = EmbeddedChain()
    venue = venues.GameOnChain((chain,), deploy(chain, ADMIN, tmp_path / "book.json", [GAME]), GAME)
    offer = venues.new_offer(venue, ALICE.address, ALICE.address, 10**16, 3_600)
    payout = b"\x77" * 20
    met = meeting.Meeting(offer, (Join(offer.hash, BOB.address, payout),), has_met=True)
    with open_journal(MEMORY, owner=secrets.token_bytes(OWNER_LENGTH)) as journal:
        body = meeting.MEETINGS.encode(met)
        assert body.count(payout) == 1
        journal.meetings.keep(met.table.id, body.replace(payout, offer.adjudicator))
        service = TableService(journal, Wallet(ALICE, ALICE, ALICE.address), Lines(), chains=[chain], games=[GAME])
        options, port = TableOptions(NO_RELAY), Mock()
        runner = ChannelGameRunner(service, GAME, venue, options, port)
        assert not PlayTable(service, venue, options, port, runner).report_ends()
        assert port.mock_calls == []


def test_a_game_that_is_damaged_keeps_no_other_one_from_being_gone_on_with(tmp_path: Path) -> None:
    venue, path = venues.FriendlyGame(GAME.name, GAME.title), str(tmp_path / "journal")
    offer = venues.new_offer(venue, ALICE.address, ALICE.address, 0, 3_600)
    met = meeting.Meeting(offer, (Join(offer.hash, BOB.address, BOB.address),), has_met=True)
    id_ = terms.agreement_of(offer, met.joins, GAME).channel_id
    with open_journal(path, owner=secrets.token_bytes(OWNER_LENGTH)) as journal:
        StoredMeetings(journal, venue, ALICE.address).keep(met)
        journal.commit(Batch((ChannelUpdate(id_, 0, b"a snapshot", b"about it"),)))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE channels SET snapshot = id")
    with open_journal(path, owner=secrets.token_bytes(OWNER_LENGTH)) as journal:
        service, port = TableService(journal, Wallet(ALICE, ALICE, ALICE.address), Lines(), games=[GAME]), Mock()
        runner = ChannelGameRunner(service, GAME, None, TableOptions(NO_RELAY), port)
        assert not PlayTable(service, venue, TableOptions(NO_RELAY), port, runner).report_ends()
        assert port.mock_calls == []


def test_an_expired_offer_of_a_journal_that_cannot_be_written_is_in_nobodys_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who resumes what a journal has defends its channels, too: an error would end both."""
    venue = venues.FriendlyGame(GAME.name, GAME.title)
    offer = venues.new_offer(venue, ALICE.address, ALICE.address, 0, 3_600)
    with open_journal(MEMORY, owner=secrets.token_bytes(OWNER_LENGTH)) as journal:
        stored = StoredMeetings(journal, venue, ALICE.address)
        stored.keep_offer(offer)
        stored.keep_offer(replace(offer, nonce=1, expires=1))

        def forget(table: bytes) -> None:
            raise JournalUnwritable(MEMORY, "the disk is full")

        monkeypatch.setattr(journal.meetings, "forget", forget)
        assert [each.offer for each in stored.offers(lambda _: True)] == [offer]


@pytest.mark.parametrize("error", [Unreachable("memory", "down"), NodeBusy("memory", 20.0)])
def test_a_token_whose_endpoint_gives_no_answer_has_not_no_decimals(error: PassingError) -> None:
    chain = MemoryChain(endpoint := Endpoint(MemoryNode()))

    def answer(method: str, *_: object) -> object:
        if method == "eth_call":
            raise error
        return "0x00"

    endpoint.answer = answer
    with pytest.raises(type(error)):
        tokens.read_token([chain], b"\xa0" * 20)
