"""What a tower takes and what it refuses: each kind of bad appointment is a typed error, and changes nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from msgspec import structs

from forcemove import Agreement, Allocation, Channel, SignedState, VariablePart
from forcemove.chain.errors import Unreachable
from forcemove.errors import AppError, ForcemoveError, JournalUnavailable, MalformedBytes, UnknownVersion
from forcemove.protocol import types
from forcemove.protocol.codec.msgpack_codec import CHANNELS, Codec
from forcemove.protocol.encoding import Domain, digest, hash_state
from forcemove.protocol.errors import ChannelOfOlderContracts
from forcemove.protocol.rule_errors import (
    AppDataTooLong,
    OutcomeChanged,
    TotalChanged,
    TurnNumberNotConsecutive,
    WrongSigner,
    WrongTotal,
)
from forcemove.protocol.signing import recover
from forcemove.store.errors import JournalUnwritable
from forcemove.store.records import Account, AppointmentRecord
from forcemove.watchtower import errors
from forcemove.watchtower.acceptance import STORED_APPOINTMENTS, AcceptedAppointment, StoredAppointment
from forcemove.watchtower.appointment import (
    MAX_APPOINTMENT,
    Appointment,
    SignedAppointment,
    appointment_digest,
    decode,
    make_appointment,
    sign_appointment,
)
from forcemove_games.tic_tac_toe import GAME
from tests.expected import raising
from tests.scenarios.story import ALICE, BOB, MALLORY, Playground, Story
from tests.simulation.chain import MemoryChain
from tests.simulation.faults import Endpoint
from tests.watchtower.keeper import ETHER, OTHER_TOWER, SETTINGS, TOWER, Keeper, finished, newest, stale

# ------------------------------------------------------------------------------------------------------- what is given


def test_what_is_handed_over_follows_from_the_channel_alone(playground: Playground) -> None:
    story = playground.story(GAME)
    assert make_appointment(story.alice.client.channel, 0) is None
    story.alice.stops_at = story.bob.stops_at = 7
    while story.alice.client.poll() or story.bob.client.poll():
        given, newest_turn = make_appointment(story.alice.client.channel, 0), story.alice.client.channel.next_turn - 1
        assert (given.turn_num if given else None) == (newest_turn if newest_turn > 0 else None)
    assert newest_turn == 7


def test_a_finished_channel_is_handed_over_as_one_state(story: Story) -> None:
    story.go_on(leave_after=7)
    given = newest(story)
    assert given.is_finished
    assert len(given.supported) == 1


def test_what_went_on_from_the_record_is_handed_over_with_what_is_proved(story: Story) -> None:
    """As with three participants: the chain shows a state beyond all that Alice knew."""
    channel = story.alice.client.channel
    jumped = structs.replace(channel, superseded=channel.accepted[:2], accepted=channel.accepted[1:])
    recorded = structs.replace(jumped.accepted[0], signed=SignedState(jumped.accepted[0].state))
    jumped = structs.replace(jumped, accepted=(recorded, *jumped.accepted[1:]))
    given = make_appointment(jumped, 0)
    assert given is not None
    assert [each.state.turn_num for each in given.supported] == [4, 5]
    assert [each.state.turn_num for each in given.replies] == [5, 6]


def test_the_largest_legal_appointment_fits() -> None:
    """Eight participants, whose states and proofs are as large as the protocol allows."""
    participants = tuple(bytes([seat + 1]) * 20 for seat in range(types.MAX_PARTICIPANTS))
    fixed_part = types.FixedPart(participants, 2**64 - 1, b"\xaa" * 20, 365 * 86_400)
    deposits = tuple((bytes([asset]) * 20, (types.UINT256_MAX >> 4,) * types.MAX_PARTICIPANTS) for asset in range(1, 5))
    destinations = tuple(bytes([seat + 1]) * 32 for seat in range(types.MAX_PARTICIPANTS))
    domain = Domain(types.UINT256_MAX, b"\xbb" * 20)
    agreement = Agreement(domain, fixed_part, destinations, deposits, b"\xff" * types.MAX_APP_DATA)
    signatures = {seat: types.Signature(b"\xff" * 64) for seat in range(types.MAX_PARTICIPANTS)}
    first = types.UINT48_MAX - types.MAX_PARTICIPANTS
    states = tuple(
        SignedState(VariablePart(agreement.outcome, b"\xff" * types.MAX_APP_DATA, first + turn), signatures)
        for turn in range(types.MAX_PARTICIPANTS)
    )
    data = sign_appointment(Appointment(agreement, types.UINT48_MAX, states, states), TOWER.address, ALICE)
    assert MAX_APPOINTMENT // 2 < len(data) <= MAX_APPOINTMENT
    assert decode(data).content in data


# ------------------------------------------------------------------------------------------------------ what is refused


Make = Callable[[Story], bytes]
_SIGNED: Codec[SignedAppointment] = Codec("signed appointment", SignedAppointment)


def offered(given: Appointment, key: object = ALICE, tower: bytes = TOWER.address) -> bytes:
    return sign_appointment(given, tower, key)  # type: ignore[arg-type]


def changed(story: Story, **others: object) -> bytes:
    return offered(structs.replace(newest(story), **others))


def with_state(story: Story, *signers: int, **others: object) -> bytes:
    """The newest state is another one, and signed by these."""
    given = newest(story)
    state = structs.replace(given.supported[-1].state, **others)
    return changed(story, supported=(*given.supported[:-1], story.sign(state, *signers)))


def garbled(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def huge(length: int) -> bytes:
    """Whose it is would be found out only by hashing all of it."""
    return _SIGNED.encode(SignedAppointment(bytes(length), types.Signature(bytes(64))))


def of_version(data: bytes, version: int) -> bytes:
    return msgspec.msgpack.encode([version, msgspec.msgpack.decode(data)[1]])


def elsewhere(story: Story, domain: Domain) -> bytes:
    """All of it, honestly signed, for another chain or adjudicator."""
    old = story.agreement
    agreement = Agreement(domain, old.fixed_part, old.destinations, old.deposits, old.app_data)

    def signed(turn: int) -> SignedState:
        state = agreement.setup_state(turn)
        to_sign = digest(domain, hash_state(agreement.channel_id, state).state)
        return SignedState(state, {turn % 2: (ALICE, BOB)[turn % 2].sign(to_sign)})

    return offered(Appointment(agreement, 0, (signed(2), signed(3))))


def other_outcome(story: Story) -> tuple[Allocation, ...]:
    first, *rest = story.alice.newest.state.outcome
    return (structs.replace(first, amount=first.amount + 1), *rest)


def illegal(story: Story) -> bytes:
    """A move that the game forbids, signed by all but not by all in one state."""
    given = newest(story)
    _, state = next(each for each in GAME.illegal_moves(given.supported[-1].state) if not each[1].is_final)
    return changed(story, supported=(given.supported[-1], story.sign(state, state.turn_num % 2)))


BAD: dict[str, tuple[type[ForcemoveError], Make]] = {
    "nothing at all": (MalformedBytes, lambda _: b""),
    "noise": (MalformedBytes, lambda _: b"\xc1" * 500),
    "the beginning alone": (MalformedBytes, lambda story: offered(newest(story))[:-1]),
    "too much": (MalformedBytes, lambda story: offered(newest(story)) + bytes(MAX_APPOINTMENT)),
    "too much, from a stranger": (MalformedBytes, lambda _: huge(MAX_APPOINTMENT)),
    "one byte more": (MalformedBytes, lambda story: offered(newest(story)) + b"\0"),
    "another value": (MalformedBytes, lambda story: of_version(CHANNELS.encode(Channel(story.agreement, 0)), 1)),
    "a newer version": (UnknownVersion, lambda story: of_version(offered(newest(story)), 3)),
    "nested without end": (MalformedBytes, lambda _: b"\x91" * 10_000),
    "changed after it was signed": (errors.NotServed, lambda story: garbled(offered(newest(story)), 300)),
    "signed by a stranger": (errors.NotServed, lambda story: offered(newest(story), MALLORY)),
    "signed for another tower": (errors.NotServed, lambda story: offered(newest(story), tower=OTHER_TOWER.address)),
    "signed by a client who takes no part": (
        errors.NotAParticipant,
        lambda story: offered(newest(story), OTHER_TOWER),
    ),
    "of another chain": (
        errors.NotWatched,
        lambda story: elsewhere(story, Domain(1, story.agreement.domain.adjudicator)),
    ),
    "of another adjudicator": (
        errors.NotWatched,
        lambda story: elsewhere(story, Domain(story.agreement.domain.chain_id, b"\xad" * 20)),
    ),
    "without a state": (errors.NotProved, lambda story: changed(story, supported=())),
    "of too many states": (errors.NotProved, lambda story: changed(story, supported=story.alice.states)),
    "with a signature missing": (errors.NotProved, lambda story: changed(story, supported=story.alice.states[-1:])),
    "with nobody's signature": (errors.NotProved, with_state),
    "with a signature of a seat that there is not": (
        errors.NotProved,
        lambda story: changed(
            story,
            supported=(
                *newest(story).supported[:-1],
                story.alice.newest.with_signature(2, story.alice.newest.signatures[0]),
            ),
        ),
    ),
    "with somebody else's signature": (
        WrongSigner,
        lambda story: changed(
            story,
            supported=(
                *newest(story).supported[:-1],
                SignedState(story.alice.newest.state, {0: ALICE.sign(bytes(32))}),
            ),
        ),
    ),
    "with a wrong signature that is not needed": (
        WrongSigner,
        lambda story: changed(
            story,
            supported=(
                *newest(story).supported[:-1],
                story.alice.newest.with_signature(1, story.alice.newest.signatures[0]),
            ),
        ),
    ),
    "with a turn left out": (
        TurnNumberNotConsecutive,
        lambda story: changed(story, supported=(story.alice.states[0], story.alice.states[2])),
    ),
    "with money that is not there": (WrongTotal, lambda story: with_state(story, 0, outcome=other_outcome(story))),
    "with more money all along": (
        TotalChanged,
        lambda story: changed(
            story,
            supported=(story.sign(VariablePart(other_outcome(story), b"", 9, True), 0, 1),),
        ),
    ),
    "with a final state that pays otherwise": (
        OutcomeChanged,
        lambda story: with_state(story, 0, outcome=tuple(reversed_amounts(story)), app_data=b"", is_final=True),
    ),
    "with too large a position": (
        AppDataTooLong,
        lambda story: with_state(story, 0, 1, app_data=bytes(types.MAX_APP_DATA + 1)),
    ),
    "with an illegal move": (AppError, illegal),
    "with one state as a reply": (errors.NotProved, lambda story: changed(story, replies=story.alice.states[-1:])),
    "with too many replies": (errors.NotProved, lambda story: changed(story, replies=story.alice.states)),
    "with a reply that its mover has not signed": (
        errors.NotProved,
        lambda story: changed(story, replies=(story.alice.states[-2], SignedState(story.alice.newest.state, {}))),
    ),
    "with an illegal reply": (
        TurnNumberNotConsecutive,
        lambda story: changed(story, replies=(story.alice.states[0], story.alice.states[2])),
    ),
}


def reversed_amounts(story: Story) -> Iterator[Allocation]:
    entries = story.alice.newest.state.outcome
    for entry, other in zip(entries, reversed(entries), strict=True):
        yield structs.replace(entry, amount=other.amount + (1 if entry is entries[0] else -1))


@pytest.mark.parametrize("kind", BAD)
def test_threat_25_a_bad_appointment_is_a_typed_error_and_changes_nothing(
    story: Story, keeper: Keeper, kind: str
) -> None:
    keeper.served[OTHER_TOWER.address] = ETHER
    keeper.die()
    earlier = structs.replace(newest(story), supported=tuple(stale(story)))
    keeper.give(earlier)
    before = keeper.journal.towers.appointments(keeper.tower._name)
    expected, make = BAD[kind]
    with pytest.raises(expected) as raised:
        keeper.tower.accept(make(story))
    assert isinstance(raised.value, expected)
    assert keeper.journal.towers.appointments(keeper.tower._name) == before
    (watched,) = keeper.watched
    assert {client: each.appointment for client, each in watched.accepted.items()} == {ALICE.address: earlier}
    keeper.give_newest(story)


def test_threat_25_what_is_refused_of_a_new_channel_leaves_no_trace(story: Story, keeper: Keeper) -> None:
    with pytest.raises(errors.NotProved):
        keeper.tower.accept(changed(story, supported=()))
    assert keeper.kept == 0
    assert keeper.tower.channels == ()


@pytest.mark.parametrize("filling", [b"\xc0", b"\x80", b"\x90"])
@pytest.mark.parametrize("who", ["a stranger", "a client"])
def test_threat_39_the_largest_rubbish_costs_little(story: Story, keeper: Keeper, filling: bytes, who: str) -> None:
    """An array of as many values as there is room for, from outside or signed by a client."""
    count = MAX_APPOINTMENT - 300
    rubbish = (b"\x92\x02\xdd" if who == "a client" else b"\x92\x01\xdd") + count.to_bytes(4) + filling * count
    if who == "a client":
        signature = ALICE.sign(appointment_digest(TOWER.address, rubbish))
        rubbish = _SIGNED.encode(SignedAppointment(rubbish, signature))
    begun = time.process_time()
    with pytest.raises(MalformedBytes):
        keeper.tower.accept(rubbish)
    assert time.process_time() - begun < 2


def test_a_signature_for_a_tower_is_no_signature_of_a_state(story: Story) -> None:
    """Nor of anything else that a client signs: its domain has another name and other fields."""
    signed = decode(offered(newest(story)))
    states = newest(story).supported
    for each in states:
        to_sign = digest(story.agreement.domain, hash_state(story.agreement.channel_id, each.state).state)
        assert recover(to_sign, signed.signature) != ALICE.address
    assert recover(appointment_digest(TOWER.address, signed.content), signed.signature) == ALICE.address


def test_an_appointment_for_older_contracts_says_which_release_knows_them(story: Story) -> None:
    """What a tower keeps of them is left as it is; a client that offers one is told that the other side is newer."""
    signed = decode(offered(newest(story)))
    older = SignedAppointment(of_version(signed.content, 1), signed.signature)
    stored = STORED_APPOINTMENTS.encode(StoredAppointment(older, 7))
    with raising(ChannelOfOlderContracts("appointment", 1, 2, "0.3.0")):
        AcceptedAppointment.decode(ALICE.address, stored)


# ------------------------------------------------------------------------------------------------- apps that it lacks


def test_of_an_unknown_app_only_what_needs_no_rules_is_taken(story: Story, tmp_path: Path) -> None:
    keeper = Keeper.of(story, tmp_path, name="without", apps={})
    with raising(errors.AppNotKnown(story.agreement.fixed_part.app_definition)):
        keeper.give_newest(story)
    keeper.give(structs.replace(newest(story), supported=tuple(stale(story))))
    by_all = story.sign(story.alice.newest.state, 0, 1)
    keeper.give(structs.replace(newest(story), supported=(by_all,)))
    keeper.give(finished(story))
    keeper.close()


# -------------------------------------------------------------------------------------------------- nothing gets worse


def test_what_is_held_is_never_replaced_by_something_older(story: Story, keeper: Keeper) -> None:
    older = structs.replace(newest(story), supported=tuple(story.alice.states[:2]))
    keeper.give_newest(story)
    with raising(errors.NothingNewer(story.agreement.channel_id, 5, 6)):
        keeper.give(older)
    keeper.face_stale_challenge(story)
    assert story.record == (6, False)


def test_what_ends_the_channel_is_never_replaced_by_what_does_not(story: Story, keeper: Keeper) -> None:
    keeper.give(finished(story))
    story.alice.stops_at = story.bob.stops_at = 9
    story.bob.decide_at_last()
    story.play()
    assert newest(story).turn_num == 9
    assert not newest(story).is_finished
    with pytest.raises(errors.NothingNewer):
        keeper.give_newest(story)


def test_what_answers_further_is_never_replaced_by_what_answers_less(story: Story, keeper: Keeper) -> None:
    five, six = story.alice.states[-2:]
    early = structs.replace(newest(story), supported=tuple(stale(story)), replies=(SignedState(five.state), six))
    keeper.give(early)
    with pytest.raises(errors.NothingNewer):
        keeper.give(structs.replace(newest(story), supported=tuple(story.alice.states[:2])))
    keeper.give_newest(story)


def test_another_proof_of_the_same_turn_does_not_take_its_place(story: Story, keeper: Keeper) -> None:
    keeper.give_newest(story)
    with pytest.raises(errors.NothingNewer):
        keeper.give(structs.replace(newest(story), supported=(story.sign(story.alice.newest.state, 0, 1),)))


def test_one_participant_cannot_replace_what_another_has_given(story: Story, keeper: Keeper) -> None:
    """Bob's reply after a state that never was: what Alice has given answers all the same."""
    keeper.give_newest(story)
    final = VariablePart(story.alice.newest.state.outcome, b"", 100, True)
    later = structs.replace(final, turn_num=101)
    bobs = structs.replace(newest(story, 1), replies=(SignedState(final), story.sign(later, 1)))
    keeper.give(bobs, BOB)
    keeper.face_stale_challenge(story)
    assert story.record == (6, False)


