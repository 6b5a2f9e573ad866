"""One reader for all channels: what it tells of each, what it asks of endpoints, and what endpoints cannot make it
believe. Rows 22, 43 and 49 of the list of attacks, and holes 2, 10 and 20 of the former client."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from forcemove import Adjudicator, Channel, PassingError
from forcemove.chain.errors import EndpointFailed, NotAnEthereumEndpoint, Unreachable
from forcemove.chain.worker import wait_for
from forcemove.follower.endpoint_quorum import EndpointQuorum, QuorumUpdate
from forcemove.follower.endpoint_viewer import EndpointViewer
from forcemove.follower.errors import BehindItself, LogsLeftOut
from forcemove.follower.follow_request import FollowRequest
from forcemove.protocol.errors import ChannelIdUsed
from forcemove.protocol.machine.inputs import ChainUpdate, HoldingsSeen, LogSeen
from forcemove.protocol.machine.machine import step
from forcemove.protocol.types import destination_address
from forcemove_games.tic_tac_toe import GAME
from tests.sampled import with_sample
from tests.scenarios.story import DEPOSIT, KEYS, Playground, Story
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint


class Reader:
    """A follower behind one endpoint, or several, of the playground's node, and channels made of its news alone."""

    def __init__(self, playground: Playground, endpoints: int = 1, confirmations: int = 1) -> None:
        chain = playground.chain
        assert isinstance(chain, MemoryChain)
        self.node = chain.node
        self.endpoints = [Endpoint(self.node, f"memory {number}") for number in range(endpoints)]
        address = playground.book.adjudicator
        self.time = 0.0
        adjudicators = [Adjudicator(MemoryChain(endpoint), address) for endpoint in self.endpoints]
        self.views = EndpointQuorum(adjudicators, confirmations, lambda: self.time, own_time=None)
        self.channels: dict[bytes, Channel] = {}
        self.reads: dict[bytes, list[ChainUpdate]] = {}

    @property
    def endpoint(self) -> Endpoint:
        return self.endpoints[0]

    def follow(self, story: Story) -> None:
        agreement = story.agreement
        self.views.follow(
            FollowRequest(agreement, destination_address(agreement.destinations[0]), story.first_block, is_new=True)
        )
        self.channels[agreement.channel_id] = Channel(agreement, 0, genuine=True)
        self.reads[agreement.channel_id] = []

    def play_until(self, story: Story, turn: int) -> None:
        """And read it."""
        story.play_until(turn)
        self.look()

    def look(self, *uncertain: Story) -> QuorumUpdate:
        """Through every endpoint. Raises what the first one that has failed raises, when the others were asked."""
        self.views.uncertain = {story.agreement.channel_id for story in uncertain}
        failures = [self.try_to_look(viewer) for viewer in self.views.viewers]
        told = self.take_in()
        for failure in filter(None, failures):
            raise failure
        return told

    def look_anyway(self) -> None:
        """As a node does: it goes on when an endpoint fails."""
        try:
            self.look()
        except PassingError:
            return

    def wait(self, seconds: int) -> list[Exception]:
        """Look each second for so long, whatever fails; returns what was told to be wrong with endpoints."""
        errors = list[Exception]()
        for _ in range(seconds):
            self.time += 1
            for viewer in self.views.viewers:
                self.try_to_look(viewer)
            errors += self.take_in().errors
        return errors

    def try_to_look(self, viewer: EndpointViewer) -> PassingError | None:
        """Through this endpoint. Returns what has failed."""
        try:
            wait_for(viewer.look())
        except PassingError as error:
            return error
        return None

    def take_in(self) -> QuorumUpdate:
        """What all of them have shown."""
        told = self.views.take_in()
        for id_, read in told.updates.items():
            self.reads[id_].append(read)
            self.channels[id_] = step(self.channels[id_], read, self.views.time, KEYS[0], GAME)[0]
        return told

    def logs(self, story: Story) -> list[str]:
        """What was told of the channel, since it was told anew."""
        told: list[str] = []
        for read in self.reads[story.agreement.channel_id]:
            told = ([] if read.from_scratch else told) + [
                type(each.log).__name__ for each in read.changes if isinstance(each, LogSeen)
            ]
        return told

    def channel(self, story: Story) -> Channel:
        return self.channels[story.agreement.channel_id]

    def counted(self, action: Callable[[], object]) -> dict[str, int]:
        """What the endpoint was asked meanwhile."""
        self.endpoint.counts.clear()
        action()
        return dict(self.endpoint.counts)


