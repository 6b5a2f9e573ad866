"""Names of strangers: whatever they are, what is shown of them moves no cursor, hides nothing and is nobody else's."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forcemove.chain.addresses import short_address
from forcemove.picture import text
from forcemove.text.harmless import harmless
from forcemove.text.names import full_name, own_name, seat_title, shown_name, shown_names

_WRITTEN_OUT = re.compile(r"\\(\\|x..|u.{4}|U.{8})")
ANN, BEN, CAT = (bytes([number]) * 20 for number in (1, 2, 3))
GOOD = (
    "Alice",
    "José",
    "Ken 山田",
    "Алёна",
    "山田たろう",
    "김철수",
    "Zed 😀",
    "O'Neil-2",
    "नमस्ते",
    "Ωmega".replace("mega", "μέγα"),
)
HIDDEN = {
    "Ali\x1b[2Jce": "\\x1b\\x5b2J",
    "a\u202eb": "\\u202e",
    "a\u200bb": "\\u200b",
    "a\u2028b": "\\u2028",
    "a\u3164b": "\\u3164",
    "a\ufe0fb": "\\ufe0f",
    "Bob (you)": "\\x28",
    "\u0410lice": "\\u0410",
    "Al\u03b9ce": "\\u03b9",
    "\U0001d400lice": "\\U0001d400",
    "\uff21lice": "\\uff21",
    "a, Ben 9 ether": "\\x2c",
}
NOTHING = ("", "   ", "-", "a" + "\u0301" * 30, "x" * 33, "Host", "gUEST", "you", "Player 3", "seat 2", "0x0101…0101")
OUR_WORDS = (
    "You.",
    "y0u",
    "-YOU-",
    "Yóu",
    "h0st",
    "Guest 1",
    "p1ayer 2",
    "part1cipant",
    "_0x1234",
    "Chain",
    "the chain",
)


@pytest.mark.parametrize("name", GOOD)
def test_a_name_is_shown_as_it_is(name: str) -> None:
    assert shown_name(unicodedata.normalize("NFC", name)) == name
    assert full_name(name, ANN) == f"{name} 0x0101…0101"


@pytest.mark.parametrize("name", ["דנה", "בן 2", "سلمى", "آدم"])
def test_a_name_that_is_read_from_right_to_left_turns_nothing_around_it(name: str) -> None:
    """Numbers and names beside it were shown in another order than they were written in."""
    isolated = f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}"
    assert shown_name(name) == own_name(name) == name  # as it is signed, and as programs are given it
    assert full_name(name, ANN) == f"{isolated} 0x0101…0101"
    assert shown_names((name, "Ben", name), (ANN, BEN, CAT)) == (
        f"{isolated} 0x0101…0101",
        "Ben",
        f"{isolated} 0x0303…0303",
    )
    assert harmless(f"{isolated} 5 ether") == f"{isolated} 5 ether"
    assert text(0, 0, f"{isolated}: 3 cards", size=8).words == f"{isolated}: 3 cards"


@pytest.mark.parametrize("mark", ["\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"])
@pytest.mark.parametrize(
    "words",
    [
        "{}דנה",
        "דנה{}",
        "{0}Ann{0}",
        "\N{FIRST STRONG ISOLATE}Ann\N{POP DIRECTIONAL ISOLATE}",
        "{0}דנה\N{RIGHT-TO-LEFT OVERRIDE}{0}",
    ],
)
def test_a_mark_that_a_stranger_has_written_is_written_out(mark: str, words: str) -> None:
    assert mark not in harmless(words.format(mark))
    assert mark not in shown_name(words.format(mark))


@pytest.mark.parametrize("name", HIDDEN)
def test_threat_61_what_hides_or_imitates_is_written_out(name: str) -> None:
    assert HIDDEN[name] in shown_name(name)


@pytest.mark.parametrize("name", NOTHING)
def test_threat_61_a_name_of_nothing_or_of_a_seat_is_not_shown(name: str) -> None:
    assert shown_name(name) == ""
    assert full_name(name, ANN) == short_address(ANN)


@pytest.mark.parametrize("name", OUR_WORDS)
def test_threat_61_a_name_that_looks_like_a_word_of_ours_is_not_shown(name: str) -> None:
    assert shown_name(name) == ""


@pytest.mark.parametrize("name", ["Youri", "Oxana", "Mel", "Hostess", "Chainani", "Guestin"])
def test_a_name_that_begins_like_a_word_of_ours_is_shown(name: str) -> None:
    assert shown_name(name) == name


@example(":\u048a")  # what is written out has Latin letters, whatever the name is in
@example("\U00017000")  # a letter for which Python has no name
@given(st.text(st.characters(), max_size=32))
def test_threat_61_no_name_is_more_than_a_line_of_letters(name: str) -> None:
    shown = shown_name(name)
    assert shown.isprintable()
    assert shown == shown.strip()
    assert len(shown) <= 3 * 32
    assert not any(unicodedata.category(each) in ("Cc", "Cf", "Cs", "Zl", "Zp") for each in shown)
    assert not set(shown) & set('()[]{}<>,;:…"`')
    marks = 0
    for each in shown:
        marks = marks + 1 if unicodedata.category(each).startswith("M") else 0
        assert marks <= 2
    letters = filter(str.isalpha, _WRITTEN_OUT.sub("", shown))
    scripts = {unicodedata.name(each, "UNKNOWN").split()[0] for each in letters}
    assert not {"LATIN", "CYRILLIC"} <= scripts
    assert not {"LATIN", "GREEK"} <= scripts
    assert shown_names([name, "Ben"], [ANN, BEN])[0]


def test_players_without_a_name_are_called_by_their_seats() -> None:
    assert shown_names(["", ""], [ANN, BEN]) == ("Host", "Guest")
    assert shown_names(["", "Ben", ""], [ANN, BEN, CAT]) == ("Host", "Ben", "Player 3")
    assert [seat_title(seat, 3) for seat in range(3)] == ["Host", "Player 2", "Player 3"]


@pytest.mark.parametrize("other", ["Alice", "alice", "A1ice", "ALICE", "Alicé", "Al ice"])
def test_threat_61_names_that_look_alike_have_their_addresses(other: str) -> None:
    first, second, third = shown_names(["Alice", other, "Ben"], [ANN, BEN, CAT])
    assert (first, third) == ("Alice 0x0101…0101", "Ben")
    assert second == f"{other} 0x0202…0202"
