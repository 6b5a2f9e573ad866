"""`forcemove inspect` with a real node: channels as they are there, and what the adjudicator itself would accept."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from forcemove import ETHER, AddressBook, Key, Outcome, deploy, save_book
from forcemove.chain.addresses import show_address
from forcemove.chain.adjudicator import Adjudicator, Operation
from forcemove.chain.chain import Call
from forcemove.chain.codec import function
from forcemove.chain.local import AnvilChain, local_keys
from forcemove.inspect.possibilities import ACTIONS
from forcemove.protocol.codec.wire import SignedStateFile, encode_file
from forcemove.protocol.encoding import hash_state
from forcemove.protocol.rules import build_support_proof
from forcemove.protocol.types import SignedState, SupportProof, VariablePart
from forcemove_games.tic_tac_toe import GAME
from tests.chain.world import deploy_contract
from tests.cli.command import Command
from tests.cli.saved import Saved, final_of, state_of
from tests.protocol.builders import ALICE, BOB, DAY, MALLORY, chain, fixed_part, outcome, players, sign, sign_all

MINER = local_keys()[0]
A, B = show_address(ALICE.address), show_address(BOB.address)
_nonces = itertools.count(1_000)


@dataclass(frozen=True)
class Court:
    """A deployment, its book in the current directory, and one fresh channel of Alice's and Bob's."""

    chain: AnvilChain
    book: AddressBook
    adjudicator: Adjudicator
    saved: Saved

    def send(self, operation: Operation, key: Key = ALICE) -> None:
        self.adjudicator.send(operation, key)

    def fund(self) -> None:
        self.send(self.adjudicator.deposit(self.saved.id, ETHER, 0, 20))

    def fund_with(self, contract: str, amount: int) -> bytes:
        """Pay in a fresh token of Alice's; its address."""
        token = deploy_contract(self.chain, contract)
        self.chain.send(Call(token, function("mint", contract).encode(ALICE.address, amount)), MINER)
        self.chain.send(Call(token, function("approve", contract).encode(self.adjudicator.address, amount)), ALICE)
        self.send(self.adjudicator.deposit(self.saved.id, token, 0, amount))
        return token

    def proof(self, *states: SignedState | VariablePart) -> SupportProof:
        signed = [self.saved.signed(each) if isinstance(each, VariablePart) else each for each in states]
        proof = build_support_proof(self.saved.fixed, signed)
        assert proof is not None
        return proof

    def challenge(self, turn_num: int = 6) -> None:
        proof = self.proof(state_of(turn_num - 1), state_of(turn_num))
        self.send(self.adjudicator.challenge(self.saved.fixed, proof))

    def expire(self) -> None:
        self.chain.travel_to(self.adjudicator.status_of(self.saved.id, ETHER).finalizes_at)
        self.chain.rpc.ask("evm_mine")

    def conclude(self, final: VariablePart) -> Operation:
        signatures = [self.saved.signature(key, final) for key in (ALICE, BOB)]
        return self.adjudicator.conclude(self.saved.fixed, final.outcome, final.turn_num, signatures)

    def transfer(self, state: VariablePart, owed: Outcome, *indices: int) -> Operation:
        return self.adjudicator.transfer(self.saved.id, ETHER, hash_state(self.saved.id, state).state, owed, indices)


@pytest.fixture(scope="module")
def deployment(anvil: AnvilChain, tmp_path_factory: pytest.TempPathFactory) -> AddressBook:
    for key in (ALICE, BOB, MALLORY):
        anvil.send(Call(key.address, b"", 10**18), MINER)
    return deploy(anvil, MINER, tmp_path_factory.mktemp("deployment") / "book.json")


@pytest.fixture
def court(forcemove: Command, anvil: AnvilChain, deployment: AddressBook) -> Court:
    save_book(deployment, Path("forcemove-31337.json"))
    adjudicator = Adjudicator(anvil, deployment.adjudicator)
    fixed = fixed_part(nonce=next(_nonces), app=deployment.find("TicTacToe").address)
    return Court(anvil, deployment, adjudicator, Saved(fixed, adjudicator.domain))


@pytest.fixture
def other_chain() -> Iterator[AnvilChain]:
    with AnvilChain("--chain-id", "5") as chain:
        yield chain


