"""Rock-paper-scissors around a table: honest clients in whatever order they are heard, and mallory."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import product
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forcemove import ForcemoveError, InvalidValue, Key, exchange_keys, keccak256
from forcemove.flow.actions import MalformedAction
from forcemove.flow.queue import ActionQueue, SaidOtherwise, said_before
from forcemove.flow.signed import SignedTransport, UnknownClient
from forcemove.flow.steps import ActionMissing, UnexpectedAction, UnexpectedSender, run
from forcemove.flow.transport import MemoryTransport, Transport
from forcemove_games.commitment import Opening
from forcemove_games.randomness import seeded
from forcemove_games.rock_paper_scissors.position import Weapon
from forcemove_games.rock_paper_scissors.table import (
    ACTIONS,
    ActionNotDue,
    CommitmentNotOpened,
    HiddenRound,
    NoSuchWeapon,
    Play,
    Reveal,
    Round,
    TableRoundResult,
    any_weapon,
    commitment_of,
    plays_and_reveals,
)
from forcemove_games.views import play_action
from tests.expected import raising
from tests.flow.table import KEYS, MALLORY, TABLE_ID, Delayed
from tests.flow.virtual_time import at_every_wait, cancelled_at, run_virtual
from tests.games.sra.shuffled import scripted, stream

pytestmark = pytest.mark.virtual_time

HOUR = 3600.0
CLIENTS = ("alice", "mallory")
SIGNERS = {"alice": KEYS["alice"], "mallory": MALLORY}
STRANGER = Key(bytes(31) + b"\xee")
ROCK, PAPER, SCISSORS = Weapon
ALICE, BY_MALLORY = Opening(ROCK, b"\xa1" * 32), Opening(PAPER, b"\x3a" * 32)

Said = Play | Reveal
End = TableRoundResult | ForcemoveError | None


def line(log: Transport, name: str) -> SignedTransport:
    """A client's signed view of the log."""
    return SignedTransport(log, TABLE_ID, SIGNERS[name], {each: key.address for each, key in SIGNERS.items()})


def sit(name: str, opening: Opening) -> Round:
    """A client that will play this weapon with this salt."""
    return Round(TABLE_ID, CLIENTS, name, lambda _: Weapon(opening.choice), lambda _: opening.salt)


def both() -> tuple[Round, Round]:
    return sit("alice", ALICE), sit("mallory", BY_MALLORY)


def play(name: str, opening: Opening, *, table: bytes = TABLE_ID, by: str | None = None) -> Play:
    return Play(name, commitment_of(table, by or name, opening).hex())


def reveal(name: str, opening: Opening) -> Reveal:
    return Reveal(name, opening.choice, opening.salt.hex())


A, M = play("alice", ALICE), play("mallory", BY_MALLORY)
RA, RM = reveal("alice", ALICE), reveal("mallory", BY_MALLORY)


async def end_of(transport: Transport, round_: Round) -> End:
    """A round's result, or what it has failed with."""
    try:
        await run(plays_and_reveals(within=HOUR), ActionQueue(transport, ACTIONS), round_)
    except ForcemoveError as error:
        return error
    return round_.result


def ends(*rounds: Round, after: Sequence[Said] = ()) -> list[End]:
    """What these clients end with, who play on one log where this was said already."""

    async def scenario() -> list[End]:
        log = MemoryTransport()
        await say(log, *after)
        return await asyncio.gather(*(end_of(line(log, each.client_id), each) for each in rounds))

    return run_virtual(scenario())


def ends_after(*script: Said) -> list[End]:
    """What both end with where this is the first that they hear."""
    return ends(*both(), after=script)


async def say(log: Transport, *script: Said) -> None:
    """Each signed by the client that it names."""
    for said in script:
        await line(log, said.client_id).post(ACTIONS.encode(said))


async def actions_on(log: MemoryTransport) -> list[Said]:
    """All that was said, as it is on a signed log."""
    queue = ActionQueue(line(log, "alice"), ACTIONS)
    return [await queue.dequeue() for _ in range(log.length())]


# ------------------------------------------------------------------------------------------------------------ in order


