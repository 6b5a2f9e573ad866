"""After the end: credits that a client collects, and channel ids that nobody uses again. Rows 37 and 42 of the list of
attacks."""

from __future__ import annotations

import pytest

from forcemove import ETHER, ConcludeWanted, Phase, local_table, word
from forcemove.chain.chain import Call
from forcemove.chain.token import Token
from forcemove.follower.errors import LogsLeftOut
from forcemove.node.nonces import draw_nonce
from forcemove.protocol.errors import ChannelIdUsed
from forcemove.protocol.rule_errors import PaymentRefused
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.chain.world import deploy_contract
from tests.evm import function_selector
from tests.expected import raising
from tests.parity import core_abi as abi
from tests.process import memory_journal
from tests.scenarios.story import BOB, DEPOSIT, KEYS, MINER, Playground, Story

# -------------------------------------------------------------------------------------------------------------- credits


def list_bob(story: Story, *, is_listed: bool) -> None:
    data = function_selector("BlacklistToken", "blacklist") + abi.arguments(abi.address(BOB.address), word(is_listed))
    story.chain.send(Call(story.asset, data), MINER)


@pytest.fixture
def unpaid(playground: Playground) -> Story:
    """A story in a token that moves nothing to Bob when the channel pays out."""
    token = deploy_contract(playground.chain, "BlacklistToken")
    for key in KEYS:
        mint = function_selector("TestToken", "mint") + abi.arguments(abi.address(key.address), word(DEPOSIT))
        playground.chain.send(Call(token, mint), MINER)
    story = playground.story(TIC_TAC_TOE, asset=token)
    story.play_until(6)
    list_bob(story, is_listed=True)
    story.go_on()
    assert [player.phase for player in story.players] == [Phase.CLOSED, Phase.CLOSED]
    return story


def test_threat_37_a_client_collects_its_own_credit_when_it_can_be_paid(unpaid: Story) -> None:
    """Block by block it tries; nothing is spent on what would be refused."""
    bob, adjudicator, token = unpaid.bob, unpaid.adjudicator, Token(unpaid.chain, unpaid.asset)
    owed = adjudicator.credit_of(BOB.address, unpaid.asset)
    assert owed > 0
    unpaid.mine()
    unpaid.play()
    assert "SubmitPayCredit" not in bob.mined
    assert bob.refused[-1] == PaymentRefused(unpaid.asset, BOB.address, owed)

    list_bob(unpaid, is_listed=False)
    unpaid.play()
    assert bob.mined[-1] == "SubmitPayCredit"
    assert token.balance_of(BOB.address) == owed
    assert adjudicator.credit_of(BOB.address, unpaid.asset) == 0
    unpaid.mine()
    unpaid.play()
    assert bob.mined.count("SubmitPayCredit") == 1
    assert "SubmitPayCredit" not in unpaid.alice.mined


def test_threat_37_a_client_that_starts_again_collects_it(unpaid: Story) -> None:
    list_bob(unpaid, is_listed=False)
    unpaid.start(unpaid.bob)
    unpaid.play()
    assert unpaid.adjudicator.credit_of(BOB.address, unpaid.asset) == 0


def test_threat_37_what_somebody_else_has_had_paid_is_left_alone(unpaid: Story) -> None:
    list_bob(unpaid, is_listed=False)
    unpaid.adjudicator.send(unpaid.adjudicator.pay_credit(BOB.address, unpaid.asset), MINER)
    unpaid.play()
    assert "SubmitPayCredit" not in unpaid.bob.mined


# ------------------------------------------------------------------------------------------------------------------ ids


def test_threat_42_a_closed_channel_id_is_refused_before_anything_is_signed(channel: Story) -> None:
    """By a client that remembers nothing and reads no old logs."""
    channel.play()
    assert channel.adjudicator.holdings_of(channel.agreement.channel_id, ETHER, 0).closed
    channel.mine()
    channel.first_block = channel.chain.block_number()
    for player in channel.players:
        player.journal = memory_journal()
        channel.start(player)
        with raising(ChannelIdUsed(channel.agreement.channel_id)):
            player.client.poll()
        assert player.client.channel.last_signed is None
        assert not player.client.channel.accepted


def test_threat_42_who_remembers_a_closed_channel_signs_nothing_more_in_it(channel: Story) -> None:
    channel.play()
    signed = [player.client.channel.last_signed for player in channel.players]
    channel.first_block = channel.chain.block_number() + 1
    for player in channel.players:
        channel.start(player)
    channel.mine()
    for player in channel.players * 3:
        with pytest.raises(LogsLeftOut):
            player.client.poll()
    assert [player.client.channel.last_signed for player in channel.players] == signed


def test_threat_42_new_channels_of_the_same_players_have_other_ids() -> None:
    """Also on chains that began anew, where the contracts are at the same addresses."""
    tables = [local_table(TIC_TAC_TOE, *[lambda _: ConcludeWanted()] * 2, stake=10) for _ in range(2)]
    first, second = (table.channels[0].channel.agreement for table in tables)
    assert first.fixed_part.participants == second.fixed_part.participants
    assert first.channel_id != second.channel_id
    assert len({draw_nonce() for _ in range(100)}) == 100
