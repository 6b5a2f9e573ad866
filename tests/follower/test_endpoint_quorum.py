"""Two endpoints of one chain that do not show the same: nothing is told of what only one of them shows, but a challenge
is told to be answered whichever shows it. Rows 43 and 54 of the list of attacks, and holes 21, 22 and 29."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from forcemove import ETHER, Adjudicator
from forcemove.chain.asking import Steps
from forcemove.chain.errors import EndpointFailed, Unreachable
from forcemove.chain.worker import wait_for
from forcemove.follower import turns
from forcemove.follower.endpoint_quorum import EndpointQuorum, QuorumUpdate
from forcemove.follower.errors import (
    BehindItself,
    EndpointLeftOut,
    EndpointsDisagree,
    EndpointStuck,
    HeadTooFar,
    TimeInDoubt,
)
from forcemove.follower.follow_request import FollowRequest
from forcemove.protocol.machine.inputs import ViewsDiffer
from forcemove.protocol.words import Status
from tests.follower.test_follower import Reader
from tests.scenarios.story import KEYS, Playground, Story
from tests.simulation.chain import MemoryChain


@pytest.fixture
def playground() -> Playground:
    return Playground.on(MemoryChain())


class Pair(Reader):
    """Two endpoints and a channel."""

    def __init__(self, playground: Playground, story: Story) -> None:
        super().__init__(playground, endpoints=2)
        self.story = story
        self.follow(story)
        self.told = list[QuorumUpdate]()

    def look_all(self) -> QuorumUpdate:
        """Until both have read what there is."""
        told = self.look(self.story)
        self.told.append(told)
        return told

    def play_to(self, turn: int) -> None:
        """And read it."""
        self.story.play_until(turn)
        self.look_all()

    @property
    def clocks(self) -> list[Status]:
        """Those that run somewhere and are not in the record that all agree on, as they were told last."""
        differ = [told.differences[self.id] for told in self.told if self.id in told.differences]
        return [each.status for each in differ[-1].clocks] if differ else []

    @property
    def is_denied(self) -> bool:
        differ = [told.differences[self.id] for told in self.told if self.id in told.differences]
        return differ[-1].is_denied if differ else False

    @property
    def id(self) -> bytes:
        return self.story.agreement.channel_id

    @property
    def status(self) -> Status:
        return self.story.assembly.adjudicator.status_of(self.id, ETHER)


@pytest.fixture
def pair(playground: Playground, story: Story) -> Pair:
    return Pair(playground, story)


def differing(pair: Pair) -> ViewsDiffer:
    """What was told last of what they do not agree on."""
    differences = pair.views._channels[pair.id].differences
    assert differences is not None
    return differences


def challenge(story: Story) -> None:
    story.challenge(0, *story.opening()[2:4])


def down(method: str, *_: Any) -> Any:
    raise Unreachable("memory", "down")


def test_what_both_show_is_told_at_four_requests_each(pair: Pair, story: Story) -> None:
    pair.play_to(6)
    assert pair.logs(story) == ["Deposited", "Deposited"]
    for _ in range(3):
        story.mine()
        for each in pair.endpoints:
            each.counts.clear()
        assert pair.look().channel_errors == {}
        for each in pair.endpoints:
            assert each.counts == {"eth_getBlockByNumber": 2, "eth_getLogs": 1, "eth_call": 1}


def quiet(pair: Pair) -> list[bool]:
    return [each.is_quiet for each in pair.views.viewers]


@pytest.mark.parametrize("liar", [None, 0, 1])
def test_endpoints_are_asked_less_often_where_no_channel_expects_anything(
    pair: Pair, story: Story, liar: int | None
) -> None:
    assert quiet(pair) == [False, False]
    pair.play_to(6)
    assert quiet(pair) == [False, False]  # money was to come
    pair.look()
    assert quiet(pair) == [True, True]
    if liar is not None:
        pair.endpoints[liar].stay_at(story.chain.block_number())
    challenge(story)
    pair.look()
    assert quiet(pair) == [False, False]


# ---------------------------------------------------------------------------------------------- what only one shows


@pytest.mark.parametrize("liar", [0, 1])
@pytest.mark.parametrize("forks", [False, True])
def test_threat_54_a_deposit_that_only_one_shows_is_not_told(pair: Pair, story: Story, liar: int, forks: bool) -> None:
    """Nothing is paid in, and nothing signed, on what one endpoint may have made up."""
    pair.look_all()
    pair.endpoints[liar].stay_at(story.chain.block_number(), forks=forks)
    story.play_until(4)
    told = pair.look_all()
    assert told.updates == {}
    assert pair.is_denied == forks  # one that shows an older head is late, and is waited for
    assert [type(each) for each in told.errors] == [EndpointsDisagree] * forks
    pair.endpoints[liar].be_honest()
    pair.look_all()
    assert not pair.is_denied
    assert pair.logs(story) == ["Deposited", "Deposited"]


@pytest.mark.parametrize("liar", [0, 1])
@pytest.mark.parametrize("forks", [False, True])
def test_threat_54_a_challenge_that_one_hides_is_told_to_be_answered(
    pair: Pair, story: Story, liar: int, forks: bool
) -> None:
    pair.play_to(6)
    pair.endpoints[liar].stay_at(story.chain.block_number(), forks=forks)
    challenge(story)
    assert pair.look_all().updates == {}
    assert pair.clocks == [pair.status]
    pair.endpoints[liar].be_honest()
    pair.look_all()
    assert pair.clocks == []
    assert pair.logs(story)[-1] == "ChallengeRegistered"


@pytest.mark.parametrize("liar", [0, 1])
def test_threat_56_a_log_that_is_left_out_leaves_the_status(pair: Pair, story: Story, liar: int) -> None:
    """Hole 29: where both leave it out, or there is one endpoint, the status alone tells of the clock."""
    pair.play_to(6)
    for endpoint in pair.endpoints[liar:]:
        endpoint.replace("eth_getLogs", lambda _: [])
    challenge(story)
    pair.look_all()
    assert pair.clocks[-1] == pair.status
    (differ,) = pair.told[-1].differences.values()
    assert differ.clocks[-1].recorded is None


@pytest.mark.parametrize("liar", [0, 1])
@pytest.mark.parametrize("block", ["latest", "pending"])
@pytest.mark.parametrize("ahead", [7_200, 2**40])
def test_threat_54_the_time_of_one_ends_nothing(pair: Pair, story: Story, liar: int, block: str, ahead: int) -> None:
    """Hole 21: two hours ahead, the challenge counted as over, and the old state was paid out."""
    pair.play_to(6)
    honest = pair.node.ask

    def answer(method: str, *params: Any) -> Any:
        found = honest(method, *params)
        if method == "eth_getBlockByNumber" and params[0] == block:
            return {**found, "timestamp": found["timestamp"] + ahead}
        return found

    pair.endpoints[liar].answer = answer
    challenge(story)
    pair.look_all()
    assert pair.views.time < pair.status.finalizes_at
    assert pair.logs(story)[-1] == "ChallengeRegistered"


def test_a_deposit_that_one_has_missed_once_is_read_by_it_when_they_differ(pair: Pair, story: Story) -> None:
    """A stranger pays in a wei: no status shows that, and the log of it is not read again."""
    pair.play_to(6)
    worker = pair.views.viewers[1]
    pair.views.uncertain.clear()
    pair.endpoints[1].replace("eth_getLogs", lambda _: [])
    adjudicator = story.assembly.adjudicator
    held = adjudicator.holdings_of(pair.id, ETHER, 0).amount
    adjudicator.send(adjudicator.deposit(pair.id, ETHER, held, 1), KEYS[1])
    pair.look()
    assert pair.views.viewers[1].views[pair.id].holdings == ((ETHER, held),)
    story.mine()
    wait_for(worker.look())
    assert pair.views.viewers[1].views[pair.id].holdings == ((ETHER, held + 1),)


# -------------------------------------------------------------------------------------------------- heads of nothing


@pytest.mark.parametrize("liar", [0, 1])
@pytest.mark.parametrize("ahead", [4, 100, 10**10, 2**62])
def test_threat_54_a_head_without_blocks_hides_nothing(pair: Pair, story: Story, liar: int, ahead: int) -> None:
    """Hole 22: it became the one that was read, or was read without end."""
    pair.play_to(6)
    honest = pair.node.ask

    def answer(method: str, *params: Any) -> Any:
        if method == "eth_getBlockByNumber" and params[0] in ("latest", "pending"):
            found = honest(method, *params)
            return {**found, "number": found["number"] + ahead, "hash": bytes(31) + b"\x07"}
        if method == "eth_getLogs":
            return []
        if method == "eth_call" and int(params[1], 16) > story.chain.block_number():
            raise EndpointFailed(method, "header not found")
        return honest(method, *params)

    pair.endpoints[liar].answer = answer
    challenge(story)
    pair.look_anyway()
    pair.told.append(QuorumUpdate(differences={pair.id: differing(pair)}))
    assert pair.status in pair.clocks


def test_threat_54_a_head_that_no_chain_can_have_is_that_endpoints_failure(pair: Pair, story: Story) -> None:
    pair.look_all()
    found = pair.node.ask("eth_getBlockByNumber", "latest", False)
    pair.endpoints[0].replace("eth_getBlockByNumber", lambda _: {**found, "number": 10**10, "hash": b"\x07" * 32})
    pair.endpoints[0].counts.clear()
    with pytest.raises(HeadTooFar):
        pair.look_all()
    assert pair.endpoints[0].counts.total() < 5


# ------------------------------------------------------------------------------------- what is late, stuck or silent


def test_one_that_shows_no_new_block_is_told_and_waited_for(pair: Pair, story: Story) -> None:
    """Otherwise one that shows blocks that do not exist would be the only one that counts."""
    pair.look_all()
    pair.endpoints[1].stay_at(story.chain.block_number())
    story.play_until(4)
    story.mine(3)
    pair.look_all()
    for seconds, errors in ((119, []), (2, [EndpointStuck]), (1_000, [])):
        told = pair.wait(seconds)
        assert pair.logs(story) == []
        assert [type(each) for each in told] == errors
    pair.endpoints[1].be_honest()
    pair.look_all()
    assert pair.logs(story) == ["Deposited", "Deposited"]


@pytest.mark.parametrize("silent", [0, 1])
def test_threat_46_one_that_does_not_answer_is_waited_for_half_a_minute(pair: Pair, story: Story, silent: int) -> None:
    pair.look_all()
    pair.endpoints[silent].answer = down
    story.play_until(4)
    pair.look_anyway()
    assert pair.logs(story) == []
    pair.wait(29)
    assert pair.logs(story) == []
    pair.wait(2)
    assert pair.logs(story) == ["Deposited", "Deposited"]


def test_threat_54_a_channel_that_is_followed_again_is_denied_until_all_agree_on_it(pair: Pair, story: Story) -> None:
    """As where its client has failed: what was told before may not have been taken in."""
    assert pair.look_all().differences == {pair.id: ViewsDiffer()}
    pair.follow(story)
    pair.endpoints[1].answer = down
    pair.try_to_look(pair.views.viewers[0])
    assert pair.take_in().differences == {pair.id: ViewsDiffer(is_denied=True)}
    pair.endpoints[1].be_honest()
    assert pair.look_all().differences == {pair.id: ViewsDiffer()}


def test_threat_54_silence_counts_only_while_an_endpoint_is_asked(pair: Pair, story: Story) -> None:
    pair.look_all()
    pair.endpoints[1].answer = down
    for _ in range(40):
        pair.time += 1
        pair.try_to_look(pair.views.viewers[0])
        assert pair.take_in().errors == []
    story.play_until(4)
    pair.wait(29)
    assert pair.logs(story) == []
    pair.wait(2)
    assert pair.logs(story) == ["Deposited", "Deposited"]


def test_threat_46_that_one_is_left_out_is_told_once_and_again_when_it_was_back(pair: Pair, story: Story) -> None:
    pair.look_all()
    for _ in range(2):
        pair.endpoints[1].answer = down
        assert pair.wait(29) == []
        assert [type(each) for each in pair.wait(90)] == [EndpointLeftOut]
        pair.endpoints[1].be_honest()
        pair.look_all()


def test_threat_54_what_a_silent_one_has_shown_is_defended_against(pair: Pair, story: Story) -> None:
    pair.play_to(6)
    pair.endpoints[0].stay_at(story.chain.block_number(), forks=True)
    challenge(story)
    pair.look_all()
    pair.endpoints[1].answer = down
    pair.wait(31)
    assert [each.status for each in differing(pair).clocks] == [pair.status]


def test_nothing_is_told_while_nobody_answers(pair: Pair, story: Story) -> None:
    pair.look_all()
    for each in pair.endpoints:
        each.answer = down
    story.play_until(4)
    pair.wait(93)
    assert pair.logs(story) == []


@pytest.mark.parametrize("method", ["eth_getBlockByNumber", "eth_call", "eth_getLogs"])
@pytest.mark.parametrize("nonsense", [None, {}, "0x", b"", 17, [None], {"number": {}}])
def test_threat_43_nonsense_is_no_view(pair: Pair, story: Story, method: str, nonsense: object) -> None:
    pair.endpoints[1].replace(method, lambda _: nonsense)
    story.play_until(4)
    pair.wait(32)
    assert pair.logs(story) == ["Deposited", "Deposited"]


@pytest.mark.parametrize("off", [-901, -899, 0, 899, 901])
def test_threat_54_a_time_far_from_our_own_is_told_once(playground: Playground, off: int) -> None:
    chain = MemoryChain(Reader(playground).endpoint)
    adjudicator = Adjudicator(chain, playground.book.adjudicator)
    views = EndpointQuorum([adjudicator], 1, lambda: 0.0, own_time=lambda: float(chain.next_time() + off))
    errors = []
    for _ in range(3):
        wait_for(views.viewers[0].look())
        errors += views.take_in().errors
    assert [type(each) for each in errors] == [TimeInDoubt] * (abs(off) > 900)


def test_one_that_knows_no_beginning_reads_it_before_it_is_the_source(pair: Pair, story: Story) -> None:
    """After a restart one endpoint has read only what is new, the other one all."""
    pair.play_to(6)
    views, reached = pair.views, pair.views.cursor
    assert reached is not None
    challenge(story)
    pair.look_all()
    pair.endpoints[0].answer = down
    pair.wait(31)
    assert pair.logs(story)[-1] == "ChallengeRegistered"
    assert views.viewers[1].views[pair.id].checkpoint is None


def looking(views: EndpointQuorum) -> Callable[[], QuorumUpdate]:
    def look() -> QuorumUpdate:
        for each in views.viewers:
            wait_for(each.look())
        return views.take_in()

    return look


@pytest.mark.parametrize("agrees", [False, True])
def test_threat_32_contracts_are_genuine_where_all_say_so(playground: Playground, story: Story, agrees: bool) -> None:
    reader = Reader(playground, endpoints=2)
    asked = list[str]()

    def is_genuine(adjudicator: Adjudicator) -> Steps[bool]:
        yield from ()
        asked.append(adjudicator.chain.endpoint)
        return agrees or adjudicator.chain.endpoint == "memory 0"

    following = FollowRequest(story.agreement, None, 0, True, contracts="these", is_genuine=is_genuine)
    reader.views.follow(following)
    told = looking(reader.views)()
    assert told.genuine == ({following.id} if agrees else set())
    assert asked == ["memory 0", "memory 1"]


def test_a_shorter_chain_is_believed_when_it_stays(pair: Pair, story: Story) -> None:
    before = story.chain.block_number()
    pair.play_to(4)
    story.reorganise(before)
    for _ in range(2):
        with pytest.raises(BehindItself):
            pair.look_all()
    pair.look_all()
    assert pair.channel(story).held(bytes(20)) == 0


def test_a_turn_that_has_given_its_owner_much_to_do_may_take_long(
    pair: Pair, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a slow machine with thousands of channels begins anew at each turn, and does nothing else."""
    monkeypatch.setattr(turns, "_FOR_EACH", 10.0)
    pair.play_to(6)
    challenge(story)
    pair.look_all()
    pair.views.follow(FollowRequest(story.agreement, None, story.first_block, is_new=False))
    pair.views.take_in()
    for is_busy in (True, False):
        pair.time += 12
        pair.views.take_in()
        assert {each.has_answered for each in pair.views.viewers} == {is_busy}