@pytest.mark.parametrize(("first", "second"), list(product(Weapon, Weapon)))
def test_all_nine_pairs_end_as_they_should(first: Weapon, second: Weapon) -> None:
    wins = {(ROCK, SCISSORS), (SCISSORS, PAPER), (PAPER, ROCK)}
    winner = "alice" if (first, second) in wins else "mallory" if (second, first) in wins else None
    expected = TableRoundResult(winner, {"alice": first, "mallory": second})
    rounds = sit("alice", Opening(first, b"\xa1" * 32)), sit("mallory", Opening(second, b"\x3a" * 32))
    assert ends(*rounds) == [expected, expected]


@pytest.mark.parametrize("plays", [(A, M), (M, A)])
@pytest.mark.parametrize("reveals", [(RA, RM), (RM, RA)])
def test_neither_the_order_of_plays_nor_that_of_reveals_matters(
    plays: tuple[Play, Play], reveals: tuple[Reveal, Reveal]
) -> None:
    expected = TableRoundResult("mallory", {"alice": ROCK, "mallory": PAPER})
    assert ends_after(*plays, *reveals) == [expected, expected]


@given(st.sampled_from(Weapon), st.sampled_from(Weapon), st.randoms(use_true_random=False))
def test_whoever_is_faster_both_end_alike(first: Weapon, second: Weapon, random: Random) -> None:
    async def scenario() -> None:
        log = MemoryTransport()
        rounds = sit("alice", Opening(first, b"\xa1" * 32)), sit("mallory", Opening(second, b"\x3a" * 32))
        found = await asyncio.gather(*(end_of(line(Delayed(log, random), each.client_id), each) for each in rounds))
        assert isinstance(found[0], TableRoundResult)
        assert found[0] == found[1]
        assert found[0].weapons == {"alice": first, "mallory": second}
        said = await actions_on(log)
        assert [type(each) for each in said] == [Play, Play, Reveal, Reveal]
        assert {each.client_id for each in said[:2]} == {each.client_id for each in said[2:]} == set(CLIENTS)

    run_virtual(scenario())


@settings(max_examples=25)
@given(st.randoms(use_true_random=False))
def test_strangers_who_exchange_keys_play_three_rounds(random: Random) -> None:
    expected = [KEYS["alice"].address, KEYS["bob"].address]

    async def client(log: Transport, name: str) -> list[TableRoundResult | None]:
        table = await exchange_keys(log, TABLE_ID, name, KEYS[name], expected, within=HOUR)
        queue = ActionQueue(table.transport, ACTIONS)
        rounds = [Round(table.table_id, tuple(table.keys), name) for _ in range(3)]
        for each in rounds:
            await run(plays_and_reveals(within=HOUR), queue, each)
        return [each.result for each in rounds]

    async def scenario() -> None:
        log = MemoryTransport()
        alice, bob = await asyncio.gather(client(Delayed(log, random), "alice"), client(Delayed(log, random), "bob"))
        assert None not in alice
        assert alice == bob

    run_virtual(scenario())


async def test_it_is_played_on_a_log_without_signatures_as_well() -> None:
    log = MemoryTransport()
    first, second = await asyncio.gather(*(end_of(log, each) for each in both()))
    assert first == second == TableRoundResult("mallory", {"alice": ROCK, "mallory": PAPER})


def test_there_is_no_result_before_the_last_reveal() -> None:
    alice, mallory = both()
    received: list[TableRoundResult | None] = []
    alice.show = lambda _action, _played: received.append(alice.result)
    ends(alice, mallory)
    assert received == [None, None, None, TableRoundResult("mallory", {"alice": ROCK, "mallory": PAPER})]


# ------------------------------------------------------------------------------------------------------------- cheating


def not_opened(commitment: Play) -> CommitmentNotOpened:
    return CommitmentNotOpened("mallory", bytes.fromhex(commitment.commitment))


COPIED = Play("mallory", A.commitment)
OTHER_TABLE = play("mallory", BY_MALLORY, table=bytes(32))
IN_ALICES_NAME = play("mallory", BY_MALLORY, by="alice")
OF_A_CHANNEL = Play("mallory", BY_MALLORY.commitment.hex())
LIZARD = Opening(3, b"\x3a" * 32)


