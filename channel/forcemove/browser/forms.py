"""The fields of the page's forms, however they come here."""

from __future__ import annotations

import re
from dataclasses import dataclass

from forcemove.browser.security import PageRequestRefused

_PATH = re.compile(r"/|/c/0x[0-9a-f]{64}(\?at=[0-9]{1,6})?")
_MOST_TURN = 2**48


@dataclass(frozen=True, slots=True)
class PostedForm:
    """A form's fields, by name."""

    fields: dict[str, str]

    def text(self, name: str) -> str:
        """A field; empty where the form has none of this name."""
        return self.fields.get(name, "")

    def turn(self) -> int:
        """The field `turn`. Raises `PageRequestRefused`."""
        return self.number("turn")

    def number(self, name: str) -> int:
        """A field with a whole number. Raises `PageRequestRefused`."""
        text = self.text(name)
        if not text.isascii() or not text.isdecimal() or len(text) > len(str(_MOST_TURN)):
            raise PageRequestRefused(400, f"The form has no {name}.")
        return int(text)

    def path(self) -> str:
        """The field `path`, where it is a page of this server, else the first page."""
        path = self.text("path")
        return path if _PATH.fullmatch(path) else "/"
