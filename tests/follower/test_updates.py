"""What is told of endpoints that have not read the same, or not from the same block on; and what of a look counts that
was overtaken. Rows 32, 43, 46 and 54 of the list of attacks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from forcemove import ETHER, Adjudicator, PassingError
from forcemove.chain.asking import Steps
from forcemove.chain.errors import Unreachable
from forcemove.chain.worker import EndpointWorker, wait_for
from forcemove.follower.endpoint_quorum import EndpointQuorum
from forcemove.follower.errors import LogsLeftOut
from forcemove.follower.follow_request import FollowRequest
from forcemove.follower.on_chain_view import Checkpoint
from forcemove.protocol.machine.inputs import CreditSeen, HoldingsSeen
from forcemove_games.tic_tac_toe import GAME
from tests.follower.test_endpoint_quorum import Pair, challenge, differing, down
from tests.follower.test_follower import Reader, dispute
from tests.scenarios.story import DEPOSIT, Playground, Story
from tests.sender.slowly import SlowWorker
from tests.simulation.chain import MemoryChain


@pytest.fixture
def playground() -> Playground:
    return Playground.on(MemoryChain())


@pytest.fixture
def pair(playground: Playground, story: Story) -> Pair:
    return Pair(playground, story)


def genuine_after(views: EndpointQuorum) -> Iterator[set[bytes]]:
    for each in views.viewers:
        with suppress(PassingError):
            wait_for(each.look())
    yield views.take_in().genuine


def test_threat_32_nothing_is_genuine_where_nobody_answers(playground: Playground, story: Story) -> None:
    reader = Reader(playground, endpoints=2)
    for each in reader.endpoints:
        each.answer = down

    def is_genuine(_: Adjudicator) -> Steps[bool]:
        yield from ()
        return True

    reader.views.follow(FollowRequest(story.agreement, None, 0, True, contracts="these", is_genuine=is_genuine))
    for _ in range(3):
        reader.wait(31)
        assert list(genuine_after(reader.views)) == [set()]


def test_threat_46_where_one_question_about_contracts_fails_the_others_wait(playground: Playground) -> None:
    """Each may take as long as the endpoint is waited for. What defends was asked before."""
    reader, asked = Reader(playground), list[int]()

    def is_genuine(adjudicator: Adjudicator) -> Steps[bool]:
        yield from ()
        asked.append(reader.endpoint.counts["eth_call"])
        raise Unreachable(adjudicator.chain.endpoint, "down")

    for number in range(3):
        agreement = playground.story(GAME).agreement
        reader.views.follow(FollowRequest(agreement, None, 0, True, contracts=number, is_genuine=is_genuine))
    wait_for(reader.views.viewers[0].look())
    assert len(asked) == 1
    assert asked[0] > 0


@pytest.mark.parametrize("amounts", [(7, 3), (3, 7)])
def test_threat_54_what_is_owed_to_us_no_endpoint_makes_less(
    pair: Pair, story: Story, amounts: tuple[int, int]
) -> None:
    pair.play_to(4)
    for viewer, amount in zip(pair.views.viewers, amounts, strict=True):
        viewer.views[pair.id] = replace(viewer.views[pair.id], credits=((ETHER, amount),))
        viewer.changed.add(pair.id)
        viewer.has_looked = True
    assert pair.views.take_in().updates[pair.id].changes == (CreditSeen(ETHER, 7),)


def test_who_knows_no_beginning_reads_it_before_anything_is_told_of_it(
    playground: Playground, story: Story, pair: Pair
) -> None:
    """After a restart one endpoint was read from the beginning, since it lacked a block, and then it is away."""
    pair.play_to(6)
    reached = pair.views.cursor
    assert reached is not None
    resumed = Pair(playground, story)
    following = resumed.views._channels[pair.id].following
    known = Checkpoint(reached.number, reached.hash, pair.channel(story).record)
    resumed.views.follow(replace(following, checkpoint=known))
    resumed.views.viewers[0].follow(following)
    resumed.look_all()
    assert resumed.logs(story) == ["Deposited", "Deposited"]
    challenge(story)
    resumed.endpoints[0].answer = down
    resumed.wait(31)
    for _ in range(2):
        resumed.look_anyway()
    assert resumed.logs(story) == ["Deposited", "Deposited", "ChallengeRegistered"]
    assert resumed.channel(story).held(ETHER) == 2 * DEPOSIT


@pytest.mark.parametrize("liar", [0, 1])
def test_threat_54_what_one_shows_becomes_due_by_its_time_alone(pair: Pair, story: Story, liar: int) -> None:
    """No log says that a challenge has run out."""
    pair.play_to(6)
    pair.endpoints[liar].stay_at(story.chain.block_number(), forks=True)
    challenge(story)
    pair.look_all()
    assert (len(differing(pair).clocks), len(differing(pair).payouts)) == (1, 0)
    story.chain.travel_to(pair.status.finalizes_at + 1)
    story.mine()
    pair.look_all()
    assert (len(differing(pair).clocks), len(differing(pair).payouts)) == (0, 1)


@pytest.mark.parametrize("late", [0, 1])
def test_after_a_restart_all_is_read_that_one_has_not_read(pair: Pair, story: Story, late: int) -> None:
    pair.look_all()
    before = story.chain.block_number()
    pair.endpoints[late].stay_at(before)
    story.mine(2)
    pair.look_all()
    assert pair.views.cursor is not None
    assert pair.views.cursor.number == before


@pytest.mark.parametrize("liar", [0, 1])
def test_threat_56_what_one_endpoint_leaves_out_is_its_own_fault(pair: Pair, story: Story, liar: int) -> None:
    pair.play_to(6)
    pair.endpoints[liar].replace("eth_getLogs", lambda _: [])
    challenge(story)
    told = pair.look_all()
    assert told.channel_errors == {}
    assert LogsLeftOut in {type(each) for each in told.errors}


def test_threat_56_what_one_got_wrong_is_read_again_at_the_same_block(pair: Pair, story: Story) -> None:
    pair.play_to(6)
    pair.endpoints[0].replace("eth_getLogs", lambda _: [])
    challenge(story)
    assert pair.look_all().updates == {}
    pair.endpoints[0].be_honest()
    pair.look_all()
    assert pair.logs(story)[-1] == "ChallengeRegistered"


def test_what_is_wrong_by_all_is_the_channels(pair: Pair, story: Story) -> None:
    story.play_until(6)
    for each in pair.endpoints:
        each.replace("eth_getLogs", lambda _: [])
    challenge(story)
    assert type(pair.look_all().channel_errors[pair.id]) is LogsLeftOut


@pytest.mark.parametrize("is_let_go", [False, True])
def test_a_look_that_was_overtaken_does_not_count(pair: Pair, story: Story, is_let_go: bool) -> None:
    """While it asked, the channel was let go, or was to be read anew."""
    viewer = pair.views.viewers[0]
    following = pair.views._channels[pair.id].following
    honest = pair.endpoints[0].answer

    def answer(method: str, *params: Any) -> Any:
        pair.endpoints[0].answer = honest
        if is_let_go:
            viewer.unfollow(pair.id)
        else:
            viewer.follow(following)
        return honest(method, *params)

    pair.endpoints[0].answer = answer
    wait_for(viewer.look())
    assert viewer.looks == 1
    assert viewer.views == {}


def test_threat_46_a_look_that_was_given_up_does_not_count(pair: Pair, story: Story) -> None:
    """What it had read is read again: it may hang in the middle of it."""
    story.play_until(4)
    viewer, chain = pair.views.viewers[0], pair.views.viewers[0].adjudicator.chain
    worker = chain.worker = SlowWorker(chain, 1.0)  # type: ignore[assignment]
    look, hanging = viewer.look(), viewer._follower
    next(look)
    for second in range(1, 4):
        while worker.step(second):
            pass
    look.close()
    for second in range(4, 100):
        while worker.step(second):
            pass
    assert (viewer.views, viewer.answered_at) == ({}, None)
    assert viewer._follower is not hanging, "a thread may be in the middle of it"
    chain.worker = EndpointWorker(chain)
    pair.look_all()
    assert pair.logs(story) == ["Deposited", "Deposited"]


@pytest.mark.parametrize("is_joined", [False, True])
def test_what_was_read_before_a_request_failed_is_not_read_again(
    playground: Playground, monkeypatch: pytest.MonkeyPatch, is_joined: bool
) -> None:
    """But for a channel that has come meanwhile: of that nothing was looked for."""
    monkeypatch.setattr("forcemove.follower.log_reader._MOST_BLOCKS", 2)
    story, other = playground.story(GAME), playground.story(GAME)
    dispute(story)
    dispute(other)
    story.mine(6)
    reader, answered, asked = Reader(playground), list[tuple[str, int]](), list[str]()
    reader.follow(story)

    def failing(method: str, *params: Any) -> Any:
        if method == "eth_getLogs":
            asked.append(method)
            if len(asked) == 5:
                raise Unreachable("memory", "for once")
            first, last = (int(params[0][name], 16) for name in ("fromBlock", "toBlock"))
            answered.extend((id_, block) for id_ in params[0]["topics"][1] for block in range(first, last + 1))
        return reader.node.ask(method, *params)

    reader.endpoint.answer = failing
    reader.look_anyway()
    if is_joined:
        reader.follow(other)
    reader.look()
    ids = ["0x" + each.agreement.channel_id.hex() for each in (story, other)]
    of_story, of_other = ([block for id_, block in answered if id_ == each] for each in ids)
    assert sorted(of_story) == list(range(story.first_block, story.chain.block_number() + 1))
    assert sorted(of_other) == (list(range(other.first_block, story.chain.block_number() + 1)) if is_joined else [])
    for each in (story, other) if is_joined else (story,):
        assert reader.logs(each)[-1] == "Checkpointed"


def test_what_is_held_is_told_anew_with_all_the_rest(pair: Pair, story: Story) -> None:
    pair.play_to(4)
    before = story.chain.block_number()
    story.mine(2)
    pair.look_all()
    story.reorganise(before, mined=3)
    told = pair.look_all()
    read = told.updates[pair.id]
    assert read.from_scratch
    assert HoldingsSeen(ETHER, 2 * DEPOSIT) in read.changes


def test_threat_22_new_blocks_that_were_read_before_a_request_failed_are_read_again(
    playground: Playground, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may be other ones by then."""
    monkeypatch.setattr("forcemove.follower.log_reader._MOST_BLOCKS", 2)
    story.play_until(4)
    first, deposited = story.first_block, story.chain.block_number()
    last = first + 2 * ((deposited - first) // 2 + 1)
    story.mine(last - deposited)
    reader = Reader(playground)
    reader.follow(story)

    def failing(method: str, *params: Any) -> Any:
        if method == "eth_getLogs" and int(params[0]["fromBlock"], 16) == last:
            raise Unreachable("memory", "for once")
        return reader.node.ask(method, *params)

    reader.endpoint.answer = failing
    reader.look_anyway()
    reader.endpoint.be_honest()
    story.reorganise(deposited - 1, mined=5)
    reader.look()
    assert reader.logs(story) == ["Deposited"]
