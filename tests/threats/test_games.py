"""What an app cannot do, and what the games must not let happen: rows 14, 18 and 20 of the list of attacks."""

from __future__ import annotations

from itertools import product

import pytest
from msgspec.structs import replace

from forcemove import AppError, FixedPart, Game, Outcome, VariablePart
from forcemove.testing.calls import ID, Bench, TransitionCall
from forcemove_games.commitment import SALT_LENGTH, Opening, commit
from forcemove_games.rock_paper_scissors import GAME as ROCK_PAPER_SCISSORS
from forcemove_games.rock_paper_scissors import rules as rps
from forcemove_games.rock_paper_scissors.openings import decode_openings, pre_commit_of
from forcemove_games.rock_paper_scissors.position import PositionType, Weapon
from forcemove_games.rock_paper_scissors.position import initial as initial_rps
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from forcemove_games.tic_tac_toe.position import Position as Board
from forcemove_games.tic_tac_toe.position import PositionType as Kind
from forcemove_games.tic_tac_toe.position import decode as decode_board
from forcemove_games.tic_tac_toe.rules import legal_moves
from forcemove_games.two_player import shift
from tests.evm import decode_error
from tests.expected import known
from tests.installed import each_game
from tests.parity.tic_tac_toe_space import boards, marks, moves
from tests.protocol.builders import ALICE, BOB, allocation, outcome, state, terms
from tests.threats.court import ALLOWED, Court

A, B = ALICE.address, BOB.address
STAKE = 3
SALT = b"\x5a" * 32
CHANNEL_ID, PRE_COMMIT, PROPOSED_AT, B_PLAY, A_PLAY, SALT_WORD = range(2, 8)


# --------------------------------------------------------------------------------------------------------------- 14


def changed_outcomes(token: bytes) -> dict[str, tuple[Outcome, str]]:
    """Of ten and ten."""
    return {
        "more": (outcome(11, 10), "TotalChanged"),
        "less": (outcome(10, 9), "TotalChanged"),
        "nothing": (outcome(0, 0), "TotalChanged"),
        "all there is": (outcome(2**256 - 1, 0), "TotalChanged"),
        "round the corner": (outcome(2**255, 2**255 + 20), "OutcomeTotalOverflow"),
        "another entry": ((*outcome(10, 10), allocation(B, 1)), "TotalChanged"),
        "another asset": (outcome(10, 10, asset=token), "AssetsChanged"),
        "one asset more": ((*outcome(10, 10), allocation(B, 1, token)), "AssetsChanged"),
    }


@pytest.mark.parametrize("app", ["PermissiveApp", "CountingApp"])
@pytest.mark.parametrize("change", changed_outcomes(bytes(20)))
def test_threat_14_no_app_can_change_what_is_in_a_channel(court: Court, app: str, change: str) -> None:
    channel = court.channel(app=court.chain.deploy(app))
    changed, error = changed_outcomes(court.tokens["TestToken"])[change]
    assert court.challenge_with(channel, state(10), state(11, changed)).error == error
    assert court.checkpoint_with(channel, state(10), state(11, changed)).error == error
    assert court.challenge_with(channel, *(state(10), state(11))) == ALLOWED
    assert court.respond_with(channel, state(11), state(12, changed)).error == error
    assert court.respond_with(channel, state(11), state(12, outcome(20, 0))) == ALLOWED


@pytest.mark.parametrize("app", ["PermissiveApp", "CountingApp"])
def test_threat_14_the_setup_and_the_end_leave_the_outcome_as_it_is(court: Court, app: str) -> None:
    """Before play has begun and once it is over, no app is asked."""
    channel = court.channel(app=court.chain.deploy(app))
    for first in range(3):
        verdict = court.challenge_with(channel, state(first), state(first + 1, outcome(15, 5)))
        assert verdict == ("OutcomeChanged", ())
    assert court.challenge_with(channel, state(2), state(3, app_data=bytes(32))) == ("AppDataChanged", ())
    ended = state(11, outcome(15, 5), is_final=True)
    assert court.challenge_with(channel, state(10), ended) == ("OutcomeChanged", ())
    over = state(10, is_final=True)
    assert court.challenge_with(channel, over, state(11)) == ("FinalStateRequired", ())
    assert court.challenge_with(channel, over, state(11, is_final=True)) == ALLOWED