@pytest.mark.parametrize(
    ("script", "error"),
    [
        ((M, RM), UnexpectedAction("mallory", ("Play",), RM)),
        ((RM,), UnexpectedAction("mallory", ("Play",), RM)),
        ((M, M), UnexpectedSender("mallory", ("alice",), M)),
        ((A, M, M), UnexpectedAction("mallory", ("Reveal",), M)),
        ((A, M, RA, M), UnexpectedAction("mallory", ("Reveal",), M)),
        ((A, M, RM, RM), UnexpectedSender("mallory", ("alice",), RM)),
        ((A, M, reveal("mallory", Opening(SCISSORS, BY_MALLORY.salt))), not_opened(M)),
        ((A, M, RA, reveal("mallory", Opening(PAPER, b"\x3b" * 32))), not_opened(M)),
        ((A, COPIED, RA, Reveal("mallory", RA.choice, RA.salt)), not_opened(COPIED)),
        ((COPIED, A, RA, Reveal("mallory", RA.choice, RA.salt)), not_opened(COPIED)),
        ((A, OTHER_TABLE, RM), not_opened(OTHER_TABLE)),
        ((A, IN_ALICES_NAME, RM), not_opened(IN_ALICES_NAME)),
        ((A, OF_A_CHANNEL, RM), not_opened(OF_A_CHANNEL)),
        ((A, play("mallory", LIZARD), reveal("mallory", LIZARD)), NoSuchWeapon("mallory", 3)),
        ((A, M, Reveal("mallory", -1, RM.salt)), NoSuchWeapon("mallory", -1)),
        ((A, M, Reveal("mallory", 2**63, RM.salt)), NoSuchWeapon("mallory", 2**63)),
    ],
    ids=["reveals before the last play", "only reveals", "plays twice", "plays again", "plays after a reveal",
         "reveals twice", "another weapon", "another salt", "copied", "copied, and faster", "another table's",
         "in alice's name", "a channel's", "no weapon", "below all weapons", "far above all weapons"],
)  # fmt: skip
def test_all_end_with_the_same_error(script: tuple[Said, ...], error: ForcemoveError) -> None:
    assert ends_after(*script) == [error, error]


@pytest.mark.parametrize(
    "text",
    ["", "00", "no hex", M.commitment.upper(), M.commitment + "00", M.commitment[:-2] + "  "],
    ids=["nothing", "short", "no hex", "upper case", "long", "spaces"],
)
def test_what_is_no_32_bytes_is_refused_by_all(text: str) -> None:
    for script in ((A, Play("mallory", text)), (A, M, Reveal("mallory", PAPER, text))):
        first, second = ends_after(*script)
        assert isinstance(first, MalformedAction)
        assert first.client_id == "mallory"
        assert first == second


@pytest.mark.parametrize("choice", [b"true", b"1.0", b'"1"', b"null", b"[1]", b"01"])
async def test_a_choice_that_is_no_number_is_refused_by_all(choice: bytes) -> None:
    message = b'{"choice":%b,"client_id":"mallory","salt":"%b","type":"Reveal"}' % (choice, RM.salt.encode())
    log = MemoryTransport()
    for said in (A, M):
        await log.post(ACTIONS.encode(said))
    await log.post(message)
    first, second = await asyncio.gather(*(end_of(log, each) for each in both()))
    assert isinstance(first, MalformedAction)
    assert first == second


async def test_a_stranger_is_named() -> None:
    stranger = play("eve", BY_MALLORY)
    log = MemoryTransport()
    await log.post(ACTIONS.encode(stranger))
    refused = UnexpectedSender("eve", CLIENTS, stranger)
    assert await asyncio.gather(*(end_of(log, each) for each in both())) == [refused, refused]
    log = MemoryTransport()
    await SignedTransport(log, TABLE_ID, STRANGER, {"eve": STRANGER.address}).post(ACTIONS.encode(stranger))
    found = await asyncio.gather(*(end_of(line(log, each.client_id), each) for each in both()))
    assert found == [UnknownClient("eve"), UnknownClient("eve")]


@pytest.mark.parametrize("script", [(), (M,)], ids=["before the play", "before the reveal"])
def test_who_falls_silent_is_named(script: tuple[Said, ...]) -> None:
    assert ends(sit("alice", ALICE), after=script) == [ActionMissing(("mallory",), HOUR)]


async def test_what_comes_late_but_in_time_is_taken() -> None:
    log = MemoryTransport()

    async def mallory() -> None:
        for said in (M, RM):
            await asyncio.sleep(HOUR - 1)
            await say(log, said)

    async with asyncio.TaskGroup() as group:
        ending = group.create_task(end_of(line(log, "alice"), sit("alice", ALICE)))
        group.create_task(mallory())
    assert ending.result() == TableRoundResult("mallory", {"alice": ROCK, "mallory": PAPER})


