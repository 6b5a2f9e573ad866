"""A tower answers for an absent participant with what it was given, in time, once, and for its client's budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forcemove import InvalidValue, MalformedBytes, RuleError, SignedState, Tower, TowerSettings
from forcemove.chain.errors import TransactionReverted, Unreachable
from forcemove.protocol.machine.effects import SubmitCheckpoint
from forcemove.sender.transactions import PendingTx
from forcemove.store.records import AppointmentRecord
from forcemove.watchtower.appointment import Appointment
from forcemove.watchtower.errors import BudgetExhausted, ChannelOver, NotWatched, StandingBy
from forcemove.workers.outbox import JournalledTxStore
from forcemove_games.tic_tac_toe import GAME
from tests.scenarios.story import ALICE, BOB, DURATION, Playground, Story
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint
from tests.watchtower.keeper import ETHER, OTHER_TOWER, SETTINGS, Keeper, finished, newest, stale

Make = Callable[..., Keeper]


@pytest.fixture
def playground() -> Playground:
    return Playground.on(MemoryChain())


@pytest.fixture
def make(story: Story, tmp_path: Path) -> Iterator[Make]:
    made: list[Keeper] = []

    def keeper(**options: Any) -> Keeper:
        made.append(Keeper.of(story, tmp_path, **options))
        return made[-1]

    yield keeper
    for each in made:
        each.close()


def test_threat_22_a_stale_challenge_is_answered_for_who_is_away(story: Story, make: Make) -> None:
    keeper = make()
    keeper.give_newest(story)
    keeper.rest()
    assert keeper.sent == 0
    keeper.face_stale_challenge(story)
    assert story.record == (6, False)
    assert keeper.answers == ["SubmitCheckpoint"]
    assert keeper.troubles == []


def test_what_is_given_after_the_challenge_answers_it_too(story: Story, make: Make) -> None:
    keeper = make()
    keeper.face_stale_challenge(story)
    keeper.give_newest(story)
    keeper.rest()
    assert story.record == (6, False)


def test_given_the_next_state_it_responds(story: Story, make: Make) -> None:
    keeper = make()
    keeper.give_newest(story)
    story.challenge(1, *story.bob.states[:2])
    keeper.rest()
    assert story.record == (6, False)
    assert keeper.answers == ["SubmitRespond"]


def test_given_a_reply_to_what_may_be_recorded_it_responds(story: Story, make: Make) -> None:
    """Nobody's signature of the state of turn 5 is needed: it is on the chain."""
    keeper = make()
    five, six = story.alice.states[-2:]
    opening = tuple(stale(story))
    keeper.give(Appointment(story.agreement, story.first_block, opening, (SignedState(five.state), six)))
    story.challenge(1, *story.bob.states[:2])
    keeper.rest()
    assert story.record == (6, False)
    assert keeper.answers == ["SubmitRespond"]


def test_threat_29_a_challenge_after_the_end_is_answered_by_concluding(story: Story, make: Make) -> None:
    keeper = make()
    keeper.give(finished(story))
    keeper.face_stale_challenge(story)
    assert keeper.answers == ["SubmitConclude"]
    assert story.held == 0


def test_a_finished_channel_is_left_to_its_participants_first(story: Story, make: Make) -> None:
    keeper = make()
    keeper.give(finished(story))
    keeper.rest()
    now = story.chain.next_time()
    story.chain.travel_to(now + DURATION - 5)
    keeper.rest()
    assert keeper.sent == 0
    keeper.die()
    story.chain.travel_to(now + DURATION + 5)
    keeper.rest()
    assert keeper.answers == ["SubmitConclude"]
    assert story.held == 0


def test_when_to_conclude_is_planned_by_a_time_that_all_endpoints_have_shown(story: Story, tmp_path: Path) -> None:
    assert isinstance(story.chain, MemoryChain)
    endpoints = [Endpoint(story.chain.node, str(number)) for number in range(2)]

    def down(method: str, *_: Any) -> Any:
        raise Unreachable("1", "down")

    chains = [MemoryChain(each) for each in endpoints]
    endpoints[1].answer = down
    keeper = Keeper.of(story, tmp_path, *chains)
    with pytest.raises(NotWatched):
        keeper.give(finished(story))
    assert keeper.tower.looked_at is None
    endpoints[1].be_honest()
    keeper.rest()
    keeper.give(finished(story))
    keeper.rest()
    story.chain.travel_to(story.chain.next_time() + DURATION - 5)
    keeper.rest()
    assert keeper.sent == 0
    keeper.close()