def test_threat_14_an_app_that_says_no_is_heard(court: Court) -> None:
    refusing = court.channel(app=court.chain.deploy("RefusingApp"))
    assert court.challenge_with(refusing, state(10), state(11)) == ("TransitionRefused", ())
    assert court.challenge_with(refusing, state(10), state(11, is_final=True)) == ALLOWED
    assert court.challenge_with(court.channel(), state(10), state(11, app_data=bytes(32))).error == "WrongCount"


# --------------------------------------------------------------------------------------------------------------- 18


class Judge:
    """A game's bytecode, and its twin where that is asked, too."""

    def __init__(self, game: Game) -> None:
        self._game, self._contract = game, game.artifact.name
        self._bench = Bench(game.artifact, game)

    def refusal(self, from_: VariablePart, to: VariablePart) -> str:
        """The name of the error; empty where the move is accepted."""
        accepted, data = self._bench.ask_raw(TransitionCall(from_, to).exact)
        if accepted:
            return ""
        error = known(decode_error(self._contract, data))
        return error.name

    def refusal_of_twin(self, from_: VariablePart, to: VariablePart) -> str:
        """The same of the twin."""
        try:
            self._game.valid_transition(ID, from_, to, 2)
        except AppError as error:
            return type(error).__name__
        return ""


def test_threat_18_every_reachable_board_has_a_successor_on_chain() -> None:
    """The first that our own rules offer is accepted by the contract: all 5,478 boards and the two steps between."""
    judge = Judge(TIC_TAC_TOE)
    positions = {at.app_data: at for pair in moves() for at in pair}
    assert len(positions) == 5_479
    for at in positions.values():
        successor = legal_moves(at)[0].after(at)
        assert judge.refusal(at, successor) == "", decode_board(at.app_data)


def test_threat_18_a_full_board_that_leaves_no_reply_is_refused() -> None:
    """The ninth mark declared as if play went on, wherever play can come to it: O could not move."""
    judge, refusals = Judge(TIC_TAC_TOE), set()
    for at in boards().values():
        if len(decode_board(at.app_data).free_cells) == 1:
            for successor in marks(at):
                poison = with_word(successor.app_data, 0, Kind.X_PLAYING)
                refusals.add(judge.refusal(at, after(at, 2, poison)))
    assert refusals == {"BoardFull"}


def with_word(app_data: bytes, index: int, value: int) -> bytes:
    """A position's bytes with another word, whatever a type would say to it."""
    return app_data[: 32 * index] + value.to_bytes(32, "big") + app_data[32 * index + 32 :]


def after(at: VariablePart, stakes: int, app_data: bytes) -> VariablePart:
    """The next state, in which its mover takes this many stakes."""
    turn_num = at.turn_num + 1
    return VariablePart(shift(at.outcome, turn_num % 2, stakes * STAKE), app_data, turn_num)


def start(turn_num: int = 10, channel_id: bytes = ID) -> VariablePart:
    return state(turn_num, app_data=initial_rps(channel_id, STAKE).encode())


def opening(weapon: Weapon) -> Opening:
    return Opening(weapon, SALT)


def proposed(weapon: Weapon, channel_id: bytes = ID) -> VariablePart:
    begin = start(channel_id=channel_id)
    return rps.propose(begin, opening(weapon)).after(begin)


def accepted(a_play: Weapon, b_play: Weapon, channel_id: bytes = ID) -> VariablePart:
    offer = proposed(a_play, channel_id)
    return rps.accept(offer, b_play).after(offer)


