"""The list of channels: deadlines first, then money to come, then what is played, and what is over last."""

from __future__ import annotations

from forcemove.browser.drawing.listing import listed_rows
from forcemove.browser.render import channels_page
from forcemove.inspect.journal_channel import read_channels
from forcemove.inspect.listed_channel import ListedChannel
from tests.browser.html import elements, text_of
from tests.browser.views import GAMES, Looks
from tests.scenarios.story import DURATION, Story


def row_of(story: Story, now: int | None = None) -> ListedChannel:
    ((found,), _) = read_channels(story.alice.journal, GAMES)
    return found.listed(story.alice.client.managed.time() if now is None else now)


def test_what_is_urgent_comes_first(looks: Looks) -> None:
    paid, playing, challenged = looks.paid(), looks.ours(), looks.challenged()
    finalized = looks.challenged()
    end = finalized.finalizes_at
    rows = listed_rows([row_of(paid), row_of(playing), row_of(finalized, end), row_of(challenged)], end)
    assert [row.phase for row in rows] == ["in challenge", "over, being paid", "playing, your turn", "over"]
    assert [row.tone for row in rows] == ["bad", "", "", "muted"]
    assert [row.money.split(" ", 2)[2] for row in rows] == ["if it ended now", "to come", "if it ended now", "paid"]


def test_a_row_leads_to_its_channel_and_counts_its_deadline_down(looks: Looks) -> None:
    story = looks.challenged()
    now = story.alice.client.managed.time()
    page = channels_page([row_of(story)], now)
    (link,) = [each for each in elements(page) if (each.attributes.get("href") or "").startswith("/c/")]
    assert link.attributes["href"] == f"/c/0x{story.agreement.channel_id.hex()}"
    (clock,) = [each for each in elements(page) if "data-until" in each.attributes]
    assert int(clock.attributes["data-until"] or 0) == story.finalizes_at
    assert int(clock.attributes["data-now"] or 0) == now
    assert story.finalizes_at - now <= DURATION
    assert "Tic-tac-toe" in text_of(page)