def test_the_same_again_gives_the_same_receipt(story: Story, keeper: Keeper) -> None:
    first = keeper.give_newest(story)
    story.mine(3)
    keeper.rest()
    assert keeper.give_newest(story) == first
    keeper.die()
    assert keeper.give_newest(story) == first
    assert keeper.kept == 1


def test_each_client_has_so_many_channels_and_no_more(playground: Playground, story: Story, tmp_path: Path) -> None:
    keeper = Keeper.of(story, tmp_path, settings=replace(SETTINGS, max_channels=1))
    keeper.give_newest(story)
    other = playground.story(GAME)
    other.play_until(4)
    with raising(errors.TooManyChannels(ALICE.address, 1)):
        keeper.give_newest(other)
    keeper.give_newest(other, 1)
    keeper.give_newest(story, 0)
    keeper.close()


# ------------------------------------------------------------------------------------------------------ disk and chain


def test_without_a_journal_there_is_no_receipt(story: Story, keeper: Keeper) -> None:
    keep = keeper.journal.towers.keep

    def full(account: Account, *appointments: AppointmentRecord) -> None:
        raise JournalUnwritable(keeper.journal_at, "disk full")

    keeper.journal.towers.keep = full  # type: ignore[method-assign]
    with pytest.raises(JournalUnavailable):
        keeper.give_newest(story)
    assert keeper.tower.channels == ()
    keeper.journal.towers.keep = keep  # type: ignore[method-assign]
    keeper.give_newest(story)
    assert keeper.kept == 1


def test_a_tower_that_has_not_seen_the_chain_promises_nothing(story: Story, tmp_path: Path) -> None:

    endpoint = Endpoint(story.chain.node)  # type: ignore[attr-defined]
    chain = MemoryChain(endpoint)

    def nobody(method: str, *params: object) -> object:
        raise Unreachable("memory", "nobody")

    endpoint.answer = nobody
    keeper = Keeper.of(story, tmp_path, chain)
    with pytest.raises(errors.NotWatched):
        keeper.give_newest(story)
    endpoint.be_honest()
    keeper.rest()
    keeper.give_newest(story)
    keeper.close()