def found(forcemove: Command, what: str, court: Court, *arguments: str) -> Any:
    said = forcemove("inspect", what, "--chain", court.chain.endpoint, "--json", *arguments)
    assert (said.code, said.err) == (0, "")
    assert forcemove("inspect", what, "--chain", court.chain.endpoint, *arguments).code == 0
    return json.loads(said.out)


def words(finding: Any) -> list[list[str]]:
    """What each participant could do, in words."""
    could = [[action["action"] for action in each["actions"]] for each in finding["could"]]
    assert {word for each in could for word in each} <= set(ACTIONS)
    return could


def refused(finding: Any) -> list[tuple[str, str]]:
    """What the adjudicator would refuse, and the name of the error."""
    return [(each["action"], each["reason"].partition("(")[0]) for each in finding["refused"]]


def channel_of(forcemove: Command, court: Court) -> Any:
    return found(forcemove, "0x" + court.saved.id.hex(), court)


# ----------------------------------------------------------------------------------------------------------- channels


def test_a_channel_names_everything_that_is_documented(forcemove: Command, court: Court) -> None:
    court.fund()

    assert channel_of(forcemove, court).keys() == {
        *("kind", "chainId", "adjudicator", "channelId", "block", "time", "mode", "closed", "turnNumRecord"),
        *("finalizesAt", "secondsLeft", "ending", "record", "owed", "holdings", "credits", "history"),
    }


def test_a_funded_channel_is_open_and_holds_ether(forcemove: Command, court: Court) -> None:
    court.fund()

    channel = channel_of(forcemove, court)

    assert (channel["kind"], channel["mode"], channel["turnNumRecord"], channel["record"]) == (
        *("channel", "Open"),
        *(None, None),
    )
    held = {"asset": "0x" + "00" * 20, "held": "20", "payoutBegun": False, "closed": False}
    assert channel["holdings"] == [held]
    assert [each["log"] for each in channel["history"]] == ["Deposited"]


def test_a_running_challenge_shows_its_state_and_the_seconds_left(forcemove: Command, court: Court) -> None:
    court.challenge(6)

    channel = channel_of(forcemove, court)
    said = forcemove("inspect", channel["channelId"], "--chain", court.chain.endpoint)

    assert (channel["mode"], channel["turnNumRecord"]) == ("Challenge", 6)
    assert channel["finalizesAt"] == court.adjudicator.status_of(court.saved.id, ETHER).finalizes_at
    assert channel["secondsLeft"] == channel["finalizesAt"] - channel["time"]
    assert 0 < channel["secondsLeft"] <= DAY
    assert channel["record"]["state"]["appData"] == "0x" + state_of(6).app_data.hex()
    assert channel["record"]["signedBy"] == [A]
    assert channel["record"]["position"]["board"] == GAME.board(state_of(6))
    assert "seconds, until 2" in said.out


def test_an_answered_challenge_shows_the_answer(forcemove: Command, court: Court) -> None:
    court.challenge(6)
    signature = court.saved.signature(BOB, state_of(7))
    court.send(court.adjudicator.respond(court.saved.fixed, state_of(6), state_of(7), signature))

    channel = channel_of(forcemove, court)

    assert (channel["mode"], channel["turnNumRecord"], channel["secondsLeft"]) == ("Open", 7, None)
    assert channel["record"]["signedBy"] == [B]
    assert [(each["log"], each["turnNum"]) for each in channel["history"]] == [
        ("ChallengeRegistered", 6),
        ("Responded", 7),
    ]


def test_a_repeated_challenge_still_shows_who_has_signed(forcemove: Command, court: Court) -> None:
    court.send(court.adjudicator.checkpoint(court.saved.fixed, court.proof(state_of(5), state_of(6))))
    court.send(court.adjudicator.challenge(court.saved.fixed, SupportProof((state_of(6),), (), 0)))

    assert channel_of(forcemove, court)["record"]["signedBy"] == [A]


