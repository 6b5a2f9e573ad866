"""How the worker of the page begins that plays links: what JavaScript calls by name."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

from forcemove.errors import ForcemoveError
from forcemove.link_page.friends import FriendsTab
from forcemove.link_page.kept import KeptImage, kept_key
from forcemove.link_page.tab import games_for_two
from forcemove.protocol.signing import Key
from forcemove.sessions.options import TableOptions
from forcemove.store.journal import Journal
from forcemove.store.opening import open_image
from forcemove.store.records import OWNER_LENGTH
from forcemove.text.explanations import explain
from forcemove.text.names import own_name
from forcemove.transport.links import parse_link

__all__ = ["begin", "relay_of"]


def relay_of(link: str) -> tuple[str, str]:
    """The relay that a link names, and why it names none; one of them is empty."""
    try:
        return parse_link(link).relay, ""
    except ForcemoveError as error:
        return "", explain(error)


def begin(slots: Sequence[Any], relay: str, name: str, page: str) -> tuple[FriendsTab | None, str]:
    """Friendly games, which play on by themselves, and what was begun before; and why there are none.

    - `slots`: JavaScript's files of the key and of the image's two copies; none where nothing is kept.
    - `relay`: its address.
    - `name`: the player's, which the others are shown.
    - `page`: this page's address, which friends are given.
    """
    try:
        options = TableOptions(relay, name=own_name(name), page=page)
        tab = FriendsTab(games_for_two(), *_kept(list(map(_File, slots))), options)
    except ForcemoveError as error:
        return None, explain(error)
    tab.play()
    return tab, ""


def _kept(slots: Sequence[_File]) -> tuple[Journal, Key]:
    key_slot, *copies = slots or (_Nowhere(), _Nowhere(), _Nowhere())
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