def test_a_challenge_that_nothing_answers_costs_nothing(story: Story, make: Make) -> None:
    keeper = make()
    keeper.give_newest(story)
    story.challenge(1, *story.bob.states[-2:])
    keeper.rest()
    assert (keeper.sent, story.record) == (0, (6, True))


def test_a_head_start_is_left_to_others_and_no_more(story: Story, make: Make) -> None:
    keeper = make(settings=replace(SETTINGS, head_start=10 * DURATION))
    keeper.give_newest(story)
    story.challenge(1, *stale(story))
    story.chain.travel_to(story.finalizes_at - DURATION // 2 - 10)
    keeper.rest()
    assert keeper.sent == 0
    story.chain.travel_to(story.finalizes_at - DURATION // 2 + 10)
    keeper.rest()
    assert story.record == (6, False)


def test_each_challenge_is_answered_again_while_something_newer_is_held(story: Story, make: Make) -> None:
    keeper = make()
    keeper.give(replace_supported(newest(story), tuple(story.alice.states[:2])))
    keeper.face_stale_challenge(story)
    keeper.give_newest(story)
    story.challenge(1, *story.bob.states[:2])
    keeper.rest()
    assert story.record == (6, False)
    assert keeper.answers == ["SubmitCheckpoint", "SubmitRespond"]


def replace_supported(given: Appointment, supported: tuple[SignedState, ...]) -> Appointment:
    return Appointment(given.agreement, given.from_block, supported, given.replies)


# ------------------------------------------------------------------------------------------------ others on the channel


def test_two_towers_on_one_channel_do_not_disturb_each_other(story: Story, make: Make) -> None:
    first, second = make(), make(name="other", key=OTHER_TOWER)
    for keeper in (first, second):
        keeper.give_newest(story)
    story.challenge(1, *stale(story))
    for keeper in (first, second, first, second):
        keeper.rest()
    assert story.record == (6, False)
    assert (first.sent, second.sent) == (1, 0)
    assert second.tower.left(ALICE.address) == ETHER
    assert first.troubles == second.troubles == []


def test_what_others_have_answered_meanwhile_is_tried_on_the_node_alone(story: Story, make: Make) -> None:
    """The follower waits for confirmations, and the other's answer has none yet."""
    keeper = make(settings=replace(SETTINGS, confirmations=2))
    keeper.give_newest(story)
    story.challenge(1, *stale(story))
    story.mine()
    alices = keeper.guard.watches[story.adjudicator.address].adjudicator
    proof = story.proof(story.alice.states[-2:])
    look = keeper.guard._take_in_looks

    def answered_in_between(watch: Any) -> bool:
        found = look(watch)
        if story.record[1]:
            alices.send(alices.checkpoint(story.agreement.fixed_part, proof), ALICE)
        return found

    keeper.guard._take_in_looks = answered_in_between  # type: ignore[method-assign]
    keeper.rest()
    assert keeper.sent == 0
    assert {isinstance(each.error, RuleError) for each in keeper.told} == {True}
    assert keeper.troubles == []


def test_an_answer_that_comes_second_in_a_block_is_survived(story: Story, make: Make) -> None:
    first, second = make(), make(name="other", key=OTHER_TOWER)
    for keeper in (first, second):
        keeper.give_newest(story)
    story.challenge(1, *stale(story))
    node = story.chain.node  # type: ignore[attr-defined]
    node.is_mining = False
    first.tower.poll()
    second.tower.poll()
    assert len(node.waiting) == 2
    node.is_mining = True
    node.mine()
    for keeper in (first, second):
        keeper.rest()
    assert story.record == (6, False)
    (reverted,) = second.told
    assert isinstance(reverted.error, TransactionReverted)
    assert 0 < reverted.cost == ETHER - second.tower.left(ALICE.address)
    assert second.troubles == []
    story.challenge(1, *story.bob.states[-2:])
    second.rest()
    assert second.sent == 1


# ----------------------------------------------------------------------------------------------------------- the budget


def test_what_is_spent_is_what_receipts_say(story: Story, make: Make) -> None:
    keeper = make()
    keeper.give_newest(story)
    before = story.chain.balance(keeper.key.address)
    keeper.face_stale_challenge(story)
    cost = before - story.chain.balance(keeper.key.address)
    assert 0 < cost == ETHER - keeper.tower.left(ALICE.address)
    assert keeper.tower.left(BOB.address) == ETHER
    keeper.die()
    assert keeper.tower.left(ALICE.address) == ETHER - cost


def test_nothing_is_sent_beyond_the_budget(story: Story, make: Make) -> None:
    keeper = make(served={ALICE.address: 10**13})
    keeper.give_newest(story)
    keeper.face_stale_challenge(story)
    (error,) = keeper.troubles
    assert isinstance(error, BudgetExhausted)
    assert (error.client, error.left) == (ALICE.address, 10**13)
    assert (keeper.sent, story.record) == (0, (3, True))
    keeper.rest()
    assert len(keeper.troubles) == 1
    story.mine()
    keeper.rest()
    assert len(keeper.troubles) == 2


def test_a_price_that_was_too_high_once_keeps_no_later_answer_from_the_chain(story: Story, make: Make) -> None:
    """Or was invented by the one endpoint that answered then. While nothing is sent nobody looks at prices."""
    keeper = make()
    keeper.give_newest(story)
    node = story.chain.node  # type: ignore[attr-defined]
    story.challenge(1, *stale(story))
    usual, node.base_fee = node.base_fee, 2**60
    node.mine()
    keeper.rest()
    assert {type(each) for each in keeper.troubles} == {BudgetExhausted}
    node.base_fee = usual
    node.mine()
    keeper.rest()
    assert story.record == (6, False)


def test_a_client_whose_budget_is_gone_is_promised_nothing(story: Story, make: Make) -> None:
    keeper = make(served={ALICE.address: 0})
    with pytest.raises(BudgetExhausted):
        keeper.give_newest(story)
    assert keeper.kept == 0


def test_one_clients_budget_is_not_anothers(story: Story, make: Make) -> None:
    """Bob has handed over the same, and pays where Alice's budget is gone."""
    keeper = make(served={ALICE.address: 1, BOB.address: ETHER})
    keeper.give_newest(story, 0)
    keeper.give_newest(story, 1)
    keeper.face_stale_challenge(story)
    assert story.record == (6, False)
    assert keeper.tower.left(ALICE.address) == 1
    assert keeper.tower.left(BOB.address) < ETHER


def test_what_is_on_its_way_is_taken_for_spent(story: Story, make: Make) -> None:
    keeper = make()
    keeper.give_newest(story)
    story.challenge(1, *stale(story))
    story.chain.node.is_mining = False  # type: ignore[attr-defined]
    keeper.tower.poll()
    (pending,) = waiting(keeper)
    on_its_way = ETHER - 2 * pending.gas * pending.newest.max_fee
    assert keeper.tower.left(ALICE.address) == on_its_way
    keeper.die()
    assert keeper.tower.left(ALICE.address) == on_its_way


def crowd(playground: Playground, keeper: Keeper, *seats: int, late: int = 0) -> list[Story]:
    """Channels, each with the seat whose tower it is, that are all challenged; from now on no block takes anything.
    `late`: of this many more the tower knows nothing."""
    stories = [playground.story(GAME) for _ in range(len(seats) + late)]
    for each in stories:
        each.play_until(6)
        each.challenge(1, *stale(each))
    playground.chain.node.is_mining = False  # type: ignore[attr-defined]
    for seat, each in zip(seats, stories, strict=False):
        keeper.give_newest(each, seat)
    keeper.tower.poll()
    return stories


def waiting(keeper: Keeper) -> Sequence[PendingTx]:
    return JournalledTxStore(keeper.journal, keeper.tower._name).all()


def offered(keeper: Keeper) -> int:
    return sum(each.gas * each.newest.max_fee for each in waiting(keeper))


def test_threat_95_sixteen_channels_of_one_client_are_answered_in_one_block(playground: Playground, make: Make) -> None:
    """With the budget, and the most for one answer, that `forcemove watch` has by default."""
    keeper = make(served={ALICE.address: 10**17})
    stories = crowd(playground, keeper, *[0] * 16)
    assert ([len(each.request.asked) for each in waiting(keeper)], keeper.troubles) == ([16], [])
    assert keeper.tower.left(ALICE.address) == 10**17 - 2 * offered(keeper)
    playground.chain.node.mine()  # type: ignore[attr-defined]
    assert [each.record for each in stories] == [(6, False)] * 16


def test_a_client_is_charged_for_its_batch_what_the_chain_was_paid(playground: Playground, make: Make) -> None:
    """Also by a process that finds it mined."""
    keeper = make()
    stories = crowd(playground, keeper, 0, 0, 0, 1, 1)
    sent = waiting(keeper)
    assert [len(each.request.asked) for each in sent] == [3, 2]
    playground.chain.node.mine()  # type: ignore[attr-defined]
    assert [each.record for each in stories] == [(6, False)] * 5
    for _ in range(2):
        keeper.tower.poll()
        keeper.die()
    for client, each in zip((ALICE, BOB), sent, strict=True):
        found = playground.chain.receipt(each.newest.hash)
        assert found is not None
        cost = found[0].gas_used * found[0].gas_price
        assert keeper.tower.left(client.address) == ETHER - cost
        told = [answer.cost for answer in keeper.told if answer.client == client.address]
        assert sum(told) in (cost, 2 * cost)


def test_a_client_is_charged_for_a_batch_whose_parts_are_explained_one_after_the_other(
    playground: Playground, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bob has answered all the challenges before it; its endpoint is asked a few things at a time."""
    for name in ("_UNKNOWN", "_MOST_ASKED"):
        monkeypatch.setattr(f"forcemove.sender.lanes.{name}", 1)
    keeper, node = make(), playground.chain.node  # type: ignore[attr-defined]
    stories = crowd(playground, keeper, *[0] * 5)
    (sent,) = waiting(keeper)
    before, node.waiting, node.is_mining = node.waiting, [], True
    for each in stories:
        each.send(1, each.adjudicator.checkpoint(each.agreement.fixed_part, each.proof(each.bob.states[-2:])))
    node.waiting = before
    node.mine()

    def spent() -> int:
        return sum(each.wei for each in keeper.journal.towers.spent(keeper.tower._name))

    while len(keeper.told) < 4:
        keeper.tower.poll()
    before_end = spent()
    assert len(keeper.told) < len(stories)
    keeper.told.clear()
    keeper.die()  # the next process learns of them one after the other, too
    assert (len(keeper.told), spent()) == (2, before_end)
    while waiting(keeper):
        keeper.tower.poll()
    found = playground.chain.receipt(sent.newest.hash)
    assert found is not None
    assert spent() == ETHER - keeper.tower.left(ALICE.address) == found[0].gas_used * found[0].gas_price


def test_threat_44_a_conclusion_on_its_way_becomes_the_answer_to_a_challenge(
    playground: Playground, make: Make
) -> None:
    """No block takes it, at what it costs; an older state is challenged at a higher price."""
    keeper, node = make(), playground.chain.node  # type: ignore[attr-defined]
    story = playground.story(GAME)
    story.play_until(6)
    keeper.give(finished(story))
    node.is_mining = False
    story.chain.travel_to(story.chain.now() + 2 * DURATION)
    node.mine()
    keeper.tower.poll()
    (sent,) = waiting(keeper)
    assert sent.request.deadline is None
    conclusion, node.waiting, node.is_mining = node.waiting, [], True
    story.challenge(1, *stale(story))
    node.waiting, node.is_mining = conclusion, False
    for _ in range(3):
        keeper.tower.poll()
    (pending,) = keeper.guard.sender._sender._pending.by_nonce.values()
    assert pending.request.deadline == story.finalizes_at > 0
    node.mine()
    keeper.rest()
    assert (keeper.answers, story.held) == (["SubmitConclude"], 0)


def test_threat_95_one_clients_challenges_take_nothing_from_another(playground: Playground, make: Make) -> None:
    keeper = make(served={ALICE.address: 2 * 10**15, BOB.address: 10**16})
    stories = crowd(playground, keeper, *[0] * 8, 1)
    assert {type(each) for each in keeper.troubles} == {BudgetExhausted}
    left = keeper.tower.left(BOB.address)
    assert 0 < left < 10**16
    playground.chain.node.mine()  # type: ignore[attr-defined]
    assert stories[-1].record == (6, False)


def test_what_an_answer_is_raised_to_is_reserved_and_leaves_the_others_their_parts(
    playground: Playground, make: Make
) -> None:
    budget = 10**16
    keeper = make(served={ALICE.address: budget}, settings=replace(SETTINGS, bump_after=1e-9))
    first, second = crowd(playground, keeper, 0, late=1)
    keeper.give_newest(second)
    keeper.tower.poll()
    node = first.chain.node  # type: ignore[attr-defined]
    for _ in range(6):  # up to a price that the budget cannot pay
        node.base_fee *= 4
        node.mine()
        keeper.tower.poll()
    raised, other = (each.gas * each.newest.max_fee for each in waiting(keeper))
    assert 3 * other < raised <= budget // 2
    assert keeper.tower.left(ALICE.address) == budget - raised - 2 * other
    node.base_fee = 1
    node.mine()
    keeper.tower.poll()
    assert keeper.answers == ["SubmitCheckpoint"] * 2


def test_what_is_offered_for_an_answer_behind_is_not_charged_to_the_client_before_it(
    playground: Playground, make: Make
) -> None:
    budget = 2 * 10**15
    keeper = make(served={ALICE.address: budget, BOB.address: ETHER}, settings=replace(SETTINGS, bump_after=1e-9))
    stories = crowd(playground, keeper, 0, 1)
    node = stories[0].chain.node  # type: ignore[attr-defined]
    node.base_fee *= 36
    node.mine()
    keeper.tower.poll()
    assert waiting(keeper)[0].newest.max_fee > node.base_fee
    assert keeper.tower.left(ALICE.address) >= 0
    for _ in stories:
        node.mine()
        keeper.tower.poll()
    assert [each.record for each in stories] == [(6, False)] * 2
    assert max(each.cost for each in keeper.told) > budget
    assert keeper.tower.left(ALICE.address) == 0


# ------------------------------------------------------------------------------------------------ reorganisations, ends


def test_threat_22_an_answer_that_is_undone_is_given_again_and_charged_once(story: Story, make: Make) -> None:
    keeper = make()
    keeper.give_newest(story)
    story.challenge(1, *stale(story))
    height = story.chain.block_number()
    keeper.rest()
    before = keeper.tower.left(ALICE.address)
    story.reorganise(height)
    assert story.record == (3, True)
    story.mine(2)
    keeper.rest()
    assert story.record == (6, False)
    assert keeper.sent == 1
    assert keeper.tower.left(ALICE.address) == before


def test_what_was_undone_and_is_not_wanted_any_more_costs_nothing(story: Story, make: Make) -> None:
    keeper = make(settings=replace(SETTINGS, confirmations=3))
    keeper.give_newest(story)
    height = story.chain.block_number()
    story.challenge(1, *stale(story))
    story.mine(2)
    keeper.rest()
    assert keeper.tower.left(ALICE.address) < ETHER
    story.reorganise(height, mined=6)
    keeper.rest()
    assert (keeper.sent, story.record) == (0, (0, False))
    assert keeper.tower.left(ALICE.address) == ETHER
    assert keeper.journal.towers.spent(keeper.tower._name) == ()


def test_a_closed_channel_is_forgotten_once_it_is_buried(story: Story, make: Make) -> None:
    keeper = make()
    keeper.give(finished(story))
    keeper.face_stale_challenge(story)
    story.mine(SETTINGS.buried - 1)
    keeper.rest()
    assert story.agreement.channel_id in keeper.tower.channels
    with pytest.raises(ChannelOver):
        keeper.give_newest(story, 1)
    story.mine()
    keeper.rest()
    assert keeper.tower.channels == ()
    assert keeper.kept == 0


def test_a_channel_that_a_reorganisation_opens_again_is_guarded_still(story: Story, make: Make) -> None:
    keeper = make()
    keeper.give(finished(story))
    height = story.chain.block_number()
    keeper.face_stale_challenge(story)
    assert story.held == 0
    story.mine(1)
    keeper.rest()
    story.reorganise(height, mined=4)
    keeper.rest()
    keeper.face_stale_challenge(story)
    assert story.held == 0


def test_a_channel_that_ended_by_the_clock_is_forgotten_too(story: Story, make: Make) -> None:
    keeper = make()
    keeper.give_newest(story)
    story.challenge(1, *story.bob.states[-2:])
    keeper.rest()
    story.expire()
    story.mine(SETTINGS.buried + 1)
    keeper.rest()
    story.mine(SETTINGS.buried + 1)
    keeper.rest()
    assert keeper.tower.channels == ()


# ------------------------------------------------------------------------------------------------------------ processes


def test_threat_48_of_two_processes_on_one_journal_one_drives(story: Story, make: Make) -> None:
    first, second = make(), make()
    assert (first.tower.is_driving, second.tower.is_driving) == (True, False)
    with pytest.raises(StandingBy):
        second.give_newest(story)
    with pytest.raises(StandingBy):
        second.tower.left(ALICE.address)
    first.give_newest(story)
    story.challenge(1, *stale(story))
    for keeper in (second, first, second):
        keeper.rest()
    assert story.record == (6, False)
    assert first.sent == 1
    assert second.told == []


def test_threat_48_who_stands_by_takes_over_with_everything(story: Story, make: Make) -> None:
    first, second = make(), make()
    first.give_newest(story)
    story.challenge(1, *stale(story))
    second.now = 3_600
    second.rest()
    assert second.tower.is_driving
    assert story.record == (6, False)


def test_threat_48_who_was_away_for_longer_than_its_lease_takes_and_sends_nothing(story: Story, make: Make) -> None:
    """It does not know yet that another process has taken over."""
    first, second = make(), make()
    first.give(replace_supported(newest(story), tuple(story.alice.states[:2])))
    second.now = 3_600
    second.rest()
    with pytest.raises(StandingBy):
        first.give_newest(story)
    assert not first.tower.is_driving
    assert second.tower.channels == (story.agreement.channel_id,)
    first.face_stale_challenge(story)
    assert (first.sent, story.record) == (0, (3, True))


def test_threat_48_who_wakes_in_the_middle_of_an_answer_sends_nothing(story: Story, make: Make) -> None:
    first, second = make(), make()
    first.give_newest(story)
    story.challenge(1, *stale(story))
    look = first.guard._take_in_looks

    def sleeping(watch: Any) -> bool:
        found = look(watch)
        second.now = 3_600
        second.tower._take_lease()
        return found

    first.guard._take_in_looks = sleeping  # type: ignore[method-assign]
    first.tower.poll()
    assert (first.sent, story.record) == (0, (3, True))


def test_a_lease_is_renewed_and_given_back(story: Story, make: Make) -> None:
    first, second = make(settings=replace(SETTINGS, lease=60)), make()
    for _ in range(10):
        first.now, second.now = first.now + 30, second.now + 30
        first.rest()
        second.rest()
    assert first.tower.is_driving
    first.tower.release()
    second.now += 30
    second.rest()
    assert second.tower.is_driving
    assert not first.tower.is_driving


def test_a_tower_is_of_one_chain(story: Story, make: Make) -> None:
    with pytest.raises(InvalidValue):
        Tower(make().journal, OTHER_TOWER, [], {ALICE.address: ETHER})


def test_the_answer_is_the_newest_state_of_all_that_it_holds(story: Story, make: Make) -> None:
    """Alice has handed over turn 5, Bob turn 6: Bob's is better for Alice, too."""
    keeper = make()
    keeper.give(replace_supported(newest(story), tuple(story.alice.states[:2])))
    keeper.give_newest(story, 1)
    keeper.face_stale_challenge(story)
    (told,) = keeper.told
    assert isinstance(told.submission, SubmitCheckpoint)
    assert (told.client, told.submission.proof.last.turn_num) == (BOB.address, 6)


@pytest.mark.parametrize(
    "bad",
    [
        *({name: -1} for name in ("max_cost", "max_channels", "head_start", "buried", "first_block")),
        *({name: 0} for name in ("confirmations", "lease", "bump_after")),
    ],
)
def test_settings_that_mean_nothing_are_refused(bad: dict[str, int]) -> None:
    with pytest.raises(InvalidValue):
        TowerSettings(**bad)


def test_an_appointment_that_cannot_be_read_any_more_harms_no_other(story: Story, make: Make) -> None:
    keeper = make()
    keeper.give_newest(story)
    keeper.journal.towers.keep(keeper.tower._name, AppointmentRecord(bytes(32), ALICE.address, b"rubbish"))
    keeper.die()
    assert [type(each) for each in keeper.troubles] == [MalformedBytes]
    keeper.face_stale_challenge(story)
    assert story.record == (6, False)
