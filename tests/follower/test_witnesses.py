"""Two endpoints of one chain that do not show the same: what only one of them shows is not signed on, but a challenge
is answered whichever shows it. Row 43 of the list of attacks."""

from __future__ import annotations

from typing import Any

import pytest

from forcemove.channel.chain.errors import Unreachable
from forcemove.channel.errors import ForcemoveError
from forcemove.channel.follower.errors import BehindAnother, EndpointsDisagree
from forcemove.channel.follower.follower import Look
from forcemove.games.tic_tac_toe import GAME
from tests.follower.test_follower import Reader
from tests.scenarios.story import Playground, Story
from tests.simulation.chain import MemoryChain


@pytest.fixture
def playground() -> Playground:
    return Playground.on(MemoryChain())


@pytest.fixture
def story(playground: Playground) -> Story:
    return playground.story(GAME)


class Pair(Reader):
    """A follower behind two endpoints, and its clock."""

    def __init__(self, playground: Playground, story: Story, confirmations: int = 1) -> None:
        super().__init__(playground, endpoints=2, confirmations=confirmations)
        self.time = 0.0
        self.follower._witnesses._clock = lambda: self.time
        self.story = story
        self.follow(story)

    @property
    def id(self) -> bytes:
        return self.story.agreement.channel_id

    def error(self, look: Look) -> ForcemoveError:
        (error,) = {**look.wrong, **look.disputed}.values()
        return error


@pytest.fixture
def pair(playground: Playground, story: Story) -> Pair:
    return Pair(playground, story)


def challenge(story: Story) -> None:
    story.play_until(6)
    story.challenge(0, *story.opening()[2:4])


def test_what_both_show_is_told_at_two_requests_more(pair: Pair, story: Story) -> None:
    story.play_until(6)
    pair.look()
    assert pair.logs(story) == ["Deposited", "Deposited"]
    for _ in range(3):
        story.mine()
        pair.endpoints[1].counts.clear()
        assert pair.look().wrong == {}
        assert pair.endpoints[1].counts == {"eth_getBlockByNumber": 1, "eth_call": 1}
    pair.endpoints[1].counts.clear()
    pair.look()
    assert pair.endpoints[1].counts == {}


# ---------------------------------------------------------------------------------------------- what only one shows


@pytest.mark.parametrize("forks", [False, True])
def test_threat_43_a_deposit_that_only_one_shows_is_not_told(pair: Pair, story: Story, forks: bool) -> None:
    """Nothing is paid in, and nothing signed, on what one endpoint may have made up."""
    pair.look(story)
    pair.endpoints[1].stay_at(story.chain.block_number(), forks=forks)
    story.play_until(4)
    look = pair.look(story)
    assert look.news == {}
    error = pair.error(look)
    assert isinstance(error, EndpointsDisagree if forks else BehindAnother)
    assert {error.endpoint, error.other} == {"memory 0", "memory 1"}
    pair.endpoints[1].be_honest()
    assert pair.look(story).wrong == {}
    assert pair.logs(story) == ["Deposited", "Deposited"]


@pytest.mark.parametrize("forks", [False, True])
def test_threat_43_a_challenge_that_only_the_first_shows_is_told(pair: Pair, story: Story, forks: bool) -> None:
    story.play_until(6)
    pair.look()
    pair.endpoints[1].stay_at(story.chain.block_number(), forks=forks)
    story.challenge(0, *story.opening()[2:4])
    look = pair.look()
    assert look.wrong == {}
    assert isinstance(pair.error(look), EndpointsDisagree if forks else BehindAnother)
    assert pair.logs(story)[-1] == "ChallengeRegistered"


def test_threat_43_a_challenge_that_the_first_hides_is_told(pair: Pair, story: Story) -> None:
    """It shows another fork, without the challenge, and everything else of it fits."""
    story.play_until(6)
    pair.look()
    pair.endpoints[0].stay_at(story.chain.block_number(), forks=True)
    story.challenge(0, *story.opening()[2:4])
    look = pair.look()
    assert look.wrong == {}
    assert isinstance(pair.error(look), EndpointsDisagree)
    assert pair.logs(story)[-1] == "ChallengeRegistered"
    assert pair.channel(story).is_funded