def revealed(a_play: Weapon, b_play: Weapon) -> VariablePart:
    before = accepted(a_play, b_play)
    return rps.reveal(before, opening(a_play)).after(before)


def opened(at: VariablePart, weapon: Weapon, salt: bytes) -> bytes:
    """What A would sign to open its commitment, true or not."""
    return with_word(
        with_word(with_word(at.app_data, 0, PositionType.REVEAL), A_PLAY, weapon),
        SALT_WORD,
        int.from_bytes(salt, "big"),
    )


def test_threat_18_every_position_of_a_round_has_a_successor_on_chain() -> None:
    """Those that can be opened, with every weapon of both."""
    judge = Judge(ROCK_PAPER_SCISSORS)
    for a_play, b_play in product(Weapon, Weapon):
        for at in (start(), proposed(a_play), accepted(a_play, b_play), revealed(a_play, b_play)):
            successors = [move.after(at) for move in rps.legal_moves(at, opening(a_play))]
            assert successors
            assert [judge.refusal(at, each) for each in successors] == [""] * len(successors)


@pytest.mark.parametrize("weapon", [3, 4, 255, 2**255])
def test_threat_18_b_plays_no_weapon_that_a_could_not_answer(weapon: int) -> None:
    judge, at = Judge(ROCK_PAPER_SCISSORS), proposed(Weapon.ROCK)
    good = accepted(Weapon.ROCK, Weapon.PAPER)
    assert judge.refusal(at, good) == ""
    assert judge.refusal(at, replace(good, app_data=with_word(good.app_data, B_PLAY, weapon))) == "MalformedPosition"


@each_game
def test_threat_18_concluding_is_a_successor_of_every_position(court: Court, game: Game) -> None:
    """No game is asked: also where somebody cannot pay for another round."""
    channel = court.channel(app=court.chain.deploy(game.artifact.name))
    poor = state(10, outcome(0, 20), app_data=game.initial_app_data(terms(STAKE)))
    ended = state(11, outcome(0, 20), is_final=True)
    assert court.challenge_with(channel, poor) == ALLOWED
    assert court.respond_with(channel, poor, ended, mover=BOB) == ALLOWED


def test_threat_18_nobody_marks_an_occupied_cell() -> None:
    judge = Judge(TIC_TAC_TOE)
    at = VariablePart(outcome(10, 10), Board(Kind.X_PLAYING, STAKE, 0, 0b100_000_000).encode(), 10)
    good = Board(Kind.O_PLAYING, STAKE, 0b010_000_000, 0b100_000_000).encode()
    assert judge.refusal(at, after(at, 2, good)) == ""
    assert judge.refusal(at, after(at, 2, with_word(good, 2, 0b100_000_000))) == "MarksOverlap"
    assert judge.refusal(at, after(at, 2, with_word(good, 2, 1 << 9))) == "MalformedPosition"


def test_threat_18_a_win_is_declared() -> None:
    """An unclaimed one would leave the other to play on in a round that it has lost."""
    judge = Judge(TIC_TAC_TOE)
    at = VariablePart(outcome(10, 10), Board(Kind.O_PLAYING, STAKE, 0b000_110_000, 0b110_000_000).encode(), 10)
    good = Board(Kind.VICTORY, STAKE, 0b000_110_000, 0b111_000_000).encode()
    assert judge.refusal(at, after(at, 2, good)) == ""
    assert judge.refusal(at, after(at, 2, with_word(good, 0, Kind.X_PLAYING))) == "UnexpectedLine"


@pytest.mark.parametrize(("a_play", "b_play"), list(product(Weapon, Weapon)))
def test_threat_18_each_of_the_nine_pairs_pays_who_won_it(a_play: Weapon, b_play: Weapon) -> None:
    """By the circle, not by `a > b`: that pays A for scissors against rock."""
    wins = {(Weapon.ROCK, Weapon.SCISSORS), (Weapon.PAPER, Weapon.ROCK), (Weapon.SCISSORS, Weapon.PAPER)}
    stakes = 1 if a_play == b_play else 2 if (a_play, b_play) in wins else 0
    judge, at = Judge(ROCK_PAPER_SCISSORS), accepted(a_play, b_play)
    for taken in range(3):
        refused = judge.refusal(at, after(at, taken, opened(at, a_play, SALT)))
        assert refused == ("" if taken == stakes else "WrongAmount")


