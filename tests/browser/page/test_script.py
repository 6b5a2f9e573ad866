"""The page's script in Chromium: panels are swapped in place, clocks count down, forms are sent without a reload."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from forcemove.browser.render import channel_page, channel_panels
from forcemove.browser.view import ChannelView
from tests.browser.page.routed import opened
from tests.browser.page.sections import section_pages
from tests.browser.views import Looks, view_of
from tests.scenarios.story import Playground
from tests.simulation.chain import MemoryChain

DEAD = """
window.EventSource = class {
  readyState = 0;
  constructor() { queueMicrotask(() => this.onerror()); }
  addEventListener() {}
  close() {}
};
"""
"""Lets no stream begin."""
LIVE = (
    "window.EventSource = class { constructor() { setTimeout(() => this.onopen()); }"
    " addEventListener() {} close() {} };"
)
"""A stream that stays open and says nothing."""
COUNTED = (
    "window.timers = 0; const real = setInterval;"
    "window.setInterval = (...all) => { window.timers += 1; return real(...all); };"
)


@cache
def views() -> tuple[ChannelView, ChannelView]:
    """A channel before and after a challenge, as one page."""
    looks = Looks(Playground.on(MemoryChain()))
    story = looks.theirs()
    before = view_of(story, path="/c")
    return before, view_of(looks.challenged(story), path="/c")


def stream(panels: dict[str, str]) -> str:
    return f"event: panels\ndata: {json.dumps(panels)}\n\n"


def changed(before: ChannelView, after: ChannelView) -> dict[str, str]:
    old, new = channel_panels(before), channel_panels(after)
    return {id_: html for id_, html in new.items() if html != old[id_]}


def pages(before: ChannelView, after: ChannelView) -> dict[str, str]:
    return {"/c": channel_page(before), "/c/events": stream(changed(before, after))}


def test_changed_panels_are_swapped_in_place(browser: Browser) -> None:
    before, after = views()
    with opened(browser, pages(before, after), "/c") as page:
        expect(page.locator("#clock-title")).to_have_text("A clock is running")
        expect(page.locator("#board .phase")).to_have_text("in challenge")
        for id_, html in channel_panels(after).items():
            assert page.locator(f"#{id_}").count() == 1, id_
            assert ("hidden" in html.split(">", 1)[0]) == page.locator(f"#{id_}").evaluate("(each) => each.hidden")


def test_the_live_region_stays_and_only_what_is_new_is_said(browser: Browser) -> None:
    before, after = views()
    only = {"/c": channel_page(before), "/c/events": ": nothing\n\n"}
    with opened(browser, only, "/c") as page:
        page.evaluate(
            "window.region = document.getElementById('say'); window.said = [];"
            "new MutationObserver((all) => all.forEach((each) => window.said.push(each.target.textContent)))"
            ".observe(window.region, { childList: true, subtree: true, characterData: true })"
        )
        only["/c/events"] = stream(channel_panels(after))
        expect(page.locator("#clock-title")).to_have_text("A clock is running", timeout=20_000)
        assert page.evaluate("window.region.isConnected")
        said = page.evaluate("window.said")
        assert [each.split(" until")[0] for each in said] == ["A clock is running"]


def seconds_of(clock: str) -> int:
    minutes, seconds = clock.split(":")
    return int(minutes) * 60 + int(seconds)


def test_focus_and_open_words_stay(browser: Browser) -> None:
    before, after = views()
    only = {"/c": channel_page(before), "/c/events": ": nothing\n\n"}
    with opened(browser, only, "/c") as page:
        page.locator("#safe-1 summary").click()
        page.locator("#w-4").focus()
        only["/c/events"] = stream(channel_panels(after))
        expect(page.locator("#clock-title")).to_have_text("A clock is running", timeout=20_000)
        assert page.evaluate("document.activeElement.id") == "w-4"
        assert page.evaluate("document.getElementById('safe-1').open")


def test_what_is_typed_before_the_stream_begins_stays(browser: Browser) -> None:
    before, after = views()
    typed = replace(before, chat=())
    pages = {"/c": channel_page(typed), "/c/events": ": nothing\n\n"}
    with opened(browser, pages, "/c") as page:
        page.locator("#text").fill("Good luck")
        pages["/c/events"] = stream(channel_panels(replace(after, chat=())))  # all of them, as at the beginning
        expect(page.locator("#clock-title")).to_have_text("A clock is running", timeout=20_000)
        expect(page.locator("#text")).to_have_value("Good luck")


def test_a_clock_counts_from_the_chains_time(browser: Browser) -> None:
    _, after = views()
    with opened(browser, {"/c": channel_page(after), "/c/events": ": nothing\n\n"}, "/c") as page:
        left = page.locator(".count .left")
        shown = left.inner_text()
        expect(left).not_to_have_text(shown, timeout=5_000)
        later, bar = page.evaluate(
            "[document.querySelector('.count .left').textContent, document.querySelector('progress').value]"
        )
        assert 0 < seconds_of(shown) - seconds_of(later) < 10
        assert bar == seconds_of(later)


def test_a_form_is_sent_without_a_reload_while_the_stream_is_there(browser: Browser) -> None:
    before, _ = views()
    with opened(browser, {"/c": channel_page(before)}, "/c", before=LIVE) as page:
        page.route("**/act", lambda route: route.fulfill(status=204))
        expect(page.locator("#live")).to_have_text("live")
        page.evaluate("window.isTheSamePage = true")
        with page.expect_response("**/act") as answered:
            page.locator("#do-challenge").click()
        request = answered.value.request
        assert (request.method, request.headers["x-live"]) == ("POST", "1")
        assert set((request.post_data or "").split("&")) == {"token=form-token", "turn=9", "do=challenge"}
        assert page.evaluate("window.isTheSamePage")


def test_a_refusal_is_shown_and_what_was_typed_stays(browser: Browser) -> None:
    before, _ = views()
    refused = {"status": 409, "body": "That is too much at once."}
    with opened(browser, {"/c": channel_page(replace(before, chat=()))}, "/c", before=LIVE) as page:
        answers: list[dict[str, Any]] = [refused, {"status": 204}]
        page.route("**/say", lambda route: route.fulfill(**answers.pop(0)))
        expect(page.locator("#live")).to_have_text("live")
        expect(page.locator("#chatting")).to_contain_text("its operator can read them")
        page.locator("#text").fill("Good luck")
        page.locator("#say-it").click()
        expect(page.locator("#live")).to_have_text("That is too much at once.")
        expect(page.locator("#text")).to_have_value("Good luck")
        page.locator("#say-it").click()
        expect(page.locator("#live")).to_have_text("live")
        expect(page.locator("#text")).to_have_value("")


def test_a_form_that_nobody_takes_leaves_its_page_where_it_is(browser: Browser) -> None:
    """The program has ended: the stream, too."""
    before, _ = views()
    with opened(browser, {"/c": channel_page(replace(before, chat=()))}, "/c", before=DEAD) as page:
        expect(page.locator("#live")).to_contain_text("lost")
        page.locator("#text").fill("Good luck")
        page.locator("#say-it").click()
        expect(page.locator("#live")).to_have_text("not sent: try again")
        expect(page.locator("#text")).to_have_value("Good luck")
        page.route("**/say", lambda route: route.fulfill(status=204))
        page.evaluate("window.isTheSamePage = true")
        with page.expect_event("load"):
            page.locator("#say-it").click()
        assert not page.evaluate("window.isTheSamePage")


def test_without_scripts_the_same_form_is_posted(browser: Browser) -> None:
    before, _ = views()
    with opened(browser, {"/c": channel_page(before)}, "/c", java_script_enabled=False) as page:
        page.route("**/act", lambda route: route.fulfill(status=200, body="done", content_type="text/html"))
        with page.expect_request("**/act") as asked:
            page.locator("#do-leave").click()
            expect(page.locator("#sure-leave")).to_contain_text("Leave with your next turn: you are paid 0.6 ether")
            page.locator("#sure-leave").click()
        assert asked.value.method == "POST"
        assert set((asked.value.post_data or "").split("&")) == {"token=form-token", "turn=9", "do=leave"}


def test_a_page_without_a_clock_is_idle(browser: Browser) -> None:
    before, _ = views()
    assert before.seen.silence is not None
    idle = replace(before, groups=())
    with opened(browser, {"/c": channel_page(idle)}, "/c", before=LIVE + COUNTED) as page:
        assert page.evaluate("window.timers") == 0


@pytest.mark.parametrize("is_open", [True, False])
def test_a_link_is_copied_by_one_click(browser: Browser, is_open: bool) -> None:
    """`is_open`: whether the page may write to the clipboard; by http from another machine it may not."""
    closed = "" if is_open else "Object.defineProperty(navigator, 'clipboard', { value: undefined });"
    with opened(browser, section_pages(), "/lobby", before=closed, permissions=["clipboard-write"]) as page:
        field = page.locator("input[readonly]").first
        page.locator("[data-copy]").first.click()
        expect(page.locator("[data-copy]").first).to_have_text("Copied the link for a friend")
        pasted = page.locator("#any-link")
        pasted.focus()
        page.keyboard.press("Control+V")
        expect(pasted).to_have_value(field.input_value())
        assert field.input_value().startswith("forcemove2")


def test_without_scripts_nothing_is_offered_that_only_a_script_does(browser: Browser) -> None:
    with opened(browser, section_pages(), "/lobby", java_script_enabled=False) as page:
        expect(page.locator("[data-copy]").first).to_be_hidden()
