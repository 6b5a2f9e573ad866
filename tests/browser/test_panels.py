"""What a channel's page says: the same as its overview, and as the terminal says of the same overview."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import msgspec
import pytest
from msgspec import structs

from forcemove import ChannelHistory, Phase
from forcemove.browser import templating
from forcemove.browser.drawing import board, happenings
from forcemove.browser.drawing.listing import listed_rows
from forcemove.browser.drawing.rounds import rounds_of
from forcemove.browser.render import PANELS, channel_page, channel_panels
from forcemove.browser.view import ChannelView
from forcemove.chain.errors import WrongChain
from forcemove.cli.play.screen import content_lines
from forcemove.game import RoundResult
from forcemove.history.entries import Entry, StateSigned
from forcemove.history.overview import ChainDepth, overview
from forcemove.history.summary import summarise
from forcemove.inspect.listed_channel import ListedChannel
from forcemove.protocol.machine.inputs import ViewsDiffer
from forcemove.protocol.machine.record import Record
from forcemove.protocol.machine.results import ChannelResult, Ending
from forcemove.sessions.playing.content import content_of
from forcemove.sessions.playing.ends import EndObserver, end_lines
from forcemove.store.records import Ownership
from forcemove.text.amounts import format_amount
from forcemove.text.entries import entry_text
from forcemove.text.situation.balances import settled_shares
from forcemove.text.situation.moment import clock_text
from forcemove.text.situation.safety import safety_of
from forcemove_games.tic_tac_toe import GAME as TIC_TAC_TOE
from tests.browser.html import elements, find, text_of
from tests.browser.views import WALL, Looks, view_of
from tests.expected import known
from tests.scenarios.story import DURATION, Story

STATES = ("opening", "ours", "theirs", "fault", "challenged", "answered", "paid", "concluded")


@pytest.fixture(params=STATES)
def view(request: pytest.FixtureRequest, looks: Looks) -> ChannelView:
    play: Callable[[], Story] = getattr(looks, request.param)
    return view_of(play())


def panel(view: ChannelView, id_: str) -> str:
    return text_of(channel_panels(view)[id_])


def amounts(text: str) -> list[str]:
    return re.findall(r"[\d.]+ ether", text)


@pytest.mark.parametrize("id_", ["clock", "ways"])
def test_what_a_wallet_elsewhere_must_sign_is_not_done_by_itself(view: ChannelView, id_: str) -> None:
    by_itself, by_wallet = panel(view, id_), panel(replace(view, to_sign=()), id_)
    assert by_wallet == by_itself.replace("by itself", "with your wallet's signature")


# -------------------------------------------------------------------------------------------- as the terminal says it


def test_the_page_and_the_terminal_say_the_same(view: ChannelView) -> None:
    board = panel(view, "board")
    assert content_of(view).headline in board
    shares, in_play = settled_shares(replace(view, rounds=rounds_of(view)))
    assert {format_amount(share.payable) for share in shares} <= set(amounts(board))
    assert in_play in board
    for name in view.names:
        assert name in board


def test_a_clock_says_how_long_it_runs_and_what_it_pays(looks: Looks) -> None:
    view = view_of(looks.challenged())
    silence = known(view.seen.silence)
    assert silence.shares is not None
    assert silence.finalizes_at is not None
    left = clock_text(silence.finalizes_at - view.now)
    assert f"{left} left." in content_of(view).outlook
    clock = panel(view, "clock")
    assert left in clock
    assert amounts(clock) == [format_amount(each.payable) for each in silence.shares]


@pytest.mark.parametrize("end", ["paid", "concluded"])
def test_both_say_the_same_of_an_end(looks: Looks, end: str) -> None:
    story: Story = getattr(looks, end)()
    view = view_of(story)
    lines = dict(line.split(maxsplit=1) for line in end_lines(view.seen.result, 0, EndObserver(), view.names))
    said = panel(view, "end")
    assert lines["ended"] in said
    assert set(amounts(lines["result"])) <= set(amounts(said.replace("+", "")))
    assert ("You won" in said) == ("win" in lines["result"])


# --------------------------------------------------------------------------------------------------------- what it says


def test_a_time_of_day_is_our_clock_at_the_chains_time(looks: Looks) -> None:
    view = view_of(looks.challenged())
    later = replace(view, wall=WALL + 3_600)
    times = [re.findall(r"\d\d:\d\d:\d\d", panel(each, "clock")) for each in (view, later)]
    assert len(set(times[0])) == 1
    assert times[0] != times[1]
    assert times[0][0][3:] == times[1][0][3:]


def test_every_choice_is_a_button_and_says_what_follows(looks: Looks) -> None:
    view = view_of(looks.ours())
    buttons = {
        each.attributes.get("value"): each
        for each in elements(channel_panels(view)["board"])
        if each.name == "button" and each.attributes.get("name") == "word"
    }
    moves = [each for each in view.seen.options if each.kind == "move"]
    assert list(buttons) == [each.word for each in moves]
    for move in moves:
        label = buttons[move.word].text
        assert move.text in label
        assert {format_amount(share.payable) for share in move.shares} == set(amounts(label))
        assert (buttons[move.word].attributes["title"] or "?") in label


def test_a_shut_button_says_why_and_sends_nothing(looks: Looks) -> None:
    view = view_of(looks.theirs())
    spots = [each for each in elements(channel_panels(view)["board"]) if each.attributes.get("class") == "spot"]
    assert len(spots) == 9
    for spot in spots:
        assert spot.attributes["aria-disabled"] == "true"
        assert spot.attributes["type"] == "button"
        assert "name" not in spot.attributes
        assert spot.attributes["title"] in ("it is taken", "it is Bob's turn")


def test_ways_out_say_what_follows_and_what_it_costs(looks: Looks) -> None:
    ways = channel_panels(view_of(looks.theirs()))["ways"]
    assert "you are paid 0.6 ether and Bob 0.4 ether" in find(ways, "why-leave").text
    assert "about 65,000 gas" in find(ways, "why-leave").text
    assert "about 92,000 gas" in find(ways, "why-challenge").text
    assert find(ways, "do-challenge").attributes["value"] == "challenge"
    shut = channel_panels(view_of(looks.ours()))["ways"]
    assert find(shut, "do-challenge").attributes["aria-disabled"] == "true"
    assert find(shut, "why-challenge").text == "Only while another is to move."


def test_leaving_is_asked_once_more_with_the_amount_and_without_scripts(looks: Looks) -> None:
    """The second button is in the first one, which a browser opens by itself."""
    ways = channel_panels(replace(view_of(looks.ours()), leave_cost=10**17))["ways"]
    assert find(ways, "do-leave").name == "summary"
    sure = find(ways, "sure-leave")
    assert (sure.attributes["name"], sure.attributes["value"]) == ("do", "leave")
    assert sure.text == "Leave now: you are paid 0.4 ether, and lose 0.1 ether of this round"
    waiting = channel_panels(replace(view_of(looks.theirs()), leave_cost=10**17))["ways"]
    assert find(waiting, "sure-leave").text == (
        "Leave with your next turn: you are paid 0.6 ether if no move changes that, and lose up to 0.1 ether of this "
        "round"
    )


def test_where_nothing_can_be_signed_the_page_offers_a_challenge(looks: Looks) -> None:
    view = view_of(looks.ours())
    channel = msgspec.structs.replace(view.channel, final_outcome=bytes(32), leaving=True)
    seen = overview(channel, view.history, view.now)
    ways = channel_panels(replace(view, channel=channel, seen=seen))["ways"]
    assert find(ways, "do-challenge").attributes["value"] == "challenge"
    assert re.match(r"At \S.* you are paid 0.\d ether and Bob", find(ways, "why-challenge").text)
    assert find(ways, "why-leave").text == "There is nothing you can sign: with a challenge the chain decides."


def test_what_silence_costs_is_said_before_any_clock_runs(looks: Looks) -> None:
    view = view_of(looks.theirs())
    assert view.channel.agreement.fixed_part.challenge_duration == DURATION
    said = panel(view, "clock")
    assert said.startswith("If Bob says nothing more")
    assert "you are paid 0.6 ether and Bob 0.4 ether" in said


def test_the_timeline_has_a_sign_for_each_state_log_and_fault(looks: Looks) -> None:
    view = view_of(looks.fault())
    signs = [
        each
        for each in elements(channel_panels(view)["happened"])
        if (each.attributes.get("id") or "").startswith("s-")
    ]
    assert [each.text for each in signs] == ["0", "1", "D", "D", "2", "3", "4", "5", "6", "7", "8", "", "C"]
    assert signs[-2].attributes["aria-label"] == "Refused from Bob, turn 9: wrong position length"


def test_the_inspector_says_what_the_chain_would_answer(looks: Looks) -> None:
    before, after = view_of(looks.theirs()), view_of(looks.challenged())
    assert "checkpoint: accepted" in panel(before, "happened")
    assert "TurnNumberNotIncreased: recorded 8, submitted 8" in panel(after, "happened")


def test_what_only_developers_want_is_behind_a_switch_until_an_entry_is_chosen(looks: Looks) -> None:
    view = view_of(looks.theirs())
    for each in (view, replace(view, at=0)):
        facts = find(channel_panels(each)["happened"], "facts")
        assert "turnNum" in facts.text
        assert ("open" in facts.attributes) == (each.at is not None)


def test_any_entry_can_be_inspected(looks: Looks) -> None:
    view = view_of(looks.fault())
    for at in range(len(view.history.entries)):
        assert find(channel_panels(replace(view, at=at))["happened"], "i").children
    assert find(channel_panels(replace(view, at=10**6))["happened"], "i").children


# ------------------------------------------------------------------------------------------------------------ its form


def test_every_panel_is_an_element_with_its_id_and_is_always_there(view: ChannelView) -> None:
    panels = channel_panels(view)
    assert tuple(panels) == PANELS
    for id_, html in panels.items():
        assert elements(html)[0].attributes["id"] == id_
    ids = [each.attributes["id"] for each in elements(channel_page(view)) if each.attributes.get("id")]
    assert len(ids) == len(set(ids))


def test_nothing_is_inline_and_nothing_comes_from_elsewhere(view: ChannelView) -> None:
    for each in elements(channel_page(view)):
        assert "style" not in each.attributes
        assert not [name for name in each.attributes if name.startswith("on")]
        assert each.name != "script" or (each.attributes["src"] in ("/s/page.js", "/s/calls.js") and not each.text)
        for name in ("src", "href", "action"):
            assert (each.attributes.get(name) or "/")[0] in "/?"
            assert not (each.attributes.get(name) or "").startswith("//")


def test_every_form_has_the_token_and_posts(view: ChannelView) -> None:
    for form in (each for each in elements(channel_page(view)) if each.name == "form"):
        assert form.attributes["method"] == "post"
        tokens = [each.attributes["value"] for each in form.all() if each.attributes.get("name") == "token"]
        assert tokens == ["form-token"]


def test_the_panels_stay_where_the_phase_has_none(looks: Looks) -> None:
    view = view_of(looks.paid())
    assert view.seen.phase is Phase.CLOSED
    panels = channel_panels(view)
    for id_ in ("clock", "ways"):
        assert "hidden" in elements(panels[id_])[0].attributes
    assert "hidden" not in elements(panels["end"])[0].attributes


def test_what_is_not_known_is_shown_as_that(looks: Looks) -> None:
    view = view_of(looks.paid())
    unknown = replace(view, seen=replace(view.seen, result=ChannelResult(Ending.UNKNOWN, ())))
    end = panel(unknown, "end")
    assert "It is over" in end
    assert "how much to whom is not known here" in end
    assert amounts(end) == amounts(panel(unknown, "board")) == []
    assert channel_page(unknown)
    older = structs.replace(view.channel, record=Record(payout_begun=True, closed=True))
    listed = ListedChannel(bytes(32), Ownership.FINISHED, summarise(older, "TicTacToe", 1, 1, view.now), view.game)
    assert [row.money for row in listed_rows([listed], view.now)] == ["not known what was paid"]


# --------------------------------------------------------------------------------------------------- while it is funded


def test_how_deep_our_deposit_is_stands_on_the_page(looks: Looks) -> None:
    story = looks.playground.story(TIC_TAC_TOE, confirmations=3)
    while not story.alice.mined:
        for player in story.players:
            player.client.poll()
    depth = known(story.alice.client.managed.depth)
    view = view_of(story, depth=depth)
    assert "yours: 1 of 3 blocks" in panel(view, "safety")
    assert "Your deposit is 1 of 3 blocks deep." in panel(view, "board")
    later = replace(view, depth=replace(depth, head=depth.head + 1))
    assert "yours: 2 of 3 blocks" in panel(later, "safety")


@pytest.mark.parametrize(
    ("answering", "silent", "words", "tone"),
    [
        (2, 0, "agree", "good"),
        (1, 0, "one endpoint answers", ""),
        (0, 40, "nobody has answered for 0:40; the running clock leaves {}", "bad"),
    ],
)
def test_endpoints_agree_only_where_two_answer(
    looks: Looks, answering: int, silent: int, words: str, tone: str
) -> None:
    view = view_of(looks.challenged(), depth=ChainDepth(9, 1, answering, silent))
    left = clock_text(view.channel.status.finalizes_at - view.now - silent)
    (said,) = (each for each in safety_of(view) if each.name == "Endpoints")
    assert (said.word, said.tone) == (words.format(left), tone)
    content = content_of(view)
    assert content.warning == ("" if answering else f"Endpoints: {words.format(left)}.")
    assert {style for style, line in content_lines(content, 200) if line == content.warning} <= {"bold red"}


def test_why_no_node_answers_is_said_in_place_of_what_follows_from_it(looks: Looks) -> None:
    """Views that were not compared since the start differ."""
    depth = ChainDepth(-1, 1, 0, 12, WrongChain("wallet", 10, 1))
    view = view_of(looks.ours(), depth=depth)
    channel = structs.replace(view.channel, views=ViewsDiffer(is_denied=True))
    view = replace(view, channel=channel, seen=overview(channel, view.history, view.now))
    (said,) = (each for each in safety_of(view) if each.name == "Endpoints")
    assert said.word == "nobody has answered for 0:12"
    for text in (panel(view, "clock"), said.behind, content_of(view).warning):
        assert "The node at wallet is of chain 1, not of chain 10" in text
    assert "denies" not in panel(view, "clock")
    answering = replace(view, depth=ChainDepth(9, 1, 2, 0))
    assert "A node denies something" in panel(answering, "clock")


def test_a_page_that_does_not_know_who_answers_says_so(looks: Looks) -> None:
    assert "not known here" in panel(view_of(looks.challenged()), "safety")


# ------------------------------------------------------------------------------------------- what is remembered


def test_what_is_remembered_follows_every_change(view: ChannelView) -> None:
    """Each panel says what it would say if nothing was remembered, whatever has changed since it was made."""
    others = (
        replace(view, names=("Alina", "Bert")),
        replace(view, names=("Bob", "Alice")),
        replace(view, path="/c/0x00", form_token="another"),
        replace(view, groups=()),
        replace(view, notice="late", guide="look"),
        replace(view, now=view.now + 30, wall=view.wall + 30),
        replace(view, history=ChannelHistory(view.history.entries[1:])),
        replace(view, history=ChannelHistory(view.history.entries[:-1])),
        replace(view, own=b""),
    )
    remembered = [channel_panels(each) for each in (view, *others, view)]
    assert remembered == [_from_scratch(each) for each in (view, *others, view)]


def _from_scratch(view: ChannelView) -> dict[str, str]:
    """The panels as a process makes them that has made none before."""
    templating._filled_in.cache_clear()
    board._picture.cache_clear()
    happenings._said._made.clear()
    return channel_panels(view)


def test_with_each_entry_only_that_entry_is_put_into_words(looks: Looks, monkeypatch: pytest.MonkeyPatch) -> None:
    view, said = view_of(looks.long(60)), list[object]()

    def noted(entry: Entry, *rest: Any) -> str:
        said.append(entry)
        return entry_text(entry, *rest)

    monkeypatch.setattr(happenings, "entry_text", noted)
    channel_panels(replace(view, history=ChannelHistory(view.history.entries[:-1])))
    said.clear()
    channel_panels(view)
    assert said == [view.history.entries[-1]]


def test_rounds_that_a_full_history_has_forgotten_are_counted_still(looks: Looks) -> None:
    """And no entry is looked at twice."""
    view = view_of(looks.ours())
    game = Mock(wraps=view.game)
    game.result.side_effect = lambda state: RoundResult(0, "a row", (1, -1)) if state.turn_num % 5 == 4 else None
    first = next(each for each in view.history.entries if isinstance(each, StateSigned))

    def signed(turn: int) -> StateSigned:
        state = structs.replace(first.signed.state, turn_num=turn)
        return structs.replace(first, signed=structs.replace(first.signed, state=state))

    entries = tuple(map(signed, range(4, 104)))
    for seen in (50, 51, 75, 100):
        shown = replace(view, game=game, history=ChannelHistory(entries[max(0, seen - 50) : seen]))
        assert len(rounds_of(shown).results) == (seen + 4) // 5
    assert game.result.call_count == len(entries)
