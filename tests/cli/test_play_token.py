"""Games for a token: what is typed, what is agreed on, and what comes home."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import click
import pytest

from forcemove import InvalidValue, find_game
from forcemove.browser.lobby.drafts import read_draft
from forcemove.browser.lobby.view import OfferDraft
from forcemove.chain.addresses import short_address, show_address
from forcemove.chain.chain import Call
from forcemove.chain.codec import function
from forcemove.chain.local import EmbeddedChain, deploy_locally, local_keys
from forcemove.chain.token import Token
from forcemove.cli.play.options import STAKE_AMOUNT, TypedStake
from forcemove.history.tokens import TokenFacts, Tokens
from forcemove.protocol.codec.json_text import hex_text
from forcemove.sessions.errors import CannotPayIn, NoSuchToken, OfferDiffers, TokenUnclear, TooFewTokens
from forcemove.sessions.meetings.terms import terms_lines
from forcemove.sessions.meetings.tokens import read_token
from forcemove.sessions.meetings.venues import GameOnChain, new_offer, require_ours
from forcemove.sessions.running.playable import playable_for, playable_games
from forcemove.text.amounts import amount_text, exact_tokens, token_name
from forcemove.text.explanations import explain
from tests.chain.world import deploy_contract
from tests.cli.command import Command
from tests.cli.nodes import held_at, wait_until
from tests.cli.tables import DEPOSIT, GUEST, HOST, STAKE, START, World, link_of
from tests.cli.test_browse import HOME, OFFER, browsing, entered, join, leave, move, sit

ADMIN = local_keys()[0]
USDC = TokenFacts(b"\xa0" * 20, "USDC", 6)


@pytest.fixture(scope="module")
def chain() -> EmbeddedChain:
    return EmbeddedChain()


@pytest.fixture(scope="module")
def venue(chain: EmbeddedChain) -> GameOnChain:
    """A table on which tic-tac-toe is played for a token, of which the host has some, and the guest nothing."""
    game, token = find_game("tic-tac-toe").game, deploy_contract(chain, "TestToken")
    chain.send(Call(token, function("mint", "TestToken").encode(HOST.address, DEPOSIT)), ADMIN)
    return GameOnChain((chain,), deploy_locally(chain, [game]), game, read_token((chain,), token))


# ------------------------------------------------------------------------------------------------------ what is typed


@pytest.mark.parametrize(
    ("text", "amount"),
    [("2.5 tokens", 2_500_000), ("1 token", 1_000_000), ("0.000001 tokens", 1), ("7", 7), ("2.5tokens", 2_500_000)],
)
def test_a_stake_of_tokens_is_counted_in_their_smallest_unit(text: str, amount: int) -> None:
    assert STAKE_AMOUNT.convert(text, None, None).of(USDC) == amount


@pytest.mark.parametrize("text", ["0.1 ether", "5 gwei", "5 wei", "0.0000001 tokens", "2.5"])
def test_a_stake_that_is_no_amount_of_the_token_is_refused(text: str) -> None:
    with pytest.raises(click.UsageError, match="is not an amount of USDC 0xA0"):
        TypedStake(text).of(USDC)


def test_a_stake_of_tokens_is_no_stake_of_ether() -> None:
    with pytest.raises(click.UsageError, match="is not an amount of ether"):
        TypedStake("2.5 tokens").of(None)


@pytest.mark.parametrize("text", ["0", "0 ether", "0 tokens", "0.0 wei"])
def test_nothing_is_nothing_in_each_unit(text: str) -> None:
    assert STAKE_AMOUNT.convert(text, None, None).is_nothing
    assert not TypedStake("1").is_nothing


@pytest.mark.parametrize("text", ["much", "-1", "", "2.5 tokens more"])
def test_what_is_no_amount_of_anything_is_refused_where_it_is_typed(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not an amount"):
        STAKE_AMOUNT.convert(text, None, None)


@pytest.mark.parametrize("token", [None, USDC])
def test_a_stake_that_nobody_can_have_is_refused(token: TokenFacts | None) -> None:
    with pytest.raises(click.UsageError, match="more than any asset has"):
        TypedStake("1e80").of(token)


def test_a_token_wants_a_chain(forcemove: Command) -> None:
    command = ("play", "tic-tac-toe", "--key", "key.json", "--bot", "--relay", "ws://relay.example", "--create")
    said = forcemove(*command, "--stake", "0", "--asset", show_address(USDC.address), code=2)
    assert "--asset is of a game for a stake" in said.err


# --------------------------------------------------------------------------------------------------- what a token says


def test_a_token_says_its_name_and_its_decimals(venue: GameOnChain) -> None:
    assert venue.token is not None
    assert (venue.token.symbol, venue.token.decimals) == ("TEST", 18)
    assert exact_tokens(USDC, 2_500_000) == "2.5 USDC 0xA0a0…a0a0"
    assert exact_tokens(TokenFacts(USDC.address), 2_500_000) == "2500000 0xA0a0…a0a0"


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (2_500_000, "2.5 USDC 0xA0a0…a0a0"),
        (1, "0.000001 USDC 0xA0a0…a0a0"),
        (0, "0 USDC 0xA0a0…a0a0"),
        (12_345_000_001, "12345.000001 USDC 0xA0a0…a0a0"),
    ],
)
def test_screens_say_whole_tokens(amount: int, text: str) -> None:
    assert amount_text(USDC.address, amount, (USDC,)) == text


def test_screens_leave_out_what_is_less_than_a_millionth_of_a_token() -> None:
    dai = TokenFacts(b"\xda" * 20, "DAI", 18)
    assert (
        amount_text(dai.address, 1_234_567_890_123_456_789, (USDC, dai)) == f"1.234567 DAI {short_address(dai.address)}"
    )
    assert amount_text(dai.address, 5, (dai,)) == f"< 0.000001 DAI {short_address(dai.address)}"


@pytest.mark.parametrize("known", [(), (TokenFacts(b"\xb0" * 20, "USDC", 6),)])
def test_of_a_token_that_is_not_known_screens_say_that_they_count_its_smallest_unit(known: Tokens) -> None:
    assert amount_text(USDC.address, 2_500_000, known) == "2,500,000 smallest units of 0xA0a0…a0a0"
    assert amount_text(USDC.address, 1, known) == "1 smallest unit of 0xA0a0…a0a0"


def test_a_token_that_says_no_decimals_is_counted_in_its_smallest_unit() -> None:
    named = TokenFacts(USDC.address, "USDC")
    assert amount_text(USDC.address, 7, (named,)) == "7 smallest units of USDC 0xA0a0…a0a0"


def test_facts_that_no_token_can_have_are_refused() -> None:
    for wrong in (-1, 78):
        with pytest.raises(InvalidValue):
            TokenFacts(USDC.address, "USDC", wrong)


def test_a_hostile_name_is_shown_harmless() -> None:
    assert "\x1b" not in token_name(TokenFacts(USDC.address, "\x1b[2J ether"))
    assert token_name(TokenFacts(USDC.address, "you")) == "0xA0a0…a0a0"


@pytest.mark.parametrize("name", ["ether", "ETH", "Wei", " gwei "])
def test_no_token_is_shown_as_ether(name: str) -> None:
    assert token_name(TokenFacts(USDC.address, name)) == "0xA0a0…a0a0"


def test_where_there_is_no_contract_there_is_no_token(chain: EmbeddedChain) -> None:
    with pytest.raises(NoSuchToken) as refused:
        read_token((chain,), b"\x99" * 20)
    assert "Check the address of --asset" in explain(refused.value)


def test_a_token_that_says_nothing_of_itself_is_counted_in_its_smallest_unit(chain: EmbeddedChain) -> None:
    token = deploy_contract(chain, "SilentToken")
    assert read_token((chain,), token) == TokenFacts(token, "", 0)


def test_endpoints_that_say_different_things_of_a_token_are_not_believed(
    chain: EmbeddedChain, venue: GameOnChain
) -> None:
    assert venue.token is not None
    other = EmbeddedChain()
    while deploy_contract(other, "SilentToken") != venue.token.address:
        pass
    with pytest.raises(TokenUnclear):
        read_token((chain, other), venue.token.address)


# -------------------------------------------------------------------------------------------------- what is agreed on


def test_the_terms_are_in_the_token_and_say_its_address(venue: GameOnChain) -> None:
    assert venue.token is not None
    offer = new_offer(venue, HOST.address, HOST.address, STAKE, 3600)
    assert offer.asset == venue.token.address
    said = "\n".join(terms_lines(offer, "Tic-tac-toe", venue.token))
    assert f"stake        0.01 {token_name(venue.token)} a round" in said
    assert f"token        {show_address(offer.asset)}" in said
    assert any(
        f"at most lost 0.05 {token_name(venue.token)}" in line for line in venue.costs_lines(offer, HOST.address)
    )


@pytest.mark.parametrize("ours", ["ether", "another token"])
def test_an_offer_for_a_token_is_for_those_who_have_named_it(venue: GameOnChain, ours: str) -> None:
    offer = new_offer(venue, HOST.address, HOST.address, STAKE, 3600)
    require_ours(offer, venue)
    elsewhere = GameOnChain(venue.chains, venue.book, venue.game, None if ours == "ether" else USDC)
    with pytest.raises(OfferDiffers) as refused:
        require_ours(offer, elsewhere)
    assert refused.value.what == "asset"


def test_who_has_too_little_of_the_token_is_told_before_anything_is_signed(venue: GameOnChain) -> None:
    offer = new_offer(venue, HOST.address, HOST.address, STAKE, 3600)
    with pytest.raises(TooFewTokens) as refused:
        venue.costs_lines(offer, GUEST.address)
    assert (refused.value.balance, refused.value.needed) == (0, DEPOSIT)
    assert "Send it some of the token" in explain(refused.value)
    with pytest.raises(CannotPayIn):  # the gas is paid in ether
        venue.costs_lines(offer, b"\x99" * 20)


# ------------------------------------------------------------------------------------------------------ on the page


@pytest.mark.parametrize(
    ("text", "stake", "asset"), [("2.5 tokens", 25 * 10**17, "TEST"), ("0.1 ether", 10**17, ""), ("7", 7, "")]
)
def test_a_form_is_for_the_token_where_its_stake_is_of_tokens(
    venue: GameOnChain, text: str, stake: int, asset: str
) -> None:
    playable = playable_games([venue.game], venue.chains, venue.book, venue.token)
    wanted = read_draft(OfferDraft("tic-tac-toe", text), playable)
    assert not isinstance(wanted, str)
    assert (wanted.stake, "" if wanted.game.token is None else wanted.game.token.symbol) == (stake, asset)


def test_a_form_without_a_token_takes_no_tokens(venue: GameOnChain) -> None:
    playable = playable_games([venue.game], venue.chains, venue.book)
    assert "is not a stake" in str(read_draft(OfferDraft("tic-tac-toe", "2.5 tokens"), playable))


def test_a_page_can_join_for_the_token_that_it_knows(venue: GameOnChain) -> None:
    offer = new_offer(venue, HOST.address, HOST.address, STAKE, 3600)
    known = playable_games([venue.game], venue.chains, venue.book, venue.token)
    assert (found := playable_for(known, offer)) is not None
    assert found.token == venue.token
    assert playable_for(playable_games([venue.game], venue.chains, venue.book), offer) is None


# ------------------------------------------------------------------------------------------------------- a whole game


class TokenWorld:
    """A world whose players have a token to play for."""

    def __init__(self, world: World) -> None:
        self.world, chain = world, world.node.chain
        self.token = Token(chain, deploy_contract(chain, "TestToken"))
        for key in (HOST, GUEST):
            chain.send(Call(self.token.address, function("mint", "TestToken").encode(key.address, START)), ADMIN)
        self.option = ("--asset", show_address(self.token.address))

    def require_known_without_a_chain(self, home: Path, forcemove: Command) -> None:
        """The commands that read nothing but the journal say whole tokens."""
        store, name = ("--store", self.world.store(home)), f"TEST {short_address(self.token.address)}"
        id_ = hex_text(self.world.channel(home).agreement.channel_id)
        for verb in (("list", "--all"), ("show", id_), ("history", id_)):
            said = forcemove("channel", *verb, *store, code=0)
            assert f" {name}" in said.out or "no gain, no loss" in said.out, verb
            assert "smallest units of" not in said.out

    def require_paid(self, home: Path) -> None:
        """Everybody has the tokens that the newest state pays, and has paid for nothing but gas in ether."""
        channel = self.world.channel(home)
        assert channel.newest is not None
        for key, each in zip((HOST, GUEST), channel.newest.state.outcome, strict=True):
            assert each.asset == self.token.address
            assert self.token.balance_of(key.address) == START - DEPOSIT + each.amount
            assert START - 10**16 < self.world.node.chain.balance(key.address) < START
        assert self.token.balance_of(self.world.adjudicator.address) == 0


@pytest.fixture
def tokens(world: World) -> TokenWorld:
    return TokenWorld(world)


def test_two_bots_play_for_a_token(tokens: TokenWorld, forcemove: Command) -> None:
    world, option = tokens.world, tokens.option
    host = world.play(world.alice, "--create", "--stake", "0.01 tokens", *option, "--rounds", "2")
    link = link_of(host)
    host.reach(" ".join(option))  # in the command for the friend
    stranger = world.play(world.bob, "--join", link, "--yes")
    assert stranger.end() == 1
    assert "The offer is for another asset" in stranger.complained
    guest = world.play(world.bob, "--join", link, *option, "--rounds", "2", "--yes")
    assert host.end() == 0, host.complained
    assert guest.end() == 0, guest.complained
    tokens.require_paid(world.alice)
    for each in (host, guest):
        assert "stake        0.01 TEST 0x" in each.said
        assert re.search(r"0\.\d+ TEST 0x\w{4}…\w{4} was paid to you", each.said)
        assert " ether" not in each.said.partition("result ")[2].partition("gas ")[0]
        assert "smallest unit" not in each.said
    tokens.require_known_without_a_chain(world.alice, forcemove)


def test_a_silent_guest_loses_its_tokens(tokens: TokenWorld) -> None:
    world, option = tokens.world, tokens.option
    host = world.play(world.alice, "--create", "--stake", "0.01 tokens", *option, "--rounds", "20", "--patience", "5")
    guest = world.play(
        world.bob, "--join", link_of(host), *option, "--rounds", "20", "--yes", before=held_at("turn to reveal")
    )
    guest.reach("turn to reveal")
    guest.end(by=signal.SIGKILL)
    host.reach("challenge: in block")
    world.travel(3601)
    assert host.end() == 0, host.complained
    tokens.require_paid(world.alice)


def test_two_people_play_for_a_token_on_pages(tokens: TokenWorld) -> None:
    world = tokens.world
    alice, bob = (entered(browsing(world, home, *tokens.option)) for home in (world.alice, world.bob))
    alice.submit("/offers", **OFFER | {"stake": "0.01 tokens"})
    join(bob)
    for page in (alice, bob):
        sit(page)
    for turn in (4, 6):
        move(alice, turn)
        move(bob, turn + 1)
    leave(alice, 8)
    for page in (alice, bob):
        page.reload_until(HOME)
    wait_until(lambda: world.is_finished(world.alice) and world.is_finished(world.bob))
    tokens.require_paid(world.alice)
