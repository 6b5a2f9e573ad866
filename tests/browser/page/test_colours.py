"""The colours of the page, computed from its style sheet: every text has a contrast of at least 4.5 to 1, light and
dark, on the page and inside of SVG."""

from __future__ import annotations

import re

import pytest

from forcemove.picture import TONES
from tests.browser.page.routed import STATIC

CSS = (STATIC / "page.css").read_text("utf-8")
SCHEMES = ("light", "dark")
TEXTS = [
    *((ink, ground) for ink in ("ink", "muted") for ground in ("paper", "card", "cell", "lit", "alarm")),
    *(("good", ground) for ground in ("paper", "card", "lit")),
    *(("bad", ground) for ground in ("paper", "card", "alarm", "lit")),
    *(("on", ground) for ground in ("good", "bad", "muted", *(f"s{seat}" for seat in range(8)))),
]
"""Text, and what it can stand on: a sign of the timeline stands on its lane's tone."""
DRAWN = [(f"s{seat}", ground) for seat in range(8) for ground in ("card", "cell", "lit")]
"""Marks in pictures, which are not text: 3 to 1."""


def colours(scheme: str) -> dict[str, tuple[float, float, float]]:
    first, second = re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)[:2]
    found = dict(re.findall(r"--(\w+): (#\w+)", first))
    if scheme == "dark":
        found |= dict(re.findall(r"--(\w+): (#\w+)", second))
    return {name: rgb(value) for name, value in found.items()}


def rgb(value: str) -> tuple[float, float, float]:
    digits = value[1:] if len(value) == 7 else "".join(each * 2 for each in value[1:])
    red, green, blue = (int(digits[start : start + 2], 16) / 255 for start in (0, 2, 4))
    return red, green, blue


def luminance(colour: tuple[float, float, float]) -> float:
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_text_can_be_read(scheme: str) -> None:
    found = colours(scheme)
    assert {(ink, on) for ink, on in TEXTS if contrast(found[ink], found[on]) < 4.5} == set()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_mark_can_be_made_out(scheme: str) -> None:
    found = colours(scheme)
    assert {(ink, on) for ink, on in DRAWN if contrast(found[ink], found[on]) < 3} == set()


def test_both_schemes_have_the_same_names() -> None:
    assert colours("light").keys() == colours("dark").keys()
    assert colours("light") != colours("dark")


def test_the_contrast_of_black_and_white_is_21() -> None:
    assert contrast(rgb("#000"), rgb("#ffffff")) == pytest.approx(21)


@pytest.mark.parametrize("tone", TONES)
def test_every_tone_has_its_colour(tone: str) -> None:
    assert f".f-{tone} {{" in CSS
    if tone != "none":
        assert f".s-{tone} {{" in CSS


def test_nothing_moves_where_the_user_wants_no_motion() -> None:
    assert "@keyframes" not in CSS
    assert not re.search(r"(?<!prefers-reduced-motion: reduce\) \{ \* \{ )\btransition: (?!none)", CSS)
    assert "prefers-reduced-motion" in CSS


def test_no_border_is_hidden_by_its_colour() -> None:
    """A browser that is told to use few colours draws it, as if it were the mover's."""
    assert not re.search(r"border[\w-]*:[^;]*transparent", CSS)


def test_nothing_is_loaded_from_elsewhere() -> None:
    for file in STATIC.iterdir():
        text = file.read_text("utf-8")
        assert "@import" not in text
        assert "url(" not in text
        assert re.findall(r"https?://[^\"]+", text) in ([], ["http://www.w3.org/2000/svg"])
