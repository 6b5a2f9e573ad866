"""Until play begins: what is signed and paid in, and what is not; how money that was paid in comes back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from forcemove import ETHER, Adjudicator, Assembly, ChannelSetup, InvalidValue, Phase, VariablePart, agree
from forcemove.arena.network import MemoryMessenger
from forcemove.chain.errors import NoContract, NotAnEthereumEndpoint, NotGenuine
from forcemove.protocol import errors, rule_errors, types
from forcemove.protocol.machine.inputs import ChallengeWanted, ConcludeWanted
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.chain.world import deploy_contract, place
from tests.process import Process, wrap_commits
from tests.protocol.builders import terms
from tests.scenarios.story import ALICE, BOB, DEPOSIT, MALLORY, STAKE, Playground, Story


def deposit(story: Story, amount: int, expected_held: int = 0) -> None:
    """From a stranger."""
    operation = story.adjudicator.deposit(story.agreement.channel_id, ETHER, expected_held, amount)
    story.adjudicator.send(operation, MALLORY)


# --------------------------------------------------------------------------------------------------- what is signed


def first_move(story: Story) -> bytes:
    """A position in the middle of a round."""
    opening = VariablePart(story.agreement.outcome, story.agreement.app_data, 3)
    move = story.game.bot(0).move(opening, another_round=True)
    assert move is not None
    return move.app_data


def crafted(story: Story) -> dict[str, VariablePart]:
    """What Alice could send instead of the agreed first state."""
    right = story.agreement.setup_state(0)
    mine, yours = right.outcome
    elsewhere = replace(yours, destination=types.address_destination(MALLORY.address))
    return {
        "in the middle of the game": replace(right, app_data=first_move(story)),
        "with another stake": replace(right, app_data=story.game.initial_app_data(terms(STAKE + 1))),
        "with another destination": replace(right, outcome=(mine, elsewhere)),
        "with everything to Alice": replace(right, outcome=(mine, replace(yours, destination=mine.destination))),
        "with amounts below the stake": replace(
            right, outcome=(replace(mine, amount=STAKE - 1), replace(yours, amount=2 * DEPOSIT - STAKE + 1))
        ),
        "with another total": replace(right, outcome=(mine, replace(yours, amount=DEPOSIT + 1))),
        "final": replace(right, app_data=b"", is_final=True),
    }


def test_threat_27_a_crafted_opening_is_not_signed(story: Story) -> None:
    for state in crafted(story).values():
        faults = len(story.bob.faults)
        story.say(0, story.sign(state, 0))
        (fault,) = story.bob.faults[faults:]
        assert isinstance(fault, errors.MessageRefused)
        assert fault.reason == errors.OpeningMismatch(0)
        assert fault.evidence == story.sign(state, 0)
    assert story.bob.client.channel.last_signed is None
    assert len(story.bob.evidence) == len(crafted(story))
    story.play()
    story.ends_with(story.alice.newest.state.outcome)


@pytest.mark.parametrize("turn", [2, 3, 4, 40])
def test_threat_27_a_prefund_state_of_a_later_turn_is_not_signed(channel: Story, turn: int) -> None:
    channel.say(0, channel.sign(replace(channel.agreement.setup_state(0), turn_num=turn), 0, 1))
    assert channel.bob.client.channel.last_signed is None
    assert channel.bob.client.channel.accepted == ()


@pytest.mark.parametrize("held", [0, 1, DEPOSIT, 2 * DEPOSIT - 1])
def test_threat_28_nobody_signs_a_postfund_state_before_the_money_is_there(channel: Story, held: int) -> None:
    """From any payer. (Alice's own deposit fills up to her half at most.)"""
    if held:
        deposit(channel, held)
    channel.alice.client.poll()
    channel.say(1, channel.sign(channel.agreement.setup_state(1), 1))
    channel.play(channel.alice)
    assert channel.held == max(held, DEPOSIT)
    assert channel.alice.client.channel.last_signed is not None
    assert channel.alice.client.channel.last_signed[0] == 0
    deposit(channel, 1, 2 * DEPOSIT - 1) if held > DEPOSIT else deposit(channel, DEPOSIT, DEPOSIT)
    channel.play(channel.alice)
    assert channel.alice.newest.state.turn_num == 2


def test_threat_28_a_deposit_counts_when_it_is_deep_enough(playground: Playground) -> None:
    """At three confirmations, two blocks do not suffice."""
    story = playground.story(TIC_TAC_TOE, confirmations=3)
    story.mine(3)
    story.play()
    assert story.held == DEPOSIT
    story.mine(1)
    story.play()
    assert (story.held, story.bob.mined) == (DEPOSIT, [])
    story.mine(1)
    story.play()
    assert story.held == 2 * DEPOSIT
    story.mine(1)
    story.play()
    assert story.alice.newest.state.turn_num == 1
    story.mine(1)
    story.play()
    assert story.alice.newest.state.turn_num > 4


@pytest.mark.parametrize("dust", [0, 7])
def test_threat_41_a_challenge_of_our_prefund_and_a_final_state_stops_nothing(channel: Story, dust: int) -> None:
    """It is legal on the chain, and no state of the opening that was agreed on. Every poll raised from then on."""
    channel.alice.client.poll()
    final = VariablePart(channel.agreement.outcome, b"", 1, True)
    channel.challenge(1, channel.alice.newest, channel.sign(final, 1))
    if dust:
        deposit(channel, dust)
    for _ in range(3):
        channel.alice.client.poll()
    assert channel.alice.client.channel.last_signed is not None
    assert channel.alice.client.channel.last_signed[0] == 0
    channel.expire()
    channel.mine()
    for _ in range(3):
        channel.alice.client.poll()
    assert channel.alice.phase is Phase.FINALIZED
    assert channel.alice.mined == ["SubmitTransfer"] * bool(dust)
    assert channel.held == 0


def test_threat_41_nobody_countersigns_a_final_state_before_all_have_agreed(channel: Story) -> None:
    channel.alice.client.poll()
    channel.say(1, channel.sign(VariablePart(channel.agreement.outcome, b"", 1, True), 1))
    (fault,) = channel.alice.faults
    assert isinstance(fault, errors.MessageRefused)
    assert fault.reason == errors.OpeningMismatch(1)
    assert channel.alice.newest.state.turn_num == 0


# ---------------------------------------------------------------------------------------------------- look-alikes


def changed_code(story: Story, address: bytes) -> bytes:
    code = bytearray(story.chain.code(address))
    code[100] ^= 1
    return place(story.chain, bytes(code))


LOOK_ALIKES: dict[str, Callable[[Story], bytes]] = {
    "another app": lambda story: deploy_contract(story.chain, "PermissiveApp"),
    "an app that differs by a bit": lambda story: changed_code(story, story.agreement.fixed_part.app_definition),
    "no app": lambda _: b"\x77" * 20,
    "an account": lambda _: BOB.address,
}


@pytest.mark.parametrize("kind", LOOK_ALIKES)
def test_threat_32_nothing_is_signed_where_the_app_is_a_look_alike(playground: Playground, kind: str) -> None:
    honest = playground.story(TIC_TAC_TOE)
    story = playground.story(TIC_TAC_TOE, app=LOOK_ALIKES[kind](honest))
    for _ in range(2):
        with pytest.raises((NotGenuine, NoContract)):
            story.alice.client.poll()
    assert story.lines[1].receive() == ()
    assert story.alice.client.channel.last_signed is None
    assert story.alice.events == []


@pytest.mark.parametrize("kind", ["a bit", "a copy", "nothing"])
def test_threat_32_nothing_is_signed_where_the_adjudicator_is_a_look_alike(playground: Playground, kind: str) -> None:
    honest = playground.story(TIC_TAC_TOE)
    genuine = honest.adjudicator.address
    address = {
        "a bit": lambda: changed_code(honest, genuine),
        "a copy": lambda: place(playground.chain, playground.chain.code(genuine)),
        "nothing": lambda: b"\x78" * 20,
    }[kind]()
    fake = Adjudicator(playground.chain, address)
    agreement = agree(
        fake.domain,
        honest.agreement.fixed_part,
        TIC_TAC_TOE,
        STAKE,
        honest.agreement.deposits,
        honest.agreement.destinations,
    )
    line, other = MemoryMessenger.table(2)
    client = Process(ChannelSetup(Assembly(TIC_TAC_TOE, fake, agreement), ALICE, line, lambda _: None))
    with pytest.raises((NotGenuine, NotAnEthereumEndpoint)):  # where there is nothing no endpoint has its statuses
        client.poll()
    assert other.receive() == ()
    assert client.channel.last_signed is None


def test_an_adjudicator_that_was_not_agreed_on_is_refused(channel: Story) -> None:
    elsewhere = Adjudicator(channel.chain, b"\x79" * 20)
    assembly = Assembly(channel.game, elsewhere, channel.agreement)
    with pytest.raises(InvalidValue):
        Process(ChannelSetup(assembly, ALICE, channel.lines[0], lambda _: None))


# ---------------------------------------------------------------------------------------------------- what is paid in


@pytest.mark.parametrize("dust", [1, DEPOSIT - 1])
def test_threat_12_dust_does_not_block_the_funding(channel: Story, dust: int) -> None:
    deposit(channel, dust)
    channel.play()
    final = channel.alice.newest.state
    assert final.is_final
    assert channel.gains[0] == final.outcome[0].amount - (DEPOSIT - dust)
    assert channel.gains[1] == final.outcome[1].amount - DEPOSIT
    assert channel.held == 0


def test_threat_12_dust_just_ahead_of_a_deposit_is_counted(channel: Story) -> None:
    """It comes between Bob's look at the chain and his deposit; he pays that much less."""
    channel.alice.client.poll()
    channel.bob.client.poll()
    channel.alice.client.poll()
    assert channel.held == DEPOSIT
    deposit(channel, 7, DEPOSIT)
    channel.play()
    assert channel.gains[1] == channel.alice.newest.state.outcome[1].amount - DEPOSIT + 7
    assert channel.held == 0


def test_threat_11_the_second_deposit_reverts_when_the_first_has_vanished(channel: Story) -> None:
    """A reorganisation takes Alice's deposit between Bob's look at it and his transaction. He loses nothing, and pays
    in when hers is there again."""
    before: list[int] = []

    def reorganise() -> None:
        if before:
            channel.reorganise(before.pop(), mined=2)

    def interrupted(commit: Callable[[], frozenset[bytes]]) -> frozenset[bytes]:
        """Between a decision and its effects: when a deposit has been written down, but not sent."""
        lost = commit()
        if channel.bob.client.channel.requested:
            reorganise()
        return lost

    wrap_commits(channel.bob.journal, interrupted)
    channel.alice.client.poll()
    channel.bob.client.poll()
    before.append(channel.chain.block_number())
    channel.alice.client.poll()
    assert channel.held == DEPOSIT
    channel.bob.client.poll()
    assert channel.held == 0
    assert channel.bob.refused == [rule_errors.HoldingsBelowExpected(0, DEPOSIT)]
    channel.spent = [0, 0]
    channel.play()
    channel.ends_with(channel.alice.newest.state.outcome)
    assert channel.bob.mined.count("SubmitDeposit") == 1


def test_threat_22_deposits_that_a_reorganisation_took_are_made_again(channel: Story) -> None:
    for player in channel.players:
        player.client.poll()
    before = channel.chain.block_number()
    for player in channel.players:
        player.client.poll()
    assert channel.held == 2 * DEPOSIT
    channel.reorganise(before)
    channel.spent = [0, 0]
    channel.mine(3)
    assert channel.held == 0
    channel.play()
    channel.ends_with(channel.alice.newest.state.outcome)
    assert [player.mined.count("SubmitDeposit") for player in channel.players] == [2, 2]


# ------------------------------------------------------------------------------------------------- what comes back


@pytest.mark.parametrize("how", ["challenge", "leave, then challenge"])
def test_threat_23_who_deposits_alone_gets_it_back(story: Story, how: str) -> None:
    """Bob signs the prefund state, and is never seen again."""
    story.alice.client.poll()
    story.bob.client.poll()
    story.play(story.alice)
    assert story.held == DEPOSIT
    if how != "challenge":
        story.alice.client.feed(ConcludeWanted())
        story.play(story.alice)
    story.alice.client.feed(ChallengeWanted())
    story.expire()
    story.play(story.alice)
    assert story.gains == [0, 0]
    assert story.held == 0
    assert story.alice.phase is Phase.FINALIZED
    assert story.alice.mined == ["SubmitDeposit", "SubmitChallenge", "SubmitTransfer"]


def test_threat_23_nothing_is_paid_in_before_the_other_has_signed(story: Story) -> None:
    story.play(story.alice)
    assert story.held == 0
    assert story.alice.mined == []


def test_who_changes_his_mind_before_paying_in_costs_the_other_nothing_but_gas(story: Story) -> None:
    """Alice has paid in, and Bob will not; she gives up, he signs the end, and she concludes."""
    story.alice.client.poll()
    story.bob.client.poll()
    story.alice.client.poll()
    story.bob.client.feed(ConcludeWanted())
    story.play()
    assert story.gains == [-DEPOSIT, 0]
    story.alice.client.feed(ConcludeWanted())
    story.play()
    assert story.gains == [0, 0]
    assert story.held == 0
    assert story.bob.mined == []