def test_an_expired_challenge_shows_what_is_owed(forcemove: Command, court: Court) -> None:
    court.fund()
    court.challenge(6)
    court.expire()

    before = channel_of(forcemove, court)
    court.send(court.transfer(state_of(6), state_of(6).outcome, 0))
    after = channel_of(forcemove, court)

    assert before["mode"] == after["mode"] == "Finalized"
    amounts = [entry.amount for entry in state_of(6).outcome]
    assert [entry["amount"] for entry in before["owed"]] == [str(amount) for amount in amounts]
    assert [entry["amount"] for entry in after["owed"]] == ["0", str(amounts[1])]
    assert after["holdings"][0] | {"payoutBegun": True, "held": str(amounts[1])} == after["holdings"][0]
    assert after["record"]["state"]["turnNum"] == 6
    assert (before["ending"], after["ending"]) == ("unanswered", "unanswered")
    page = forcemove("inspect", after["channelId"], "--chain", court.chain.endpoint).out
    assert "still owed" in page
    assert "a challenge was not answered in time" in page


def test_a_concluded_channel_that_lacks_money_shows_what_is_owed(forcemove: Command, court: Court) -> None:
    court.send(court.adjudicator.deposit(court.saved.id, ETHER, 0, 5))
    final = final_of(7)
    court.send(court.conclude(final))

    channel = channel_of(forcemove, court)

    assert (channel["mode"], channel["closed"], channel["record"]) == ("Finalized", False, None)
    assert [int(entry["amount"]) for entry in channel["owed"]] == [final.outcome[0].amount - 5, final.outcome[1].amount]


def test_a_closed_channel_is_told(forcemove: Command, court: Court) -> None:
    court.fund()
    court.send(court.conclude(final_of(7)))

    channel = channel_of(forcemove, court)

    assert (channel["closed"], channel["holdings"][0]["held"]) == (True, "0")
    assert channel["ending"] == "concluded"
    page = forcemove("inspect", channel["channelId"], "--chain", court.chain.endpoint).out
    assert "closed forever" in page
    assert "concluded together" in page


@pytest.mark.parametrize(("is_in_time", "ending"), [(True, "concluded"), (False, "unanswered")])
def test_what_closed_a_channel_after_a_challenge_the_time_of_the_block_says(
    forcemove: Command, court: Court, is_in_time: bool, ending: str
) -> None:
    """By its logs alone either may have: a conclusion that pays everything, or a payout."""
    court.fund()
    court.challenge(6)
    if is_in_time:
        court.send(court.conclude(final_of(7)))
    else:
        court.expire()
        court.send(court.transfer(state_of(6), state_of(6).outcome))
    channel = channel_of(forcemove, court)
    assert [each["log"] for each in channel["history"]][-2:] == ["ChallengeRegistered", "Closed"]
    assert channel["ending"] == ending


def test_tokens_that_were_paid_in_are_seen(forcemove: Command, court: Court) -> None:
    token = court.fund_with("DemoToken", 9)

    channel = channel_of(forcemove, court)

    assert [(each["asset"], each["held"]) for each in channel["holdings"]] == [
        ("0x" + "00" * 20, "0"),
        (show_address(token), "9"),
    ]


def test_credits_of_those_who_were_to_be_paid_are_seen(forcemove: Command, court: Court) -> None:
    recipient = deploy_contract(court.chain, "RevertingRecipient")
    owed = outcome(12, 8, to=(recipient, BOB))
    last = replace(state_of(6), outcome=owed)
    court.fund()
    court.send(court.adjudicator.checkpoint(court.saved.fixed, court.proof(court.saved.signed(last, ALICE, BOB))))
    court.send(court.conclude(replace(final_of(7), outcome=owed)))

    assert channel_of(forcemove, court)["credits"] == [
        {"account": show_address(recipient), "asset": "0x" + "00" * 20, "amount": "12"}
    ]


# -------------------------------------------------------------------------------------------------------------- files


def test_the_adjudicator_would_take_a_supported_state(forcemove: Command, court: Court) -> None:
    court.fund()

    finding = found(forcemove, court.saved.save(court.saved.signed(state_of(6), ALICE, BOB)), court)

    assert finding["app"]["knownBy"] == "code"
    assert finding["channel"]["mode"] == "Open"
    assert words(finding) == [
        ["wait", "challenge", "checkpoint"],
        ["move", "finish", "challenge", "checkpoint"],
    ]
    assert refused(finding) == []


