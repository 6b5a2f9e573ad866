"""Machines joined in memory: whole channels, and every input in every phase."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from forcemove import ETHER, UINT48_MAX, Channel, ForcemoveError, Game, Phase, SignedState, VariablePart, word
from forcemove.protocol.errors import MessageRefused
from forcemove.protocol.logs import Checkpointed, Closed, Deposited
from forcemove.protocol.machine import inputs
from forcemove.protocol.machine.effects import SendState, SubmitTransfer
from forcemove.protocol.machine.machine import step
from tests.installed import GAMES_FOR_TWO
from tests.protocol.builders import players, sign
from tests.protocol.table import DEPOSIT, Seat, Table, agreed_table, counting_table, open_table, playing

# ------------------------------------------------------------------------------------------------------ whole channels


def closed_with(table: Table) -> None:
    """Everybody has seen the channel closed, and has been paid what the last state says."""
    newest = table.seats[0].newest.state
    assert newest.is_final
    for seat in table.seats:
        assert seat.phase is Phase.CLOSED
        assert seat.newest.state == newest
        assert seat.faults == []
        assert table.balances[seat.key.address] == newest.outcome[seat.index].amount - DEPOSIT
    assert table.held == 0
    assert table.refused == []


@pytest.mark.parametrize("last_turn", [4, 12, 33])
@pytest.mark.parametrize("game", GAMES_FOR_TWO, ids=lambda game: game.name)
def test_a_game_is_played_to_its_end(game: Game, last_turn: int) -> None:
    table = Table(game, [playing(game.bot(seat), last_turn) for seat in (0, 1)])
    table.run()
    closed_with(table)


@pytest.mark.parametrize("last_turn", [10, 11, 12])
@pytest.mark.parametrize("count", [2, 3, 5])
def test_any_number_plays_and_any_of_them_ends_it(count: int, last_turn: int) -> None:
    table = counting_table(count, last_turn)
    table.run()
    closed_with(table)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("last_turn", [6, 7, 8])
def test_whoever_signs_what_everybody_pays_one_transaction_for(count: int, last_turn: int) -> None:
    """Deposits, and one conclusion by the maker of the final state."""
    table = counting_table(count, last_turn)
    table.run()
    sent = [type(each).__name__ for seat in table.seats for each in seat.submitted]
    assert sorted(sent) == ["SubmitConclude", *["SubmitDeposit"] * count]


def test_a_state_is_sent_once_where_nothing_is_lost() -> None:
    table = counting_table()
    table.run()
    assert len(table.messages) == table.seats[0].newest.state.turn_num + 2  # the final state comes back countersigned


# ------------------------------------------------------------------------------------------- every input in every phase


def fresh() -> Table:
    return counting_table()


def prefund() -> Table:
    table = counting_table()
    table.run(table.seats[:1])
    return table


def funding() -> Table:
    return agreed_table()


def ours() -> Table:
    return open_table(until=3)


def theirs() -> Table:
    return open_table(until=4)


def concluding() -> Table:
    table = ours()
    table.seats[0].feed(inputs.ConcludeWanted())
    return table


def challenged() -> Table:
    """By Bob, with the state that Alice has to move on."""
    table = ours()
    table.seats[1].feed(inputs.ChallengeWanted())
    table.seats[0].read_chain()
    return table


def waiting() -> Table:
    """For Bob to answer our challenge."""
    table = theirs()
    table.seats[0].feed(inputs.ChallengeWanted())
    table.seats[0].read_chain()
    return table


def finalized() -> Table:
    table = waiting()
    table.wait_for_expiry()
    return table


def closed() -> Table:
    table = finalized()
    table.run(table.seats[:1])
    return table


SITUATIONS: dict[str, tuple[Callable[[], Table], Phase]] = {
    "fresh": (fresh, Phase.CHECKING),
    "prefund": (prefund, Phase.PREFUND),
    "funding": (funding, Phase.FUNDING),
    "ours": (ours, Phase.PLAYING),
    "theirs": (theirs, Phase.PLAYING),
    "concluding": (concluding, Phase.CONCLUDING),
    "challenged": (challenged, Phase.CHALLENGED),
    "waiting": (waiting, Phase.CHALLENGED),
    "finalized": (finalized, Phase.FINALIZED),
    "closed": (closed, Phase.CLOSED),
}


def next_state(alice: Seat) -> VariablePart:
    """What could follow, in any participant's turn."""
    channel = alice.channel
    if channel.next_turn < 4:
        return channel.agreement.setup_state(channel.next_turn)
    before = alice.newest.state
    if before.is_final:
        return replace(before, turn_num=channel.next_turn)
    return VariablePart(before.outcome, word(channel.next_turn), channel.next_turn)


