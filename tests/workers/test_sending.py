"""What an operation needs at most, by our own table, is enough for every honest use on a real chain: of the games, and
of the largest channels. Hole 27: what was given less has reverted in each block."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from forcemove import Key, VariablePart
from forcemove.chain.adjudicator import Adjudicator, Operation
from forcemove.chain.local import AnvilChain
from forcemove.protocol.machine import effects
from forcemove.protocol.rules import build_support_proof
from forcemove.protocol.types import ETHER, MAX_ALLOCATIONS, MAX_APP_DATA, MAX_PARTICIPANTS, Outcome
from forcemove.sender.pricing import gas_limit
from forcemove.workers.tx_requests import gas_of
from forcemove_games.rock_paper_scissors import GAME as ROCK_PAPER_SCISSORS
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from scripts.measuring.bench import chain_of_fork
from tests.chain.world import World, deploy_contract, make_world
from tests.protocol.builders import ALICE, allocation, count_data, fixed_part, players, proof, sign, sign_all, state
from tests.scenarios.story import Playground

EVERYBODY = players(MAX_PARTICIPANTS)
PAYEES = [bytes.fromhex(f"{0x1000 + index:040x}") for index in range(MAX_ALLOCATIONS)]


@pytest.fixture(scope="module", params=["today", "amsterdam"])
def chain(request: pytest.FixtureRequest) -> Iterator[AnvilChain]:
    """An anvil, and a chain of the next fork."""
    with AnvilChain() if request.param == "today" else chain_of_fork(request.param) as made:
        yield made


@pytest.fixture(scope="module")
def world(chain: AnvilChain) -> World:
    return make_world(chain)


def send(adjudicator: Adjudicator, submission: effects.Submission, operation: Operation, key: Key = ALICE) -> None:
    """With the limit that a sender gives it when no endpoint says more, and less than the table says used."""
    chain, call = adjudicator.chain, adjudicator.call_of(operation)
    row = gas_of(submission, call.data, chain.ask_prices())
    signed = chain.sign_as(call, key, chain.nonce_of(key.address), gas_limit(row, (), 0), chain.fees())
    chain.broadcast(signed)
    assert chain.wait(signed, adjudicator.errors).gas_used <= row


def paid_out(count: int) -> Outcome:
    """To accounts that nobody has used."""
    return tuple(allocation(PAYEES[index], index + 1) for index in range(count))


@pytest.mark.parametrize(
    ("participants", "allocations", "app_bytes"), [(2, 2, 32), (3, 3, 32), (8, 32, 32), (8, 32, MAX_APP_DATA)]
)
def test_every_operation_is_mined_with_the_gas_of_our_own_table(
    world: World, participants: int, allocations: int, app_bytes: int
) -> None:
    adjudicator, keys, outcome = world.adjudicator, EVERYBODY[:participants], paid_out(allocations)
    app = deploy_contract(world.chain, "PermissiveApp")
    fixed = fixed_part(keys, allocations * 10_000 + app_bytes, app=app)
    total, id_ = sum(each.amount for each in outcome), world.id_of(fixed)

    def at(turn: int) -> VariablePart:
        return state(turn, outcome, app_data=count_data(turn, participants).ljust(app_bytes, b"\xff"))

    send(adjudicator, effects.SubmitDeposit(ETHER, 0, total), adjudicator.deposit(id_, ETHER, 0, total))
    first = 10 * participants
    given = proof(*map(at, range(first, first + participants)), keys=keys, fixed=fixed, domain=world.domain)
    last = at(first + participants - 1)
    signer = keys[last.turn_num % participants]
    if world.chain.balance(signer.address) == 0:
        world.chain.rpc.ask("anvil_setBalance", "0x" + signer.address.hex(), hex(10**20))
    send(adjudicator, effects.SubmitChallenge(given), adjudicator.challenge(fixed, given), signer)
    response = at(first + participants)
    signature = sign(keys[response.turn_num % participants], response, fixed, world.domain)
    send(
        adjudicator,
        effects.SubmitRespond(last, response, signature),
        adjudicator.respond(fixed, last, response, signature),
    )
    later = first + participants + 1
    newer = proof(*map(at, range(later, later + participants)), keys=keys, fixed=fixed, domain=world.domain)
    send(adjudicator, effects.SubmitCheckpoint(newer), adjudicator.checkpoint(fixed, newer))
    turn = later + participants
    final = VariablePart(outcome, b"", turn, True)
    signatures = sign_all(final, keys=keys, fixed=fixed, domain=world.domain)
    send(
        adjudicator,
        effects.SubmitConclude(outcome, turn, signatures),
        adjudicator.conclude(fixed, outcome, turn, signatures),
    )
    assert world.chain.balance(PAYEES[0]) > 0


@pytest.mark.parametrize("allocations", [2, 32])
def test_a_finalised_channel_is_paid_out_with_the_gas_of_our_own_table(world: World, allocations: int) -> None:
    adjudicator, outcome = world.adjudicator, paid_out(allocations)
    fixed = fixed_part(EVERYBODY[:2], 77_000 + allocations, app=deploy_contract(world.chain, "PermissiveApp"))
    total, id_ = sum(each.amount for each in outcome), world.id_of(fixed)
    send(adjudicator, effects.SubmitDeposit(ETHER, 0, total), adjudicator.deposit(id_, ETHER, 0, total))
    states = [state(turn, outcome, app_data=count_data(turn, 2)) for turn in (20, 21)]
    given = proof(*states, keys=EVERYBODY[:2], fixed=fixed, domain=world.domain)
    signer = EVERYBODY[1]
    world.chain.rpc.ask("anvil_setBalance", "0x" + signer.address.hex(), hex(10**20))
    send(adjudicator, effects.SubmitChallenge(given), adjudicator.challenge(fixed, given), signer)
    world.chain.travel_to(adjudicator.status_of(id_, ETHER).finalizes_at + 1)
    state_hash = world.state_hash(fixed, states[-1])
    send(
        adjudicator,
        effects.SubmitTransfer(state_hash, outcome, ((ETHER, total),)),
        adjudicator.transfer(id_, ETHER, state_hash, outcome),
    )


@pytest.mark.parametrize("game", [TIC_TAC_TOE, ROCK_PAPER_SCISSORS])
def test_a_challenge_of_each_turn_of_the_games_is_mined_with_the_gas_of_our_own_table(
    chain: AnvilChain, game: object
) -> None:
    story = Playground.on(chain).story(game)  # type: ignore[arg-type]
    story.play_until(9)
    recorded, states = 3, story.alice.states
    for count in range(1, len(states) + 1):
        given = build_support_proof(story.agreement.fixed_part, states[:count])
        if given is not None and given.last.turn_num > recorded:
            recorded = given.last.turn_num
            operation = story.adjudicator.checkpoint(story.agreement.fixed_part, given)
            send(story.adjudicator, effects.SubmitCheckpoint(given), operation)
    assert recorded == 9