def test_threat_43_an_endpoint_whose_calls_lie_is_contradicted(pair: Pair, story: Story) -> None:
    """Its blocks are the right ones; what it says of the adjudicator is of the block before the challenge."""
    story.play_until(6)
    pair.look()
    before, honest = story.chain.block_number(), pair.node.ask
    story.challenge(0, *story.opening()[2:4])

    def answer(method: str, *params: Any) -> Any:
        if method == "eth_getLogs":
            return []
        return honest(method, params[0], hex(before)) if method == "eth_call" else honest(method, *params)

    pair.endpoints[0].answer = answer
    pair.look()
    assert pair.logs(story)[-1] == "ChallengeRegistered"


def test_threat_43_an_end_that_only_one_shows_is_not_told(pair: Pair, story: Story) -> None:
    """While the other shows a challenge: it is answered."""
    challenge(story)
    pair.look()
    height = story.chain.block_number()
    story.bob.client.poll()
    story.go_on()
    assert story.bob.client.channel.record.closed
    pair.endpoints[1].stay_at(height, forks=True)
    look = pair.look()
    assert not pair.channel(story).record.closed
    assert isinstance(pair.error(look), EndpointsDisagree)


# ------------------------------------------------------------------------------------------------------ what only lags


def test_threat_43_an_endpoint_that_hides_what_is_new_is_left(pair: Pair, story: Story) -> None:
    """It shows an old head and nothing else: by itself it contradicts nothing."""
    story.play_until(6)
    pair.look()
    pair.endpoints[0].stay_at(story.chain.block_number())
    story.challenge(0, *story.opening()[2:4])
    story.mine(5)
    pair.look()
    pair.time += 11
    with pytest.raises(BehindAnother):
        pair.look()
    pair.look()
    assert pair.logs(story)[-1] == "ChallengeRegistered"


def test_one_that_is_a_little_late_is_waited_for(pair: Pair, story: Story) -> None:
    pair.look(story)
    pair.endpoints[1].stay_at(story.chain.block_number())
    story.play_until(4)
    assert pair.look(story).news == {}
    pair.endpoints[1].be_honest()
    pair.look(story)
    assert pair.logs(story) == ["Deposited", "Deposited"]


def test_one_that_shows_no_new_block_for_long_is_waited_for_no_more(pair: Pair, story: Story) -> None:
    pair.look(story)
    pair.endpoints[1].stay_at(story.chain.block_number())
    story.play_until(4)
    assert pair.look(story).news == {}
    pair.time += 119
    assert pair.look(story).news == {}
    pair.time += 2
    assert pair.look(story).wrong == {}
    assert pair.logs(story) == ["Deposited", "Deposited"]


def test_threat_46_one_that_does_not_answer_is_not_waited_for(pair: Pair, story: Story) -> None:
    """And not asked at every block: each of its answers may take ten seconds to fail."""

    def down(method: str, *_: Any) -> Any:
        raise Unreachable("memory 1", "down")

    pair.endpoints[1].answer = down
    story.play_until(4)
    for _ in range(3):
        assert pair.look(story).wrong == {}
        story.mine()
    assert pair.logs(story) == ["Deposited", "Deposited"]
    assert pair.endpoints[1].counts.total() == 2  # one was its chain's id
    pair.time += 31
    pair.look(story)
    assert pair.endpoints[1].counts.total() == 3


def test_threat_46_one_that_has_failed_is_not_asked_what_it_thinks_of_the_next(pair: Pair, story: Story) -> None:
    def down(method: str, *_: Any) -> Any:
        raise Unreachable("memory 0", "down")

    pair.look()
    pair.endpoints[0].answer = down
    story.play_until(4)
    with pytest.raises(Unreachable):
        pair.look(story)
    pair.endpoints[0].counts.clear()
    assert pair.look(story).wrong == {}
    assert pair.endpoints[0].counts.total() == 0
    assert pair.logs(story) == ["Deposited", "Deposited"]


@pytest.mark.parametrize("method", ["eth_getBlockByNumber", "eth_call"])
@pytest.mark.parametrize("nonsense", [None, {}, "0x", b"", 17])
def test_threat_43_nonsense_is_no_opinion(pair: Pair, story: Story, method: str, nonsense: object) -> None:
    pair.endpoints[1].replace(method, lambda _: nonsense)
    story.play_until(4)
    assert pair.look(story).wrong == {}
    assert pair.logs(story) == ["Deposited", "Deposited"]