@pytest.fixture
def playground() -> Playground:
    """Each test its own: some undo blocks."""
    return Playground.on(MemoryChain())


@pytest.fixture
def reader(playground: Playground, story: Story) -> Reader:
    made = Reader(playground)
    made.follow(story)
    return made


def dispute(story: Story) -> None:
    """A stale challenge, which Bob's client answers."""
    story.play_until(6)
    opening = story.opening()
    story.challenge(0, *opening[2:4])
    for _ in range(2):
        story.bob.client.poll()


def test_a_channels_whole_life_is_told_in_order(reader: Reader, story: Story) -> None:
    dispute(story)
    reader.look()
    story.go_on()
    reader.look()
    assert reader.logs(story) == ["Deposited", "Deposited", "ChallengeRegistered", "Checkpointed", "Closed"]
    assert [read.from_scratch for read in reader.reads[story.agreement.channel_id]] == [True, False]
    assert reader.channel(story).record.closed


def test_the_news_lead_to_what_a_client_knows(reader: Reader, story: Story) -> None:
    dispute(story)
    reader.look()
    ours, theirs = reader.channel(story), story.bob.client.channel
    assert (ours.record, ours.holdings) == (theirs.record, theirs.holdings)


def test_nothing_new_is_no_news(reader: Reader, story: Story) -> None:
    reader.play_until(story, 4)
    assert reader.look().updates == {}
    story.mine()
    assert reader.look().updates == {}


@pytest.mark.parametrize("count", [1, 30])
def test_a_block_costs_four_requests_whatever_the_number_of_channels(playground: Playground, count: int) -> None:
    reader, stories = Reader(playground), [playground.story(GAME) for _ in range(count)]
    for each in stories:
        each.play_until(4)
        reader.follow(each)
    reader.look()
    for _ in range(3):
        stories[0].mine()
        asked = reader.counted(reader.look)
        assert asked == {"eth_getBlockByNumber": 2, "eth_getLogs": 1, "eth_call": 1}
    assert sum(reader.counted(reader.look).values()) == 2


def test_a_channel_that_is_followed_later_is_told_from_its_beginning(playground: Playground, story: Story) -> None:
    reader, other = Reader(playground), playground.story(GAME)
    reader.follow(other)
    reader.look()
    dispute(story)
    reader.look()
    reader.follow(story)
    reader.look()
    assert reader.logs(story)[-1] == "Checkpointed"
    assert reader.reads[other.agreement.channel_id] == [ChainUpdate((HoldingsSeen(bytes(20), 0),), from_scratch=True)]


def test_a_channel_that_is_let_go_is_told_no_more(reader: Reader, story: Story) -> None:
    reader.look()
    reader.views.unfollow(story.agreement.channel_id)
    dispute(story)
    assert reader.look().updates == {}


def test_only_what_is_deep_enough_is_told(playground: Playground, story: Story) -> None:
    reader = Reader(playground, confirmations=3)
    reader.follow(story)
    reader.play_until(story, 4)
    assert reader.logs(story) == []
    story.mine(2)
    reader.look()
    assert reader.logs(story) == ["Deposited", "Deposited"]


def test_a_block_that_was_read_is_not_asked_for_again(playground: Playground, story: Story) -> None:
    reader = Reader(playground, confirmations=3)
    reader.follow(story)
    story.mine(3)
    reader.look()
    assert reader.counted(reader.look) == {"eth_getBlockByNumber": 2}


def test_what_is_uncertain_is_read_without_a_log(reader: Reader, story: Story) -> None:
    """A deposit whose log is left out: the adjudicator says what it holds."""
    reader.look()
    reader.endpoint.replace("eth_getLogs", lambda _: [])
    story.play_until(4)
    reader.look(story)
    assert reader.channel(story).held(bytes(20)) == 2 * DEPOSIT


# --------------------------------------------------------------------------------------------- what endpoints leave out