def test_what_is_refused_changes_nothing() -> None:
    alice, seen = sit("alice", ALICE), []
    alice.show = lambda _action, played: seen.append(played.state)
    assert ends(alice, after=(A, M, Reveal("mallory", SCISSORS, RM.salt))) == [not_opened(M)]
    assert len(seen) == 2
    assert alice.state is seen[-1]
    assert alice.state["plays"] == {"alice": A.commitment, "mallory": M.commitment}
    assert alice.state["reveals"] == {}


MOVES: tuple[Said, ...] = (
    M, RM, COPIED, Reveal("mallory", RA.choice, RA.salt), Reveal("mallory", SCISSORS, RM.salt),
    Reveal("mallory", 3, RM.salt), Play("mallory", ""),
)  # fmt: skip


@given(st.lists(st.sampled_from(MOVES), max_size=5), st.randoms(use_true_random=False))
def test_whatever_mallory_says_alice_ends_in_time_and_blames_nobody_else(said: list[Said], random: Random) -> None:
    async def scenario() -> None:
        log = MemoryTransport()

        async def mallory(transport: SignedTransport) -> None:
            for each in said:
                await transport.post(ACTIONS.encode(each))
                for _ in range(random.randrange(12)):
                    await asyncio.sleep(0)

        async with asyncio.TaskGroup() as group:
            ending = group.create_task(end_of(line(Delayed(log, random), "alice"), sit("alice", ALICE)))
            group.create_task(mallory(line(Delayed(log, random), "mallory")))
        match ending.result():
            case TableRoundResult(weapons=weapons):
                assert weapons == {"alice": ROCK, "mallory": PAPER}
            case ActionMissing(expected=expected):
                assert expected == ("mallory",)
            case error:
                assert isinstance(
                    error, UnexpectedAction | UnexpectedSender | MalformedAction | NoSuchWeapon | CommitmentNotOpened
                )
                assert error.client_id == "mallory"
        received = await actions_on(log)
        if RA in received:
            assert [type(each) for each in received[: received.index(RA)]].count(Play) >= 2

    run_virtual(scenario())


# ---------------------------------------------------------------------------------------------------------- cancelling


def test_a_round_can_be_cancelled_wherever_it_waits() -> None:
    async def scenario(number: int) -> bool:
        log, alice, random, seen = MemoryTransport(), sit("alice", ALICE), Random(0), []
        seen.append(alice.state)
        alice.show = lambda _action, played: seen.append(played.state)
        other = asyncio.create_task(end_of(line(Delayed(log, random), "mallory"), sit("mallory", BY_MALLORY)))
        queue = ActionQueue(line(Delayed(log, random), "alice"), ACTIONS)
        cancelled = await cancelled_at(number, run(plays_and_reveals(within=HOUR), queue, alice))
        other.cancel()
        await asyncio.gather(other, return_exceptions=True)
        assert alice.state is seen[-1]
        assert (alice.result is None) is cancelled
        return cancelled

    assert at_every_wait(scenario) > 6


def test_who_crashes_in_a_round_comes_back_to_it() -> None:
    """With its secret and the log alone: it opens what it had committed to, and says nothing twice."""

    async def alice(log: Transport) -> Round:
        round_ = Round(TABLE_ID, CLIENTS, "alice", randomness=seeded(b"\xa1" * 32, TABLE_ID + b"round 1"))
        transport = line(log, "alice")
        queue = ActionQueue(transport, ACTIONS, said=await said_before(transport, ACTIONS, "alice"))
        await run(plays_and_reveals(within=HOUR), queue, round_)
        return round_

    async def scenario(number: int) -> bool:
        log, random, mallory = MemoryTransport(), Random(0), sit("mallory", BY_MALLORY)
        other = asyncio.create_task(end_of(line(Delayed(log, random), "mallory"), mallory))
        crashed = await cancelled_at(number, alice(Delayed(log, random)))
        back = await alice(Delayed(log, random))
        assert back.result is not None
        assert await other == back.result
        assert log.length() == 4
        return crashed

    assert at_every_wait(scenario) > 6


