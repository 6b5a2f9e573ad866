"""The wallet's page as HTML. Pure: equal values make equal pages."""

from __future__ import annotations

from forcemove.browser.templating import Nav, fill_in
from forcemove.browser.wallet.view import WalletView
from forcemove.text.situation.moment import count_text


def wallet_panels(view: WalletView) -> dict[str, str]:
    """The HTML of each panel of the page by its id."""
    newest = view.rows[0].title if view.rows else ""
    said = (f"{count_text(len(view.rows), 'transaction')} to sign.", newest)
    return {"say": fill_in("say.html", said=said), "requests": fill_in("wallet_requests.html", view=view)}


def wallet_page(view: WalletView, nav: Nav) -> str:
    """The whole page."""
    return fill_in(
        "wallet.html", nav=nav, title="Wallet", events="/wallet/events", view=view, panels=wallet_panels(view)
    )