# --------------------------------------------------------------------------------------------------------------- 20


def test_threat_20_a_commitment_is_not_guessed_from_its_three_choices() -> None:
    """Salts are 32 fresh bytes of the source that was given, never the same twice, and never none."""
    asked: list[int] = []

    def source(count: int) -> bytes:
        asked.append(count)
        return bytes((len(asked),)) * count

    openings = [Opening.fresh(Weapon.ROCK, source) for _ in range(3)]
    assert asked == [SALT_LENGTH] * 3 == [32] * 3
    assert len({each.commitment for each in openings}) == 3
    guesses = {commit(weapon, bytes(32)) for weapon in Weapon}
    assert guesses.isdisjoint(each.commitment for each in openings)
    assert len({Opening.fresh(Weapon.ROCK).salt for _ in range(100)}) == 100


def test_threat_20_every_proposal_of_a_player_has_its_own_salt() -> None:
    player = ROCK_PAPER_SCISSORS.bot(0)
    for turn_num in range(5, 205, 2):
        known(player.move(start(turn_num), another_round=True))
    assert len({each.salt for each in decode_openings(player.secrets())}) == 100


@pytest.mark.parametrize("claimed", Weapon)
def test_threat_20_a_reveals_what_it_has_committed_to(claimed: Weapon) -> None:
    """A sees B's weapon before it opens: another one than its own, or another salt, is refused by the contract."""
    judge, at = Judge(ROCK_PAPER_SCISSORS), accepted(Weapon.ROCK, Weapon.SCISSORS)
    stakes, other_salt = rps.stakes_taken_by_a(claimed, Weapon.SCISSORS), b"\x5b" * 32
    for salt in (SALT, other_salt):
        is_true = claimed is Weapon.ROCK and salt == SALT
        refused = judge.refusal(at, after(at, stakes, opened(at, claimed, salt)))
        assert refused == ("" if is_true else "WrongReveal")
    other = int.from_bytes(pre_commit_of(ID, at.turn_num - 1, Opening(claimed, other_salt)), "big")
    exchanged = with_word(opened(at, claimed, other_salt), PRE_COMMIT, other)
    assert judge.refusal(at, after(at, stakes, exchanged)) == "PreCommitChanged"


ELSEWHERE = b"\xe1" * 32
PROPOSAL = 11
"""The turn of `proposed`, on which participant 1 is A."""
COPIED = {
    "of this proposal": (ID, PROPOSAL),
    "from another channel": (ELSEWHERE, PROPOSAL),
    "from another turn": (ID, PROPOSAL - 2),
    "from the other seat": (ID, PROPOSAL - 1),
}
"""Channel and turn in which a commitment was made."""


@pytest.mark.parametrize("origin", COPIED)
def test_threat_20_a_copied_commitment_is_not_opened(origin: str) -> None:
    """A repeats a commitment that it has seen, and waits until its maker shows what opens it."""
    copied = pre_commit_of(*COPIED[origin], opening(Weapon.ROCK))
    judge, offer = Judge(ROCK_PAPER_SCISSORS), proposed(Weapon.PAPER)
    offer = replace(offer, app_data=with_word(offer.app_data, PRE_COMMIT, int.from_bytes(copied, "big")))
    assert judge.refusal(start(), offer) == ""
    at = rps.accept(offer, Weapon.SCISSORS).after(offer)
    reveal = after(at, 2, opened(at, Weapon.ROCK, SALT))
    expected = "" if origin == "of this proposal" else "WrongReveal"
    assert judge.refusal(at, reveal) == judge.refusal_of_twin(at, reveal) == expected