async def test_who_comes_back_without_its_secret_says_nothing_else() -> None:
    log = MemoryTransport()
    await say(log, A)
    transport = line(log, "alice")
    queue = ActionQueue(transport, ACTIONS, said=await said_before(transport, ACTIONS, "alice"))
    with pytest.raises(SaidOtherwise):
        await run(plays_and_reveals(within=HOUR), queue, Round(TABLE_ID, CLIENTS, "alice"))
    assert log.length() == 1


# --------------------------------------------------------------------------------------------- commitments and weapons


def test_a_commitment_binds_the_game_the_table_the_client_and_the_weapon() -> None:
    tag = keccak256(b"Forcemove table: rock-paper-scissors: a weapon is hidden")
    packed = tag + TABLE_ID + keccak256(b"alice") + bytes(31) + b"\x02" + b"\xa1" * 32
    assert len(packed) == 160
    assert commitment_of(TABLE_ID, "alice", Opening(SCISSORS, b"\xa1" * 32)) == keccak256(packed)


def test_equal_weapons_do_not_look_equal() -> None:
    def committed(name: str) -> str:
        round_ = Round(TABLE_ID, CLIENTS, name, lambda _: ROCK)
        return commitment_of(TABLE_ID, "alice", round_.opening()).hex()

    assert len({committed("alice") for _ in range(100)}) == 100


def test_weapon_and_salt_come_from_the_source_that_is_given() -> None:
    asked: list[int] = []
    source = stream("alice")

    def counted(length: int) -> bytes:
        asked.append(length)
        return source(length)

    round_ = Round(TABLE_ID, CLIENTS, "alice", lambda randomness: Weapon(randomness(1)[0] % 3), counted)
    assert round_.opening() is round_.opening()
    assert asked == [1, 32]


def test_a_weapon_is_drawn_without_favour() -> None:
    assert [any_weapon(scripted(each)) for each in range(3)] == [ROCK, PAPER, SCISSORS]
    assert any_weapon(scripted(255, 254)) is SCISSORS


def test_nothing_secret_shows_in_a_rounds_repr() -> None:
    alice = sit("alice", ALICE)
    ends(alice)
    assert ALICE.salt.hex() not in repr(alice)
    assert repr(ALICE.salt) not in repr(alice)
    assert "ROCK" not in repr(alice)


@pytest.mark.parametrize("weapon", [0, 3, True, "rock", None])
async def test_who_chooses_must_choose_a_weapon(weapon: Any) -> None:
    log = MemoryTransport()
    assert isinstance(await end_of(log, Round(TABLE_ID, CLIENTS, "alice", lambda _: weapon)), InvalidValue)
    assert log.length() == 0


@pytest.mark.parametrize(
    ("table_id", "clients", "client_id"),
    [
        (b"", CLIENTS, "alice"),
        (TABLE_ID, ("alice",), "alice"),
        (TABLE_ID, ("alice", "alice"), "alice"),
        (TABLE_ID, ("alice", "bob", "mallory"), "alice"),
        (TABLE_ID, ("alice", ""), "alice"),
        (TABLE_ID, CLIENTS, "bob"),
    ],
    ids=["no table id", "alone", "against oneself", "three", "nobody", "a stranger"],
)
def test_a_round_is_between_two(table_id: bytes, clients: tuple[str, ...], client_id: str) -> None:
    with pytest.raises(InvalidValue):
        Round(table_id, clients, client_id)


def test_actions_are_no_others_than_these_two() -> None:
    with pytest.raises(MalformedAction) as refused:
        ACTIONS.decode(b'{"client_id":"mallory","type":"Draw"}')
    assert refused.value.client_id == "mallory"


@pytest.mark.parametrize(
    "said",
    [(RA,), (A, RA), (A, A), (A, M, RA, RA), (A, M, M), (play("eve", ALICE),), (A, M, reveal("eve", ALICE))],
    ids=["reveals first", "reveals before the last play", "plays twice", "reveals twice", "plays again",
         "a stranger plays", "a stranger reveals"],
)  # fmt: skip
def test_the_game_itself_refuses_what_is_out_of_turn(said: tuple[Said, ...]) -> None:
    """A replay needs no steps to find it."""
    game = HiddenRound({each.client_id: {"choice": each.choice, "salt": each.salt} for each in (RA, RM)})
    state = sit("alice", ALICE).state
    *before, last = map(msgspec.to_builtins, said)
    for action in before:
        state = play_action(game, state, action).state
    with raising(ActionNotDue(last["client_id"], last["type"])):
        play_action(game, state, last)