def test_a_state_that_is_not_supported_gives_nothing_to_ask_for(forcemove: Command, court: Court) -> None:
    assert words(found(forcemove, court.saved.save(state_of(6)), court)) == [
        ["wait"],
        ["move", "finish", "countersign"],
    ]


def test_what_is_funded_is_not_paid_in_again(forcemove: Command, court: Court) -> None:
    name = court.saved.save(state_of(1))

    assert words(found(forcemove, name, court))[1] == ["deposit", "wait"]
    court.fund()
    assert words(found(forcemove, name, court))[1] == ["wait"]


def test_whose_answer_a_challenge_waits_for(forcemove: Command, court: Court) -> None:
    court.challenge(6)

    assert words(found(forcemove, court.saved.save(state_of(6)), court)) == [["wait"], ["respond"]]


def test_a_later_state_answers_a_challenge(forcemove: Command, court: Court) -> None:
    court.challenge(6)

    finding = found(forcemove, court.saved.save(state_of(7)), court)

    assert words(finding)[1] == ["wait", "respond", "challenge", "checkpoint"]


def test_a_state_after_the_recorded_one_needs_only_its_movers_signature(forcemove: Command, court: Court) -> None:
    """Three participants; Carol has made the recorded move alone, and Alice has signed the next one."""
    keys, fixed = players(3), fixed_part(players(3), next(_nonces), deploy_contract(court.chain, "CountingApp"))
    domain, states = court.adjudicator.domain, chain(10, 11, 12, num_participants=3)
    agreed = SupportProof(states[:1], sign_all(states[0], keys, fixed, domain), 0)
    court.send(court.adjudicator.checkpoint(fixed, agreed))
    alone = SupportProof(states[:2], (sign(keys[2], states[1], fixed, domain),), 0)
    court.send(court.adjudicator.checkpoint(fixed, alone))
    signed = SignedState(states[2], {0: sign(keys[0], states[2], fixed, domain)})
    Path("twelve.json").write_text(encode_file(SignedStateFile(domain, fixed, signed)))

    finding = found(forcemove, "twelve.json", court)

    assert all({"challenge", "checkpoint"} <= set(each) for each in words(finding))
    assert refused(finding) == []


def test_an_illegal_answer_is_refused_with_the_games_own_error(forcemove: Command, court: Court) -> None:
    court.challenge(6)
    _, illegal = GAME.illegal_moves(state_of(6))[0]

    finding = found(forcemove, court.saved.save(illegal), court)

    assert {action for action, _ in refused(finding)} == {"respond", "challenge", "checkpoint"}
    assert {name for _, name in refused(finding)} <= set(GAME.errors)
    assert "would refuse" in forcemove("inspect", "state.json", "--chain", court.chain.endpoint).out


def test_an_old_state_is_overtaken(forcemove: Command, court: Court) -> None:
    court.challenge(6)

    finding = found(forcemove, court.saved.save(court.saved.signed(state_of(5), ALICE, BOB)), court)

    assert words(finding) == [["wait"], ["wait"]]
    assert refused(finding) == [
        ("challenge", "TurnNumberNotIncreased"),
        ("checkpoint", "TurnNumberNotIncreased"),
    ]


def test_the_recorded_state_of_an_open_channel_can_be_challenged_without_a_proof(
    forcemove: Command, court: Court
) -> None:
    court.send(court.adjudicator.checkpoint(court.saved.fixed, court.proof(state_of(5), state_of(6))))

    assert words(found(forcemove, court.saved.save(state_of(6)), court))[0] == ["wait", "challenge"]


def test_another_state_of_the_recorded_turn_is_overtaken(forcemove: Command, court: Court) -> None:
    court.send(court.adjudicator.checkpoint(court.saved.fixed, court.proof(state_of(5), state_of(6))))
    other = replace(state_of(6), app_data=state_of(5).app_data)

    finding = found(forcemove, court.saved.save(court.saved.signed(other, ALICE, BOB)), court)

    assert words(finding) == [["wait"], ["wait"]]


@pytest.mark.parametrize("turn_num", [5, 9])
def test_a_final_state_signed_by_all_concludes_whatever_is_recorded(
    forcemove: Command, court: Court, turn_num: int
) -> None:
    court.challenge(6)

    finding = found(forcemove, court.saved.save(court.saved.signed(final_of(turn_num), ALICE, BOB)), court)

    assert words(finding) == [["conclude"], ["conclude"]]


