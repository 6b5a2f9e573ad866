"""How the worker of the page begins that plays links: what JavaScript calls by name."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from forcemove.chain.threads import aside
from forcemove.errors import ForcemoveError
from forcemove.link_page.friends import FriendsTab
from forcemove.link_page.kept import KeptImage, Slot, kept_key
from forcemove.link_page.stake import checked, require_no_other_chain, stake_of
from forcemove.link_page.stake_settings import StakeSettings
from forcemove.link_page.stake_site import StakeSite
from forcemove.protocol.signing import Key
from forcemove.registry import installed_games
from forcemove.sessions.options import TableOptions
from forcemove.store.journal import Journal
from forcemove.store.opening import open_image
from forcemove.store.records import OWNER_LENGTH
from forcemove.text.explanations import explain
from forcemove.text.names import own_name
from forcemove.transport.links import parse_link

_NOTHING_KEPT = "This browser keeps nothing here, so that no stake could be defended: the page plays friendly games."
_CANNOT_WAIT = (
    "This browser lacks what a stake needs (JavaScript Promise Integration, which Chromium has since version 137, and "
    "Firefox 153 has): the page plays friendly games."
)


def relay_of(link: str) -> tuple[str, str]:
    """The relay that a link names, and why it names none; one of them is empty."""
    try:
        return parse_link(link).relay, ""
    except ForcemoveError as error:
        return "", explain(error)


async def begin(slots: Sequence[Any], relay: str, name: str, page: str, browser: Any) -> tuple[FriendsTab | None, str]:
    """The games, which play on by themselves, and what was begun before; and why there are none.

    - `slots`: JavaScript's files of the key, of the image's two copies and of the stake's settings; none where nothing
      is kept.
    - `relay`: its address.
    - `name`: the player's, which the others are shown.
    - `page`: this page's address, which friends are given.
    - `browser`: tells whether Python can wait inside a function there (`suspends`, see `chain.threads`), and, when it
      is asked (`persisted`), whether it has promised to keep the files; asks the wallet (`askWallet`, an
      `AskProvider`); is told whether nobody answers if the page is closed (`sayUnwatched`, see `FriendsTab`),
      and that the games do not go on (`sayOver`, see `PageTab.play`); encrypts (`encrypt`, see `saved_copy.Encrypt`).
    """
    games, files = [each.game for each in installed_games().usable], list(map(_File, slots))

    async def check(found: StakeSettings) -> StakeSettings:
        is_kept = await browser.persisted()
        wanted = await aside(lambda: checked(found, games, browser.askWallet, is_kept=is_kept))
        require_no_other_chain(journal, games, wanted.chain_id)
        return wanted

    def keep(found: StakeSettings) -> None:
        files[-1].write(found.encode())

    async def encrypt(*given: bytes | int) -> tuple[bytes, bytes]:
        mac_key, hidden = await browser.encrypt(*given)
        return bytes(mac_key.to_bytes()), bytes(hidden.to_bytes())

    try:
        options = TableOptions(relay, name=own_name(name), page=page, keeps_relay=True)
        settings = StakeSettings.decode(files[-1].read()) if files and browser.suspends else None
        is_kept = bool(files) and await browser.persisted()
        stake = stake_of(settings, games, browser.askWallet, is_kept=is_kept) if settings else None
        impossible = _NOTHING_KEPT if not files else "" if browser.suspends else _CANNOT_WAIT
        journal, key = _kept(files)
        stake_site = StakeSite(settings, key.address, urlsplit(page).netloc, impossible, check, keep)
        tab = FriendsTab(games, journal, key, options, stake, stake_site, browser.sayUnwatched, encrypt)
    except ForcemoveError as error:
        return None, explain(error)
    tab.play(browser.sayOver)
    return tab, ""


def _kept(slots: Sequence[Slot]) -> tuple[Journal, Key]:
    key_slot, *copies = slots[:3] or (_Nowhere(), _Nowhere(), _Nowhere())
    image = KeptImage(copies)
    kept = image.read()
    key = kept_key(key_slot, has_journal=bool(kept))
    return open_image(lambda: kept, image.write, owner=secrets.token_bytes(OWNER_LENGTH)), key


class _File:
    """A `Slot` that JavaScript has opened."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def read(self) -> bytes:
        return bytes(self._file.read().to_bytes())

    def write(self, data: bytes) -> None:
        try:
            self._file.write(data)
        except Exception as error:  # JavaScript's, whatever it is
            raise OSError(str(error)) from None


class _Nowhere:
    """A `Slot` that keeps nothing."""

    def read(self) -> bytes:
        return b""

    def write(self, data: bytes) -> None:
        """What is written is gone with the tab."""
