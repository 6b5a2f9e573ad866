"""An honest endpoint that takes long for a request, or refuses some: what it does show is seen in time. Hole 42."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from forcemove import ETHER, VariablePart
from forcemove.chain import codec
from forcemove.chain.errors import EndpointFailed
from forcemove.follower.follow_request import FollowRequest
from forcemove_games.tic_tac_toe import GAME
from tests.follower.test_endpoint_quorum import Pair, challenge
from tests.follower.test_follower import Reader
from tests.sampled import with_sample
from tests.scenarios.story import DEPOSIT, Playground, Story
from tests.simulation.chain import MemoryChain

CREDIT_OF = "0x" + codec.function("creditOf").selector.hex()


@pytest.fixture
def playground() -> Playground:
    return Playground.on(MemoryChain())


class SlowReader(Reader):
    """Whose endpoint takes this many seconds for each request, on a clock that it moves itself. Everybody has a credit
    of 7 wei there."""

    def __init__(self, playground: Playground, seconds: float) -> None:
        super().__init__(playground)

        def answer(method: str, *params: Any) -> Any:
            self.time += seconds
            if method == "eth_call" and params[0]["data"].startswith(CREDIT_OF):
                return bytes(31) + b"\x07"
            return self.node.ask(method, *params)

        self.endpoint.answer = answer

    def look_until(self, is_so: Callable[[], bool], most: int = 100) -> None:
        """Look at most this many times."""
        for _ in range(most):
            if is_so():
                return
            self.look()
        assert is_so()

    def follow_paid_at(self, story: Story, payee: bytes) -> None:
        """As a house with an account for each table."""
        self.follow(story)
        self.views.unfollow(story.agreement.channel_id)
        self.views.follow(FollowRequest(story.agreement, payee, story.first_block, is_new=True))


def fund(story: Story) -> None:
    for seat in (0, 1):
        held = story.held
        story.send(seat, story.adjudicator.deposit(story.agreement.channel_id, ETHER, held, DEPOSIT))


def conclude(story: Story) -> None:
    state = story.agreement.setup_state(3)
    last = story.sign(VariablePart(state.outcome, b"", state.turn_num, is_final=True), 0, 1)
    signatures = [last.signatures[seat] for seat in (0, 1)]
    story.send(0, story.adjudicator.conclude(story.agreement.fixed_part, state.outcome, state.turn_num, signatures))


@pytest.mark.parametrize(("count", "seconds"), with_sample([(12, 1.5), (200, 0.1)], [(12, 1.5)]))
def test_many_channels_that_end_between_two_looks_blind_nobody(
    playground: Playground, count: int, seconds: float
) -> None:
    """The clock shows in the next look, and nothing was asked about each of the others before it."""
    reader, stories = SlowReader(playground, seconds), [playground.story(GAME) for _ in range(count + 1)]
    for each in stories:
        reader.follow_paid_at(each, bytes((len(reader.channels) % 256,)) * 20)
        fund(each)
    reader.look_until(lambda: all(reader.channel(each).held(ETHER) for each in stories))
    *ended, challenged = stories
    for each in ended:
        conclude(each)
    challenge(challenged)
    reader.look()
    (differ,) = [reader.views._channels[challenged.agreement.channel_id].differences]
    assert differ is not None
    shown = [*(each.status for each in differ.clocks), reader.channel(challenged).record.status]
    assert challenged.finalizes_at in [each.finalizes_at for each in shown]
    reader.look_until(lambda: reader.logs(challenged)[-1:] == ["ChallengeRegistered"], most=4)
    reader.look_until(lambda: all(reader.channel(each).record.closed for each in ended), most=4)
    reader.look_until(lambda: all(reader.channel(each).credits == ((ETHER, 7),) for each in ended))


def test_a_payee_is_asked_about_once_however_many_channels_pay_it(playground: Playground) -> None:
    reader, stories = SlowReader(playground, 0.1), [playground.story(GAME) for _ in range(12)]
    for each in stories:
        reader.follow(each)
        fund(each)
    reader.look()
    for each in stories:
        conclude(each)
    asked = reader.counted(reader.look)
    assert [reader.channel(each).record.closed for each in stories] == [True] * 12
    assert asked == {"eth_getBlockByNumber": 3, "eth_call": 3, "eth_getLogs": 1}


def refusing(reader: Reader, is_refused: Callable[[str], bool]) -> None:
    def answer(method: str, *params: Any) -> Any:
        if method == "eth_call" and is_refused(params[0]["data"]):
            raise EndpointFailed(method, "out of capacity")
        return reader.node.ask(method, *params)

    reader.endpoint.answer = answer


def test_a_clock_is_seen_whatever_question_fails_after_its_log(playground: Playground) -> None:
    """Nothing else is believed of what could not be checked, and the next look goes on from there."""
    story = playground.story(GAME)
    pair = Pair(playground, story)
    pair.play_to(6)
    reached = pair.views.cursor
    refusing(pair, lambda _: True)
    challenge(story)
    pair.look_anyway()
    viewer = pair.views.viewers[0]
    assert viewer.views[pair.id].shows_clock(viewer.time)
    assert (pair.logs(story), pair.views.cursor) == (["Deposited", "Deposited"], reached)
    pair.endpoint.be_honest()
    pair.look_all()
    assert pair.logs(story)[-1] == "ChallengeRegistered"


def test_what_failed_for_one_look_is_the_endpoints_silence(playground: Playground) -> None:
    """It is left out like one that answers nothing."""
    reader, story = Reader(playground), playground.story(GAME)
    reader.follow(story)
    reader.look()
    refusing(reader, lambda _: True)
    story.mine()
    reader.wait(32)
    assert reader.views.viewers[0].health().silent == 31  # since it was asked in vain
