"""The lobby's pages as HTML: each panel by itself, and whole pages. Pure: equal values make equal pages."""

from __future__ import annotations

from forcemove.browser.lobby.view import LobbyView, OfferPage
from forcemove.browser.templating import Nav, fill_in
from forcemove.text.harmless import harmless
from forcemove.text.situation.moment import count_text


def lobby_panels(view: LobbyView) -> dict[str, str]:
    """The HTML of each panel of the lobby by its id."""
    return {
        "say": fill_in("say.html", said=_said(view)),
        "notice": _notice(view.notice),
        "tables": fill_in("lobby_tables.html", view=view),
        "offers": fill_in("lobby_offers.html", view=view),
        "link": fill_in("lobby_link.html", token=view.form_token),
        "make": fill_in("lobby_make.html", view=view),
    }


def lobby_page(view: LobbyView, nav: Nav) -> str:
    """The whole page of the lobby."""
    return fill_in("lobby.html", nav=nav, title="Lobby", events="/lobby/events", panels=lobby_panels(view))


def offer_panels(view: OfferPage) -> dict[str, str]:
    """The HTML of each panel of an offer's page by its id."""
    said = (" ".join(view.table.lines) if view.table else "", "" if view.is_open else "This offer is no longer open.")
    return {
        "say": fill_in("say.html", said=said),
        "notice": _notice(view.notice),
        "offer": fill_in("offer_panel.html", view=view),
    }


def offer_page(view: OfferPage, nav: Nav) -> str:
    """The whole page of an offer."""
    events = f"{view.row.path}/events"
    return fill_in("lobby.html", nav=nav, title=view.row.title, events=events, panels=offer_panels(view))


def _notice(text: str) -> str:
    return fill_in("note.html", id="notice", label="Why that was not done", text=harmless(text), tone="alarm")


def _said(view: LobbyView) -> tuple[str, str]:
    """What a screen reader is told: of our newest table, and how many games are open."""
    newest = next((f"{each.title}: {' '.join(each.lines)}" for each in reversed(view.tables)), "")
    return newest, view.problem or f"{count_text(len(view.offers), 'open game')}."