def test_threat_43_a_log_that_is_left_out_is_found_out_and_not_believed(reader: Reader, story: Story) -> None:
    """One empty answer used to be believed forever: a stale challenge went unanswered."""
    reader.play_until(story, 6)
    reader.endpoint.replace("eth_getLogs", lambda _: [])
    story.challenge(0, *story.opening()[2:4])
    id_, look = story.agreement.channel_id, reader.look()
    assert look.channel_errors == {id_: LogsLeftOut("memory 0", id_, story.chain.block_number())}
    assert look.updates == {}
    reader.endpoint.be_honest()
    assert reader.look().channel_errors == {}
    assert reader.logs(story)[-1] == "ChallengeRegistered"


def test_threat_43_an_endpoint_that_is_asked_again_tells(reader: Reader, story: Story) -> None:
    """It had left it out once: the same look finds it."""
    reader.play_until(story, 6)
    story.challenge(0, *story.opening()[2:4])
    left_out = [True]
    reader.endpoint.replace("eth_getLogs", lambda logs: [] if left_out and left_out.pop() else logs)
    assert reader.look().channel_errors == {}
    assert reader.logs(story)[-1] == "ChallengeRegistered"


@pytest.mark.parametrize("name", ["Responded", "Checkpointed", "Closed"])
def test_threat_43_each_kind_of_log_is_missed(playground: Playground, story: Story, name: str) -> None:
    other = Reader(playground)
    other.follow(story)
    story.play_until(6)
    if name == "Responded":
        story.challenge(
            0, *[story.alice.client.channel.signed_states[-2], story.alice.client.channel.signed_states[-1]]
        )
        other.look()
        mover = story.players[story.alice.client.channel.next_turn % 2]
        mover.client.poll()
        mover.decide_at_last()
        mover.client.poll()
    elif name == "Checkpointed":
        story.challenge(0, *story.opening()[2:4])
        other.look()
        story.bob.client.poll()
    else:
        other.look()
        story.go_on()
    other.endpoint.replace("eth_getLogs", lambda _: [])
    concerned = (story,) if name == "Closed" else ()
    assert other.look(*concerned).channel_errors.keys() == {story.agreement.channel_id}
    other.endpoint.be_honest()
    assert other.look(*concerned).channel_errors == {}
    assert other.logs(story)[-1] == name


@pytest.mark.parametrize(
    ("method", "answer"),
    [
        ("eth_getBlockByNumber", None),
        ("eth_getBlockByNumber", {}),
        ("eth_getBlockByNumber", "0x"),
        ("eth_getBlockByNumber", {"number": "x", "hash": "0x00", "parentHash": 1, "timestamp": None}),
        ("eth_getLogs", None),
        ("eth_getLogs", "no"),
        ("eth_getLogs", [{}]),
        ("eth_getLogs", [17]),
        ("eth_call", b""),
        ("eth_call", b"\xff" * 64),
        ("eth_call", None),
    ],
)
def test_threat_43_nonsense_is_a_passing_error_and_nothing_is_lost(
    reader: Reader, story: Story, method: str, answer: object
) -> None:
    reader.look()
    story.play_until(6)
    story.challenge(0, *story.opening()[2:4])
    reader.endpoint.replace(method, lambda _: answer)
    for _ in range(2):
        with pytest.raises(PassingError):
            reader.look()
    reader.endpoint.be_honest()
    reader.look()
    assert reader.logs(story) == ["Deposited", "Deposited", "ChallengeRegistered"]


@pytest.mark.parametrize("seed", with_sample(range(20), range(6)))
def test_threat_43_whatever_fails_at_whatever_request_the_news_come_whole(
    playground: Playground, story: Story, seed: int
) -> None:
    random, reader = Random(seed), Reader(playground, endpoints=2)
    reader.follow(story)
    for endpoint in reader.endpoints:

        def answer(method: str, *params: Any) -> Any:
            if random.random() < 0.25:
                raise random.choice((Unreachable("memory", "down"), EndpointFailed(method, "limit exceeded")))
            found = reader.node.ask(method, *params)
            return [] if method == "eth_getLogs" and random.random() < 0.3 else found

        endpoint.answer = answer
    dispute(story)
    for _ in range(60):
        reader.look_anyway()
        story.mine()
    for endpoint in reader.endpoints:
        endpoint.be_honest()
    reader.look()
    reader.look()
    ours, theirs = reader.channel(story), story.bob.client.channel
    assert (ours.record, ours.holdings) == (theirs.record, theirs.holdings)