def test_an_expired_challenge_can_be_paid_out(forcemove: Command, court: Court) -> None:
    court.fund()
    court.challenge(6)
    court.expire()

    assert words(found(forcemove, court.saved.save(state_of(6)), court)) == [["transfer"], ["transfer"]]
    assert words(found(forcemove, court.saved.save(state_of(7)), court)) == [["transfer"], ["transfer"]]


def test_nothing_is_left_to_do_in_a_closed_channel(forcemove: Command, court: Court) -> None:
    court.fund()
    court.send(court.conclude(final_of(7)))

    finding = found(forcemove, court.saved.save(court.saved.signed(final_of(7), ALICE, BOB)), court)

    assert words(finding) == [["nothing"], ["nothing"]]
    assert finding["channel"]["closed"] is True


def test_what_could_not_be_paid_is_to_be_claimed(forcemove: Command, court: Court) -> None:
    token = court.fund_with("FalseToken", 20)
    final = replace(final_of(7), outcome=outcome(20, 0, asset=token))
    court.send(court.conclude(final))

    finding = found(forcemove, court.saved.save(court.saved.signed(final, ALICE, BOB)), court)

    assert words(finding) == [["nothing", "claim"], ["nothing"]]
    assert finding["channel"]["credits"] == [{"account": A, "asset": show_address(token), "amount": "20"}]


def test_an_app_that_is_none_of_ours_is_told_by_its_code(forcemove: Command, court: Court) -> None:
    elsewhere = Saved(replace(court.saved.fixed, app_definition=court.adjudicator.address), court.saved.domain)

    finding = found(forcemove, elsewhere.save(state_of(5)), court)

    assert (finding["app"], finding["position"]) == (None, None)


def test_without_a_book_a_channel_is_found_by_its_adjudicator(forcemove: Command, court: Court) -> None:
    court.challenge(6)
    Path("forcemove-31337.json").unlink()

    id_ = "0x" + court.saved.id.hex()
    channel = found(forcemove, id_, court, "--adjudicator", show_address(court.adjudicator.address))

    assert channel["turnNumRecord"] == 6


# ---------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("what", "arguments", "said_of_it"),
    [
        ("0x" + "77" * 32, (), "knows nothing of channel"),
        ("0x" + "77" * 32, ("--book", "none.json"), "There is no address book"),
        ("0x" + "77" * 32, ("--adjudicator", "0x" + "77" * 20), "is not Adjudicator"),
        ("0x" + "77" * 32, ("--adjudicator", "{app}"), "is not Adjudicator"),
        ("lost.json", (), "is not Adjudicator"),
        ("elsewhere.json", (), "The state is of chain 5"),
    ],
)
def test_bad_input_is_told(
    forcemove: Command, court: Court, what: str, arguments: tuple[str, ...], said_of_it: str
) -> None:
    lost = replace(court.saved.domain, adjudicator=b"\x77" * 20)
    Saved(court.saved.fixed, lost).save(state_of(5), "lost.json")
    Saved(court.saved.fixed, replace(court.saved.domain, chain_id=5)).save(state_of(5), "elsewhere.json")
    app = show_address(court.saved.fixed.app_definition)

    chain = ("--chain", court.chain.endpoint)
    said = forcemove("inspect", what, *chain, *(argument.replace("{app}", app) for argument in arguments))

    assert (said.code, said.out) == (1, "")
    assert said_of_it in said.err


def test_without_a_book_or_an_adjudicator_it_is_asked_for(forcemove: Command, court: Court) -> None:
    Path("forcemove-31337.json").unlink()

    said = forcemove("inspect", "0x" + court.saved.id.hex(), "--chain", court.chain.endpoint)

    assert (said.code, said.out) == (1, "")
    assert "Which adjudicator?" in said.err


def test_the_book_of_another_chain_is_refused(forcemove: Command, court: Court, other_chain: AnvilChain) -> None:
    arguments = ("--chain", other_chain.endpoint, "--book", "forcemove-31337.json")

    said = forcemove("inspect", "0x" + court.saved.id.hex(), *arguments)

    assert (said.code, said.out) == (1, "")
    assert "is of chain 31337" in said.err