def by_bob(alice: Seat, state: VariablePart) -> inputs.StateReceived:
    return inputs.StateReceived(alice.table.signed(state, 1))


def a_state(alice: Seat) -> inputs.Input:
    return by_bob(alice, next_state(alice))


def our_own_state(alice: Seat) -> inputs.Input:
    state = alice.newest.state if alice.channel.newest else next_state(alice)
    return inputs.StateReceived(alice.table.signed(state, state.turn_num % 2))


def another_state(alice: Seat) -> inputs.Input:
    """Of Bob's newest turn, signed by him."""
    turn = (alice.channel.next_turn - 1) // 2 * 2 - 1 if alice.channel.next_turn % 2 else alice.channel.next_turn - 1
    other = replace(alice.channel.agreement.setup_state(max(turn, 1)), app_data=word(77))
    return by_bob(alice, other)


def an_early_state(alice: Seat) -> inputs.Input:
    return by_bob(alice, replace(next_state(alice), turn_num=alice.channel.next_turn + 2))


def an_illegal_state(alice: Seat) -> inputs.Input:
    state = next_state(alice)
    return by_bob(alice, replace(state, app_data=b"" if not state.is_final else b"x"))


def a_forged_state(alice: Seat) -> inputs.Input:
    state = next_state(alice)
    signature = sign(players(2)[0], replace(state, turn_num=99), alice.channel.agreement.fixed_part)
    return inputs.StateReceived(SignedState(state, {state.turn_num % 2: signature}))


def a_state_of_nobody(alice: Seat) -> inputs.Input:
    return inputs.StateReceived(SignedState(next_state(alice)))


def a_move(alice: Seat) -> inputs.Input:
    return inputs.MoveChosen(alice.channel.agreement.outcome, word(alice.channel.next_turn))


def an_illegal_move(alice: Seat) -> inputs.Input:
    return inputs.MoveChosen(alice.channel.agreement.outcome, word(99))


def a_record(alice: Seat) -> inputs.Input:
    """Both have signed the next state, and somebody has shown it to the chain."""
    state = next_state(alice)
    signatures = alice.table.signed(state, 0, 1).signatures
    return inputs.LogSeen(Checkpointed(alice.channel.agreement.channel_id, state, (signatures[0], signatures[1])))


def a_deposit(alice: Seat) -> inputs.Input:
    return inputs.LogSeen(Deposited(alice.channel.agreement.channel_id, ETHER, 7))


def the_end(alice: Seat) -> inputs.Input:
    return inputs.LogSeen(Closed(alice.channel.agreement.channel_id))


def the_whole_chain(alice: Seat) -> inputs.Input:
    return inputs.ChainUpdate(
        (*map(inputs.LogSeen, alice.table.logs), inputs.HoldingsSeen(ETHER, alice.table.held)), from_scratch=True
    )


def a_failure(alice: Seat) -> inputs.Input:
    return inputs.SubmissionFailed(SubmitTransfer(bytes(32), alice.channel.agreement.outcome, ()))


INPUTS: dict[str, Callable[[Seat], inputs.Input]] = {
    "contracts genuine": lambda _: inputs.ContractsGenuine(),
    "state": a_state,
    "known state": our_own_state,
    "another state": another_state,
    "early state": an_early_state,
    "illegal state": an_illegal_state,
    "forged state": a_forged_state,
    "unsigned state": a_state_of_nobody,
    "move": a_move,
    "illegal move": an_illegal_move,
    "conclude": lambda _: inputs.ConcludeWanted(),
    "challenge": lambda _: inputs.ChallengeWanted(),
    "record": a_record,
    "deposit": a_deposit,
    "nothing held": lambda _: inputs.HoldingsSeen(ETHER, 0),
    "closed": the_end,
    "chain": the_whole_chain,
    "failure": a_failure,
    "greeting": lambda _: inputs.Greeted(1, 0),
    "greeting of one ahead": lambda _: inputs.Greeted(1, UINT48_MAX + 1),
    "greeting of ourselves": lambda _: inputs.Greeted(0, 0),
    "greeting of nobody": lambda _: inputs.Greeted(2, 0),
    "reconnected": lambda _: inputs.Reconnected(),
    "tick": lambda _: inputs.Tick(),
}