# ----------------------------------------------------------------------------------------------------- reorganisations


def test_threat_49_a_deposit_that_a_reorganisation_takes_is_told(reader: Reader, story: Story) -> None:
    before = story.chain.block_number()
    reader.play_until(story, 4)
    assert reader.channel(story).is_funded
    read_up_to = story.chain.block_number()
    story.reorganise(before, mined=read_up_to + 1 - before)
    reader.look()
    assert reader.channel(story).held(bytes(20)) == 0
    assert reader.logs(story) == []


@pytest.mark.parametrize("back", [0, 1, 2])
def test_threat_22_what_is_behind_a_fork_is_kept_and_what_is_after_it_told_anew(
    reader: Reader, story: Story, back: int
) -> None:
    story.play_until(6)
    heights = [story.chain.block_number()]
    reader.look()
    for _ in range(2):
        story.mine()
        heights.append(story.chain.block_number())
        reader.look()
    story.challenge(0, *story.opening()[2:4])
    reader.look()
    assert reader.logs(story)[-1] == "ChallengeRegistered"
    read_up_to = story.chain.block_number()
    story.reorganise(heights[-1 - back], mined=read_up_to + 1 - heights[-1 - back])
    reader.look()
    assert reader.logs(story) == ["Deposited", "Deposited"]
    assert reader.channel(story).record.status.is_empty


def test_threat_22_a_fork_before_all_that_is_remembered_is_read_from_the_beginning(
    reader: Reader, story: Story
) -> None:
    before = story.chain.block_number()
    reader.play_until(story, 4)
    story.reorganise(before - 1, mined=30)
    reader.look()
    assert reader.logs(story) == []


def test_threat_43_a_lagging_endpoint_is_not_taken_for_a_reorganisation(playground: Playground, story: Story) -> None:
    reader = Reader(playground, endpoints=2)
    reader.follow(story)
    before = story.chain.block_number()
    reader.play_until(story, 4)

    def late(method: str, *params: Any) -> Any:
        if method == "eth_getBlockByNumber" and params[0] in ("latest", "pending"):
            return reader.node.ask(method, hex(before), False)
        if method == "eth_getBlockByNumber" and int(params[0], 16) > before:
            return None
        return reader.node.ask(method, *params)

    reader.endpoints[0].answer = late
    for _ in range(2):
        with pytest.raises(BehindItself):
            reader.look()
    look = reader.look()  # by now it is a shorter chain to this endpoint, and not to the other one
    assert look.updates == {}
    assert reader.channel(story).is_funded


def test_a_shorter_chain_that_stays_is_believed(reader: Reader, story: Story) -> None:
    before = story.chain.block_number()
    reader.play_until(story, 4)
    story.reorganise(before)
    for _ in range(2):
        with pytest.raises(BehindItself):
            reader.look()
    reader.look()
    assert not reader.channel(story).is_funded


# ----------------------------------------------------------------------------------------------------------- other ids


def test_threat_42_an_id_that_has_paid_out_is_told_as_wrong(playground: Playground, story: Story) -> None:
    story.play()
    story.mine()
    reader = Reader(playground)
    id_ = story.agreement.channel_id
    reader.views.follow(FollowRequest(story.agreement, None, story.chain.block_number(), is_new=True))
    look = reader.look()
    assert look.channel_errors == {id_: ChannelIdUsed(id_)}
    assert look.updates == {}


def test_logs_of_strangers_and_of_credits_are_nobodys_news(
    reader: Reader, story: Story, playground: Playground
) -> None:
    reader.look()
    dispute(playground.story(GAME))
    assert reader.look().updates == {}


def test_a_range_is_read_in_parts(playground: Playground, story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forcemove.follower.log_reader._MOST_BLOCKS", 2)
    reader = Reader(playground)
    reader.follow(story)
    dispute(story)
    asked = reader.counted(reader.look)
    assert asked["eth_getLogs"] > 2
    assert reader.logs(story)[-1] == "Checkpointed"


def test_an_endpoint_that_answers_with_html_is_named(reader: Reader) -> None:
    reader.endpoint.replace("eth_getBlockByNumber", lambda _: {"number": "<html>"})
    with pytest.raises(NotAnEthereumEndpoint) as raised:
        reader.look()
    assert raised.value.endpoint == "memory 0"
