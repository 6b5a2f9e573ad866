"""Two of three players bring a state to the chain past the third, who was sent neither it nor the one before: only the
last one is logged. The third moves on alone, with what is in it. On real chains, with the adjudicator."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forcemove import ChallengeWanted, Phase, address_destination
from forcemove.chain.adjudicator import Operation
from forcemove.chain.local import AnvilChain, EmbeddedChain
from forcemove.protocol.types import ETHER
from tests.games.three.deal_app import DEALT, KEYED, PLAYERS, SHUFFLED
from tests.games.three.trio import DEPOSIT, KEYS, OPENED, DealTable, Participant, Trio

LAST = OPENED + DEALT
TURNS = range(OPENED + 2, LAST + 1)
"""The turns of states that can be brought to the chain past who moves next: it has made the move two turns before."""


@pytest.fixture(scope="module")
def eth_tester_table() -> DealTable:
    return DealTable.on(EmbeddedChain())


@pytest.fixture(scope="module")
def anvil_table(anvil: AnvilChain) -> DealTable:
    return DealTable.on(anvil)


@pytest.fixture
def table(request: pytest.FixtureRequest) -> DealTable:
    found: DealTable = request.getfixturevalue(f"{request.param.replace('-', '_')}_table")
    return found


def on(*places: str, always: tuple[int, ...]) -> pytest.MarkDecorator:
    """At every turn on each of these chains: at these in the normal run, at all in the long one."""
    cases = [
        pytest.param(place, turn, marks=[] if turn in always and place == places[0] else pytest.mark.long)
        for place in places
        for turn in TURNS
    ]
    return pytest.mark.parametrize(("table", "turn_num"), cases, indirect=["table"])


SHUFFLE_AND_DEAL = OPENED + SHUFFLED + 1
"""The turn of the first deal: the largest of the two moves that are hidden."""
SAMPLE = (OPENED + KEYED, SHUFFLE_AND_DEAL, LAST)


class Hidden:
    """A channel whose state of turn `turn_num`, and the one before, were kept from the third player, `third`: it knows
    nothing after its own last move."""

    def __init__(self, table: DealTable, turn_num: int, cheat: Callable[[Trio], None] = lambda _: None) -> None:
        self.trio, self.turn_num = table.trio(), turn_num
        trio = self.trio
        trio.play_to(turn_num - 2)
        cheat(trio)
        self.third: Participant = trio.participants[(turn_num + 1) % PLAYERS]
        self.two = tuple(trio.others(self.third))
        self.third.line.is_cut = True
        trio.play_to(turn_num, *self.two)
        trio.play(self.third)
        assert self.third.turn_num == turn_num - 2

    def bring(self, *, with_clock: bool) -> None:
        """One of the two records the newest state, by a challenge or a checkpoint."""
        trio, one = self.trio, self.two[0]
        operate: Callable[..., Operation] = trio.adjudicator.challenge if with_clock else trio.adjudicator.checkpoint
        trio.adjudicator.send(operate(trio.agreement.fixed_part, trio.proof(one)), KEYS[one.seat])

    def require_paid_back(self) -> None:
        """The channel has paid everybody its deposit, as the third knows."""
        assert self.third.phase is Phase.CLOSED
        outcome = self.third.newest.state.outcome
        assert [entry.amount for entry in outcome] == [DEPOSIT] * PLAYERS
        assert [entry.destination for entry in outcome] == [address_destination(key.address) for key in KEYS]


@on("eth-tester", "anvil", always=SAMPLE)
def test_two_checkpoint_past_the_third_which_moves_on_alone(table: DealTable, turn_num: int) -> None:
    """The other two are silent from then on: it has the chain end the channel at its own move."""
    hidden = Hidden(table, turn_num)
    third, trio = hidden.third, hidden.trio
    hidden.bring(with_clock=False)
    third.stops_at = LAST + 1
    trio.play(third)
    assert third.questions[-1].between == (), "the state before is not logged"
    assert third.turn_num == turn_num + 1
    assert set(third.newest.signatures) == {third.seat}
    third.process.feed(ChallengeWanted())
    trio.play(third)
    status = trio.adjudicator.status_of(trio.agreement.channel_id, ETHER)
    assert status.turn_num_record == turn_num + 1
    trio.chain.travel_to(status.finalizes_at)
    trio.play(third)
    hidden.require_paid_back()


@on("anvil", "eth-tester", always=(SHUFFLE_AND_DEAL,))
def test_two_challenge_past_the_third_which_answers_alone(table: DealTable, turn_num: int) -> None:
    hidden = Hidden(table, turn_num)
    third, trio = hidden.third, hidden.trio
    hidden.bring(with_clock=True)
    assert trio.adjudicator.status_of(trio.agreement.channel_id, ETHER).finalizes_at
    third.stops_at = LAST + 1
    trio.play(third)
    status = trio.adjudicator.status_of(trio.agreement.channel_id, ETHER)
    assert (status.turn_num_record, status.finalizes_at) == (turn_num + 1, 0)


@on("eth-tester", always=(SHUFFLE_AND_DEAL,))
def test_after_a_hidden_state_all_three_play_on_to_the_end(table: DealTable, turn_num: int) -> None:
    """A new process of the third, which has read the chain and has nothing but its journal, makes the move."""
    hidden = Hidden(table, turn_num)
    third, trio = hidden.third, hidden.trio
    third.stops_at = turn_num
    hidden.bring(with_clock=False)
    trio.play(third)
    assert third.turn_num == turn_num
    trio.start(third)
    third.line.is_cut = False
    for each in trio.participants:
        each.stops_at = LAST + 1
    trio.play()
    assert {each.phase for each in trio.participants} == {Phase.CLOSED}
    dealt = [state for state in (each.state for each in third.channel.signed_states) if state.turn_num == LAST]
    hands = [each.player.hand(dealt[0], each.channel.secrets) for each in trio.participants]
    assert len(set[int]().union(*hands)) == sum(map(len, hands)) == 9
    hidden.require_paid_back()


@pytest.mark.parametrize("table", ["eth-tester"], indirect=True)
@pytest.mark.parametrize(
    "hidden_turn",
    [
        pytest.param(OPENED + KEYED + 1, marks=pytest.mark.long),
        OPENED + KEYED + 2,
        pytest.param(OPENED + SHUFFLED, marks=pytest.mark.long),
    ],
)
def test_a_wrong_shuffle_in_a_hidden_state_is_found_by_the_third_which_leaves(
    table: DealTable, hidden_turn: int
) -> None:
    """The two have agreed on it, so that only the third looks at the proof."""

    def collude(trio: Trio) -> None:
        for each in trio.participants:
            each.player.is_colluding = each.seat != (hidden_turn + 2) % PLAYERS
        trio.participants[hidden_turn % PLAYERS].player.deals_twice = True

    hidden = Hidden(table, hidden_turn + 1, collude)
    third, trio = hidden.third, hidden.trio
    hidden.bring(with_clock=False)
    third.stops_at = LAST + 1
    trio.play(third)
    assert third.newest.state.is_final
    third.process.feed(ChallengeWanted())
    trio.play(third)
    trio.chain.travel_to(trio.adjudicator.status_of(trio.agreement.channel_id, ETHER).finalizes_at)
    trio.play(third)
    hidden.require_paid_back()