# What the machine says to Alice: `-` takes it in, `!` it is the counterparty's fault. One column for each situation.
EXPECTED = {
    #                   fresh prefund funding ours theirs concluding challenged waiting finalized closed
    "contracts genuine": "- - - - - - - - - -",
    "state": "!SignatureMissing - !SignatureMissing !SignatureMissing - - !SignatureMissing - - -",
    "known state": "- - - - - - - - - -",
    "another state": "- !OpeningMismatch" + " !StateConflict" * 6 + " - -",
    "early state": "- - - - - - - - - -",
    "illegal state": "!OpeningMismatch !OpeningMismatch !AppDataChanged !MalformedCount !MalformedCount "
    "!FinalStateWithAppData !MalformedCount !MalformedCount - -",
    "forged state": "!WrongSigner " * 8 + "- -",
    "unsigned state": "!SignatureMissing " * 8 + "- -",
    "move": "WrongPhase WrongPhase WrongPhase - OutOfTurn WrongPhase - OutOfTurn WrongPhase WrongPhase",
    "illegal move": "WrongPhase WrongPhase WrongPhase WrongCount OutOfTurn WrongPhase WrongCount OutOfTurn "
    "WrongPhase WrongPhase",
    "conclude": "- - - - - - - - WrongPhase WrongPhase",
    "challenge": "WrongPhase WrongPhase - OutOfTurn - - WrongPhase WrongPhase WrongPhase WrongPhase",
    "record": "- - - - - - - - - -",
    "deposit": "- - - - - - - - - -",
    "nothing held": "- - - - - - - - - -",
    "closed": "- - - - - - - - - -",
    "chain": "- - - - - - - - - -",
    "failure": "- - - - - - - - - -",
    "greeting": "- - - - - - - - - -",
    "greeting of one ahead": "- - - - - - - - - -",
    "greeting of ourselves": "- " * 10,
    "greeting of nobody": "!InvalidValue " * 10,
    "reconnected": "- - - - - - - - - -",
    "tick": "- - - - - - - - - -",
}


def verdict(alice: Seat, input_: inputs.Input) -> str:
    try:
        step(alice.channel, input_, alice.table.now, alice.key, alice.table.app)
    except MessageRefused as error:
        return "!" + type(error.reason).__name__
    except ForcemoveError as error:
        return type(error).__name__
    return "-"


def test_the_table_is_complete() -> None:
    assert list(EXPECTED) == list(INPUTS)
    assert {phase for _, phase in SITUATIONS.values()} == set(Phase)


@pytest.mark.parametrize("situation", SITUATIONS)
def test_every_input_is_taken_in_or_refused_by_name(situation: str) -> None:
    make, phase = SITUATIONS[situation]
    alice = make().seats[0]
    assert alice.phase is phase
    column = list(SITUATIONS).index(situation)
    found = {name: verdict(alice, make_input(alice)) for name, make_input in INPUTS.items()}
    assert found == {name: row.split()[column] for name, row in EXPECTED.items()}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_nothing_is_signed_twice_or_differently_whatever_two_inputs_come(situation: str) -> None:
    """All pairs: what the first one has let Alice sign, the second does not contradict."""
    alice = SITUATIONS[situation][0]().seats[0]
    for first in INPUTS.values():
        once, signed = apply(alice, alice.channel, first(alice))
        for second in INPUTS.values():
            more = apply(alice, once, second(alice))[1]
            for turn, state in more.items():
                assert signed.get(turn, state) == state


def apply(alice: Seat, channel: Channel, input_: inputs.Input) -> tuple[Channel, dict[int, VariablePart]]:
    """The channel afterwards, and what Alice has signed in it, by turn."""
    try:
        channel, effects = step(channel, input_, alice.table.now, alice.key, alice.table.app)
    except ForcemoveError:
        return channel, {}
    sent = (effect.signed for effect in effects if isinstance(effect, SendState))
    return channel, {each.state.turn_num: each.state for each in sent if 0 in each.signatures}