@pytest.mark.parametrize(("claimed", "error"), [(ID, ""), (ELSEWHERE, "OtherChannel")])
def test_threat_20_a_round_of_another_channel_is_no_round_of_this_one(claimed: bytes, error: str) -> None:
    """Else the channel that a commitment was copied from could be named: when it is made, or when it is opened."""
    judge, at = Judge(ROCK_PAPER_SCISSORS), accepted(Weapon.ROCK, Weapon.SCISSORS)
    reveal = after(at, 2, opened(at, Weapon.ROCK, SALT))
    for from_, to in ((start(), proposed(Weapon.ROCK)), (at, reveal)):
        named = replace(to, app_data=with_word(to.app_data, CHANNEL_ID, int.from_bytes(claimed, "big")))
        assert judge.refusal(from_, named) == judge.refusal_of_twin(from_, named) == error


@pytest.mark.parametrize("claimed", [PROPOSAL, PROPOSAL - 1, PROPOSAL - 2, PROPOSAL + 1, PROPOSAL + 2, 0])
def test_threat_20_a_proposal_is_of_its_own_turn_until_it_is_opened(claimed: int) -> None:
    """Else a commitment's own turn could be put into its place."""
    judge, at = Judge(ROCK_PAPER_SCISSORS), accepted(Weapon.ROCK, Weapon.SCISSORS)
    reveal = after(at, 2, opened(at, Weapon.ROCK, SALT))
    moves = (
        (start(), proposed(Weapon.ROCK), "WrongProposedAt"),
        (proposed(Weapon.ROCK), at, "ProposedAtChanged"),
        (at, reveal, "ProposedAtChanged"),
    )
    for from_, to, error in moves:
        moved = replace(to, app_data=with_word(to.app_data, PROPOSED_AT, claimed))
        expected = "" if claimed == PROPOSAL else error
        assert judge.refusal(from_, moved) == judge.refusal_of_twin(from_, moved) == expected


def test_threat_20_a_round_is_played_in_the_channel_that_it_names(court: Court) -> None:
    here = rps_channel(court)
    there, id_ = replace(here, channel_nonce=here.channel_nonce + 1), court.id_of(here)
    played = proposed(Weapon.ROCK, id_), accepted(Weapon.ROCK, Weapon.PAPER, id_)
    assert court.challenge_with(there, *played).error == "OtherChannel"
    assert court.challenge_with(here, *played) == ALLOWED


def rps_channel(court: Court) -> FixedPart:
    return court.channel(app=court.chain.deploy("RockPaperScissors"))


def test_threat_20_a_reveal_that_is_stalled_pays_b(court: Court) -> None:
    """A proposes (state 11 is Bob's to sign: the roles follow the turns), sees that it has lost, and stays away."""
    channel = rps_channel(court)
    court.fund(channel)
    id_ = court.id_of(channel)
    offer, reply = proposed(Weapon.ROCK, id_), accepted(Weapon.ROCK, Weapon.PAPER, id_)
    assert (offer.turn_num % 2, reply.turn_num % 2) == (1, 0)
    proposer, accepter = BOB, ALICE
    assert court.challenge_with(channel, offer, reply, by=accepter) == ALLOWED
    court.expire(channel)
    before = court.chain.balance(accepter.address), court.chain.balance(proposer.address)
    assert court.transfer_all(channel, reply) == ALLOWED
    gained = (
        court.chain.balance(accepter.address) - before[0],
        court.chain.balance(proposer.address) - before[1],
    )
    assert gained == (10 + STAKE, 10 - STAKE)


def test_threat_20_accepting_without_taking_the_stake_is_no_acceptance() -> None:
    judge, at = Judge(ROCK_PAPER_SCISSORS), proposed(Weapon.ROCK)
    good = accepted(Weapon.ROCK, Weapon.PAPER)
    assert judge.refusal(at, good) == ""
    assert judge.refusal(at, replace(good, outcome=at.outcome)) == "WrongAmount"
