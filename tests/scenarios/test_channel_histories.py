"""A channel's history names every signed state, log and transaction exactly once, in an order that the line and the
chain confirm, whatever is killed, disputed or undone."""

from __future__ import annotations

from collections import Counter

import pytest

from forcemove.history.entries import (
    Entry,
    FaultFound,
    LogIncluded,
    LogPosition,
    LogReorged,
    StateAccepted,
    StateSigned,
    TxMined,
    TxReorged,
    TxRequested,
    TxSent,
)
from forcemove.protocol.encoding import hash_state
from forcemove.protocol.types import SignedState
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.installed import GAMES_FOR_TWO
from tests.sampled import with_sample
from tests.scenarios.eventful import EventfulGame
from tests.scenarios.story import Player, Playground

SEEDS = range(200)
SAMPLE = range(12)


@pytest.fixture(params=with_sample(SEEDS, SAMPLE))
def eventful(playground: Playground, request: pytest.FixtureRequest) -> EventfulGame:
    seed: int = request.param
    made = EventfulGame(playground, GAMES_FOR_TWO[seed % len(GAMES_FOR_TWO)], seed)
    made.play()
    return made


def name_of(game: EventfulGame, signed: SignedState) -> tuple[int, bytes]:
    return signed.state.turn_num, hash_state(game.story.agreement.channel_id, signed.state).state


def test_all_is_named_once_and_in_order(eventful: EventfulGame) -> None:
    for player in eventful.story.players:
        check_states(eventful, player)
        check_logs(eventful, player)
        check_transactions(eventful, player)
        times = [each.time for each in eventful.history(player).entries]
        assert all(times)
        assert eventful.history(player).unreadable == 0


def check_states(game: EventfulGame, player: Player) -> None:
    truth, other = game.truths[player.seat], game.truths[1 - player.seat]
    entries = game.history(player).entries
    signed = [name_of(game, each.signed) for each in entries if isinstance(each, StateSigned)]
    accepted = [name_of(game, each.signed) for each in entries if isinstance(each, StateAccepted)]
    moved = [each for each in truth.signed if each[0] % 2 == player.seat]
    assert signed == moved
    assert sorted(accepted) == sorted(truth.accepted.keys() - set(moved))
    assert max(Counter(signed + accepted).values()) == 1
    on_line = dict.fromkeys(name_of(game, each) for each in truth.sent if each.state.turn_num % 2 == player.seat)
    assert [each for each in signed if each in on_line] == list(on_line)
    by_message = [each for each in entries if isinstance(each, StateAccepted) and not each.from_chain]
    assert {name_of(game, each.signed) for each in by_message} <= {name_of(game, each) for each in other.sent}


def check_logs(game: EventfulGame, player: Player) -> None:
    """Those that stand are the chain's, in its order; no log is there twice unless it was removed in between."""
    story, there = game.story, dict[LogPosition, int]()
    for each in game.history(player).entries:
        match each:
            case LogIncluded(position=position):
                there[position] = there.get(position, 0) + 1
            case LogReorged(position=position):
                there[position] -= 1
            case _:
                continue
        assert there[position] in (0, 1)
    standing = [each for each in game.standing(player) if isinstance(each, LogIncluded)]
    last = story.chain.block_number()
    placed = story.adjudicator.logs(story.agreement.channel_id, story.first_block, last)
    assert [each.log for each in standing] == [each.log for each in placed]
    assert [each.position.block_hash for each in standing] == [each.place.block_hash for each in placed]
    assert [each.position.log_index for each in standing] == [each.place.log_index for each in placed]


def check_transactions(game: EventfulGame, player: Player) -> None:
    """Each is sent once and mined once where it stands, after it was asked for, and the chain has it in that block. The
    very same one may be sent again after a reorganisation has removed it, and after a process that has died since then
    was followed by one that asks for it again."""
    entries = game.history(player).entries
    sent = [each.transaction_hash for each in entries if isinstance(each, TxSent)]
    removed = Counter(each.transaction_hash for each in entries if isinstance(each, TxReorged))
    asked = Counter(each.request for each in entries if isinstance(each, TxRequested))
    request_of = {each.transaction_hash: each.request for each in entries if isinstance(each, TxSent)}
    allowed = {hash_: asked[request] + removed[hash_] for hash_, request in request_of.items()}
    assert {hash_: count for hash_, count in Counter(sent).items() if count > allowed[hash_]} == {}
    requests = set[bytes]()
    for each in entries:
        if isinstance(each, TxRequested):
            requests.add(each.request)
        elif isinstance(each, TxSent | TxMined):
            assert each.request in requests
    mined = [each for each in game.standing(player) if isinstance(each, TxMined)]
    assert {each.transaction_hash for each in mined} <= set(sent)
    assert len({each.transaction_hash for each in mined}) == len(mined)
    story = game.story
    placed = story.adjudicator.logs(story.agreement.channel_id, story.first_block, story.chain.block_number())
    ours = {each.place.transaction_hash: each.place.block_hash for each in placed}
    ours = {hash_: block for hash_, block in ours.items() if hash_ in sent}
    assert {each.transaction_hash: each.block_hash for each in mined} == ours


def kinds(entries: list[Entry]) -> Counter[str]:
    return Counter(type(each).__name__ for each in entries)


def test_the_games_are_eventful(playground: Playground) -> None:
    """Else the test above would prove little."""
    found, deaths, reorganisations = Counter[str](), 0, 0
    for seed in range(16):
        game = EventfulGame(playground, TIC_TAC_TOE, seed)
        game.play()
        deaths, reorganisations = deaths + game.deaths, reorganisations + game.reorganisations
        for player in game.story.players:
            found += kinds(list(game.history(player).entries))
    assert deaths > 5
    assert reorganisations > 5
    needed = (StateSigned, StateAccepted, LogIncluded, LogReorged, TxRequested, TxSent, TxMined, TxReorged, FaultFound)
    assert all(found[each.__name__] for each in needed), found
