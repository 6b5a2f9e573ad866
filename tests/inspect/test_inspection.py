"""Inspection as a library: values in, typed values out. What a screen makes of them, `tests/cli/test_inspect*` say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from msgspec.structs import replace

from forcemove import LocalError, MalformedBytes, SignedState, save_book
from forcemove.chain.adjudicator import Adjudicator, PlacedLog
from forcemove.chain.asking import Steps, asking
from forcemove.chain.errors import NotGenuine
from forcemove.inspect import errors
from forcemove.inspect.apps import KnownApp, KnownBy, NoPosition, PositionFacts
from forcemove.inspect.bare import BareKind, Missing, inspect_bytes, inspect_call, is_call
from forcemove.inspect.contracts import adjudicator_address, find_book, open_adjudicator
from forcemove.inspect.documents import document_json
from forcemove.inspect.inspection import Report, inspect_channel, inspect_file
from forcemove.inspect.onchain import read_channel
from forcemove.inspect.possibilities import ACTIONS
from forcemove.inspect.report_json import report_document
from forcemove.inspect.states import SignatureVerdict, StateKind
from forcemove.protocol.codec.packed import SELECTORS, Call
from forcemove.protocol.codec.wire import SignedStateFile
from forcemove.protocol.encoding import encode_record, encode_variable_part
from forcemove.protocol.machine.record import EMPTY_RECORD
from forcemove.protocol.words import Mode
from forcemove.text.reports import report_parts
from forcemove_games.rock_paper_scissors import GAME as ROCK_PAPER_SCISSORS
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.cli.saved import Saved, final_of, state_of
from tests.protocol.builders import ALICE, BOB, MALLORY, terms
from tests.protocol.calls import as_read, calls, write
from tests.scenarios.story import DURATION, Playground, Story

GAMES = (ROCK_PAPER_SCISSORS, TIC_TAC_TOE)
SAVED = Saved()


@pytest.fixture
def story(playground: Playground) -> Story:
    """A channel that was played to turn 6."""
    story = playground.story(TIC_TAC_TOE)
    story.play_until(6)
    return story


def file_of(story: Story, signed: SignedState) -> SignedStateFile:
    return SignedStateFile(story.agreement.domain, story.agreement.fixed_part, signed)


# ----------------------------------------------------------------------------------------------------------- bare hex


def test_a_state_a_record_and_a_position_are_told_apart() -> None:
    state, signature = state_of(6), SAVED.signature(ALICE, state_of(6))
    position = TIC_TAC_TOE.initial_app_data(terms(7))

    reports = [
        inspect_bytes(data, GAMES)
        for data in (encode_variable_part(state), encode_record(state, [signature]), position)
    ]

    assert [report.kind for report in reports] == [BareKind.STATE, BareKind.RECORD, BareKind.POSITION]
    assert [report.state and report.state.state for report in reports] == [state, state, None]
    assert [report.app for report in reports] == [KnownApp(TIC_TAC_TOE, KnownBy.BYTES)] * 3
    assert reports[1].signatures == (signature,)
    assert reports[1].missing == (Missing.CHANNEL, Missing.APP)
    assert isinstance(reports[2].position, PositionFacts)
    assert reports[2].position.stake == 7


def test_without_its_channel_a_state_has_neither_mover_nor_stage() -> None:
    facts = inspect_bytes(encode_variable_part(state_of(6)), GAMES).state

    assert facts is not None
    assert (facts.mover, facts.kind) == (None, None)
    assert [entry.participant for entry in facts.pays] == [None, None]


def test_bytes_that_are_nothing_are_malformed() -> None:
    with pytest.raises(MalformedBytes):
        inspect_bytes(b"nothing", GAMES)


@given(calls)
def test_every_call_is_told(call: Call) -> None:
    data = write(call)
    assert is_call(data)
    report = inspect_call(data, GAMES)
    assert report.call == as_read(call)
    assert json.loads(document_json(report_document(report)))["operation"] == report.operation
    assert report_parts(report)[0].title == f"A call of the adjudicator: {report.operation}"


def test_calldata_that_the_adjudicator_would_not_read() -> None:
    data = SELECTORS["checkpoint"] + b"\x10"
    with pytest.raises(MalformedBytes) as caught:
        inspect_call(data, GAMES)
    assert "NotCanonical(place=4)" in caught.value.reason
    assert not is_call(encode_variable_part(state_of(6)))


# -------------------------------------------------------------------------------------------------------------- files


def test_a_file_is_told_without_a_chain() -> None:
    state = state_of(5)
    forged = SAVED.signature(MALLORY, state)
    signed = SignedState(state, {0: SAVED.signature(ALICE, state), 1: forged})

    report = inspect_file(SignedStateFile(SAVED.domain, SAVED.fixed, signed), GAMES)

    assert (report.state.kind, report.state.mover) == (StateKind.APP, 1)
    assert [check.verdict for check in report.signatures] == [SignatureVerdict.SIGNED, SignatureVerdict.WRONG]
    assert report.signatures[1].recovered == MALLORY.address
    assert report.has_wrong_signature
    assert (report.problem, report.refused, report.channel) == (None, None, None)
    assert {each.action for actions in report.could for each in actions} <= set(ACTIONS)


def test_a_missing_signature_is_not_a_wrong_one() -> None:
    report = inspect_file(SignedStateFile(SAVED.domain, SAVED.fixed, SAVED.signed(state_of(5))), GAMES)

    assert [check.verdict for check in report.signatures] == [SignatureVerdict.MISSING, SignatureVerdict.SIGNED]
    assert not report.has_wrong_signature


def test_on_its_chain_the_app_is_told_by_its_address_and_the_adjudicator_is_asked(story: Story) -> None:
    told: list[str] = []

    report = inspect_file(file_of(story, story.alice.newest), GAMES, story.chain, notify=told.append)

    assert report.app == KnownApp(TIC_TAC_TOE, KnownBy.CODE)
    assert report.channel is not None
    assert (report.channel.channel.mode, report.channel.record) == (Mode.OPEN, None)
    assert report.refused == ()
    assert told == ["Reading the chain", "Asking the adjudicator"]


def test_bytes_that_are_no_position_of_a_known_app_say_why(story: Story) -> None:
    state = replace(story.alice.newest.state, app_data=b"")

    report = inspect_file(file_of(story, story.sign(state, 0)), GAMES, story.chain)

    assert isinstance(report.position, NoPosition)
    assert type(report.position.problem).__name__ == "WrongPositionLength"


# ----------------------------------------------------------------------------------------------------------- channels


def test_a_channel_is_told_from_its_id_alone(story: Story, playground: Playground) -> None:
    newest = story.alice.newest
    story.challenge(1, *story.bob.states[-2:])

    report = inspect_channel(story.agreement.channel_id, GAMES, story.chain, playground.book)

    channel = report.channel
    assert (channel.mode, channel.status.turn_num_record) == (Mode.CHALLENGE, 6)
    assert channel.seconds_left is not None
    assert 0 < channel.seconds_left <= DURATION
    assert report.record is not None
    assert report.record.state.state == newest.state
    assert report.record.signed_by == (story.agreement.fixed_part.participants[0],)
    assert isinstance(report.record.position, PositionFacts)
    assert [entry.allocation for entry in report.owed or ()] == list(newest.state.outcome)


def test_a_node_that_withholds_the_newest_log_is_not_believed(story: Story) -> None:
    """The status word says that something else is recorded than what the logs tell of."""
    story.challenge(1, *story.opening()[2:])
    story.alice.client.poll()
    story.mine()

    class Withholding(Adjudicator):
        @asking
        def logs(
            self, channel_id: bytes | None, from_block: int, to_block: int | None = None
        ) -> Steps[list[PlacedLog]]:
            return (yield from super().logs.steps(channel_id, from_block, to_block))[:-1]

    whole, cut = (
        read_channel(kind(story.chain, story.adjudicator.address), story.agreement.channel_id, 0)
        for kind in (Adjudicator, Withholding)
    )
    assert whole.status == cut.status
    assert whole.record.recorded is not None
    assert whole.record.recorded.state.turn_num == 6
    assert cut.record == EMPTY_RECORD


# ------------------------------------------------------------------------------------------------------------- errors


def test_what_cannot_be_inspected_is_a_typed_error(story: Story, playground: Playground, tmp_path: Path) -> None:
    file, path = file_of(story, story.alice.newest), tmp_path / "book.json"
    save_book(playground.book, path)
    elsewhere = SignedStateFile(replace(file.domain, chain_id=5), file.fixed_part, file.signed)
    nobody, account = b"\x77" * 32, bytes(12) + b"\x77" * 20

    for error, call in (
        (errors.NotThisAdjudicator, lambda: inspect_file(file, GAMES, adjudicator=b"\x01" * 20)),
        (errors.NodeOfAnotherChain, lambda: inspect_file(elsewhere, GAMES, story.chain)),
        (errors.ChannelUnknown, lambda: inspect_channel(nobody, GAMES, story.chain, playground.book)),
        (errors.NotThisKindOfId, lambda: inspect_channel(account, GAMES, story.chain, playground.book)),
        (errors.AdjudicatorNotNamed, lambda: inspect_channel(nobody, GAMES, story.chain)),
        (errors.BookOfAnotherChain, lambda: find_book(5, path, tmp_path / "usual.json")),
    ):
        with pytest.raises(error) as raised:
            call()
        assert isinstance(raised.value, errors.InspectionError)
        assert isinstance(raised.value, LocalError)


def test_a_look_alike_is_asked_nothing(story: Story) -> None:
    with pytest.raises(NotGenuine):
        open_adjudicator(story.chain, story.agreement.fixed_part.app_definition, None)


def test_the_usual_book_is_found_where_there_is_one(playground: Playground, tmp_path: Path) -> None:
    usual = tmp_path / "usual.json"
    assert find_book(playground.chain.chain_id, None, usual) is None
    save_book(playground.book, usual)
    assert find_book(playground.chain.chain_id, None, usual) == playground.book


def test_an_adjudicator_that_is_named_goes_before_the_books(playground: Playground) -> None:
    named = b"\x01" * 20
    assert adjudicator_address(1, named, playground.book) == named
    assert adjudicator_address(1, None, playground.book) == playground.book.adjudicator


# --------------------------------------------------------------------------------------------------------------- JSON


def test_every_report_is_json(story: Story, playground: Playground) -> None:
    story.challenge(1, *story.bob.states[-2:])
    final = final_of(7)
    reports: list[Report] = [
        inspect_file(SignedStateFile(SAVED.domain, SAVED.fixed, SAVED.signed(final, ALICE, BOB)), GAMES),
        inspect_file(file_of(story, story.alice.newest), GAMES, story.chain, playground.book),
        inspect_channel(story.agreement.channel_id, GAMES, story.chain, playground.book),
        inspect_bytes(encode_variable_part(state_of(6)), GAMES),
        inspect_bytes(TIC_TAC_TOE.initial_app_data(terms(7)), GAMES),
    ]
    kinds = [json.loads(document_json(report_document(report)))["kind"] for report in reports]
    assert kinds == ["signed-state", "signed-state", "channel", "state", "position"]
