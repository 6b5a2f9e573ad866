"""How often a client asks its node: bounds on the requests of a poll, counted on their way to the node."""

from __future__ import annotations

from collections import Counter

import pytest

from forcemove.protocol.codec.wire import encode_greeting, encode_message
from forcemove.protocol.machine.channel import Phase
from forcemove.protocol.machine.inputs import Reconnected
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.scenarios.story import Playground, Story

HEAD = ["eth_getBlockByNumber"] * 2
"""The newest block and the pending one: what it takes to know the head and the time."""


@pytest.fixture
def story(playground: Playground) -> Story:
    story = playground.story(TIC_TAC_TOE)
    story.play_until(6)
    return story


@pytest.fixture
def asked(playground: Playground, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The methods of all requests, in their order."""
    methods: list[str] = []
    rpc = playground.chain.rpc
    ask = rpc.ask

    def counting(method: str, *params: object) -> object:
        methods.append(method)
        return ask(method, *params)

    monkeypatch.setattr(rpc, "ask", counting)
    return methods


def test_a_poll_on_a_quiet_chain_reads_the_head_and_nothing_else(story: Story, asked: list[str]) -> None:
    for _ in range(3):
        asked.clear()
        assert not story.alice.client.node.poll()
        assert asked == HEAD


def test_a_quiet_chain_costs_no_more_at_a_greater_depth(playground: Playground, asked: list[str]) -> None:
    story = playground.story(TIC_TAC_TOE, confirmations=3)
    story.mine(3)
    story.play()
    assert story.alice.phase is Phase.FUNDING, "the deposit is not deep enough yet"
    asked.clear()
    story.alice.client.node.poll()
    assert "eth_getLogs" not in asked
    assert "eth_call" not in asked


def test_an_empty_block_costs_the_head_the_statuses_and_the_logs(story: Story, asked: list[str]) -> None:
    story.mine()
    asked.clear()
    story.alice.client.node.poll()
    assert asked == [*HEAD, "eth_call", "eth_getLogs"]


def test_messages_cost_no_request(story: Story, asked: list[str]) -> None:
    """Fifty greetings, a state that is known, and rubbish."""
    for turn in range(50):
        story.lines[1].send(encode_greeting(story.agreement.channel_id, 1, turn % 6))
    story.lines[1].send(encode_message(story.agreement.channel_id, story.bob.newest))
    story.lines[1].send(b"rubbish")
    asked.clear()
    story.alice.client.node.poll()
    assert len(story.alice.faults) == 1
    assert asked == HEAD


def test_what_is_fed_costs_no_request(story: Story, asked: list[str]) -> None:
    asked.clear()
    story.alice.client.feed(Reconnected())
    assert asked == []


def test_a_phase_costs_nothing(story: Story, asked: list[str]) -> None:
    asked.clear()
    assert story.alice.client.phase is Phase.PLAYING
    assert asked == []


def test_a_whole_game_asks_for_few_blocks(playground: Playground, asked: list[str]) -> None:
    """Of each poll the head; of each transaction what sending it takes."""
    story, polls = playground.story(TIC_TAC_TOE), 0
    asked.clear()
    while [player for player in story.players if player.client.node.poll()]:
        polls += len(story.players)
    polls += len(story.players)
    counted = Counter(asked)
    assert {player.phase for player in story.players} == {Phase.CLOSED}
    transactions = counted["eth_sendRawTransaction"]
    assert transactions == 3
    # Besides the head: the block that was read last, where it is not the newest any more, and each transaction's fees.
    assert counted["eth_getBlockByNumber"] <= 2 * polls + 2 * transactions * len(story.players) + transactions


def test_a_deadline_that_has_passed_is_noticed_by_the_next_poll(playground: Playground) -> None:
    """However little time has gone by on our own clock."""
    story = playground.story(TIC_TAC_TOE)
    story.play_until(6)
    story.bob.is_silent = story.alice.is_silent = True
    story.challenge(1, *story.bob.states[-2:])
    story.bob.client.poll()
    assert story.bob.phase is Phase.CHALLENGED
    story.expire()
    assert story.bob.phase is Phase.CHALLENGED, "nobody has looked"
    story.bob.client.poll()
    assert story.bob.mined[-1] == "SubmitTransfer"
