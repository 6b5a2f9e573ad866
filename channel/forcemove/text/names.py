"""Players' names as they may be shown. Pure.

A name is what a stranger has signed, so it says nothing about who that is: only the address does. What a terminal or a
page would obey, hide, turn around or pile up is written out, as `\\x1b`. So are letters that are there to look like
others: those of a second script, and those that Unicode has for compatibility alone. A name of which nothing can be
read after that, that is too wide, or that is the word for another player's seat, is not shown at all. A name that is
read from right to left is isolated, so that the line around it is not.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from forcemove.chain.addresses import short_address
from forcemove.errors import InvalidValue
from forcemove.text.harmless import isolated
from forcemove.transport.offers import require_name

_MOST_COLUMNS = 32
_MOST_MARKS = 2
"""Combining marks on one letter: more of them run over other lines."""
_PLAIN = frozenset(" -_.'")
_SHOWN = ("L", "M", "N")
"""The classes of characters that names are of: letters, marks and digits. Of symbols there are pictures (So), too."""
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\ufffc\ufffd\U000e0100-\U000e01ef]"
)
"""Letters, marks and symbols that are shown as nothing."""
_ADDRESS = re.compile(r"[ \-_.']*0x.*")
_SEAT = re.compile(r"(host|guest|player|partlclpant|seat)[0-9ol]*")
"""The word for a seat, as `_skeleton` makes it."""
_OURS = ("you", "me", "chain", "the chain", "nobody", "everybody", "counterparty", "a counterparty", "the others")
"""Words that our text has in the place of a name."""
_ONE_SCRIPT = (
    {"LATIN", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "IDEOGRAPHIC"},
    {"LATIN", "CJK", "HANGUL"},
    {"LATIN", "CJK", "BOPOMOFO"},
)
"""Scripts that one language is written in together, and that nobody takes for each other."""
_ALIKE = str.maketrans("01i", "oll")


def shown_name(name: str) -> str:
    """A name as it may be shown; empty where nothing of it can be. What is written out is in ASCII."""
    if not name:
        return ""
    shown = "".join(_shown_characters(unicodedata.normalize("NFC", name))).strip()
    shown = re.sub(" {2,}", " ", shown)
    is_readable = any(unicodedata.category(each)[0] in "LNS" for each in shown)
    return shown if is_readable and _columns(shown) <= _MOST_COLUMNS and not _is_reserved(shown) else ""


def own_name(typed: str) -> str:
    """The name that a player has typed, as the others will see it; may be empty. Raises `InvalidValue` where they would
    not."""
    name = unicodedata.normalize("NFC", typed).strip()
    require_name(name)
    if shown_name(name) != name:
        raise InvalidValue("name", name, "letters of one script, digits and spaces: others would not be shown this one")
    return name


def full_name(name: str, address: bytes) -> str:
    """A name with the address' short form, as `Alice 0x1c7a…639a`, where somebody decides about money; the short form
    alone where there is no name to show. `address`: 20 bytes."""
    return f"{isolated(shown_name(name))} {short_address(address)}".strip()


def shown_names(names: Sequence[str], addresses: Sequence[bytes]) -> tuple[str, ...]:
    """The names of a table's players for its board, by seat: the seat's word where a player has none to show. Names
    that could be taken for each other have the addresses' short forms. `addresses`: 20 bytes each."""
    shown = [shown_name(each) for each in names]
    alike = Counter(_skeleton(each) for each in shown if each)

    def called(seat: int) -> str:
        name = isolated(shown[seat]) or seat_title(seat, len(shown))
        is_alike = shown[seat] and alike[_skeleton(shown[seat])] > 1
        return f"{name} {short_address(addresses[seat])}" if is_alike else name

    return tuple(called(seat) for seat in range(len(shown)))


def seat_title(seat: int, seats: int) -> str:
    """The word for a seat (from 0) whose player has no name."""
    if seat == 0:
        return "Host"
    return "Guest" if seats == 2 else f"Player {seat + 1}"


def _is_reserved(name: str) -> bool:
    """Whether our text could be confused by this name: it looks like a seat, an address, or a word of our text."""
    bare = _skeleton(name)
    is_seat = _SEAT.fullmatch(bare) or _ADDRESS.match(name.casefold())
    return is_seat is not None or bare in map(_skeleton, _OURS)


def _shown_characters(name: str) -> list[str]:
    main, marks, shown = _scripts(name), 0, list[str]()
    for each in name:
        marks = marks + 1 if unicodedata.category(each).startswith("M") else 0
        is_plain = each in _PLAIN or (each.isascii() and each.isalnum())
        is_good = is_plain or (_is_harmless(each) and _script(each) in main and marks <= _MOST_MARKS)
        shown.append(each if is_good else _written_out(each))
    return shown


def _written_out(character: str) -> str:
    escaped = character.encode("unicode_escape").decode("ascii")
    return escaped if escaped != character else f"\\x{ord(character):02x}"


def _is_harmless(character: str) -> bool:
    """Whether a character is shown, and as itself."""
    category = unicodedata.category(character)
    is_of_names = category[0] in _SHOWN or category == "So"
    is_itself = unicodedata.normalize("NFKC", character) == character
    return character.isprintable() and is_of_names and is_itself and not _UNSEEN.match(character)


def _scripts(name: str) -> set[str]:
    """The scripts whose letters may be shown: all of the name's where they are written together; else Latin, if the
    name has any of it, or the first one."""
    found = list(dict.fromkeys(script for each in name if (script := _script(each)) and each.isalpha()))
    if len(found) < 2 or any(set(found) <= together for together in _ONE_SCRIPT):
        return {"", *found}
    return {"", "LATIN" if "LATIN" in found else found[0]}


def _script(character: str) -> str:
    """The first word of a letter's Unicode name, which is its script; empty for what is of no script."""
    if not character.isalpha():
        return ""
    return unicodedata.name(character, "UNKNOWN").split()[0]


def _columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    wide = sum(unicodedata.east_asian_width(each) in "WF" for each in text)
    return len(text) + wide - sum(unicodedata.category(each) == "Mn" for each in text)


def _skeleton(name: str) -> str:
    """The same for names that look alike at a glance."""
    bare = "".join(each for each in unicodedata.normalize("NFKD", name.casefold()) if each.isalnum())
    return bare.translate(_ALIKE)
