"""The pictures on the pages show what the page shows now: the same elements and words, and no comparison of pixels."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from scripts import pictures
from scripts.page_moments import MOMENTS, shown_lines
from tests.readme.text import PAGES, name_of

_SHOWN = re.compile(r'(?:srcset|src)="([^"]+\.webp)"')
_BLOCK = re.compile(r"<picture>(.*?)</picture>", re.DOTALL)


@pytest.mark.parametrize("name", MOMENTS)
def test_a_picture_shows_what_the_page_shows(name: str) -> None:
    assert pictures.stale(only=(name,)) == []


def test_a_page_that_says_something_else_makes_its_pictures_stale(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(pictures.FOLDER, tmp_path / "pictures"))
    kept = json.loads((folder / pictures.SHOWN).read_text("utf-8"))
    lines = kept["board"]["shown"]
    place = next(index for index, each in enumerate(lines) if "Ways out" in each)
    lines[place] = lines[place].replace("Ways out", "Ways in")
    (folder / pictures.SHOWN).write_text(json.dumps(kept), "utf-8")
    (folder / pictures.picture_name("board", "dark")).write_bytes(b"another")
    said = pictures.stale(folder, only=("board",))
    assert len(said) == 2
    assert "Ways out" in said[0]
    assert "Ways in" in said[0]
    assert "board-dark.webp" in said[1]


def test_what_is_shown_has_words_elements_and_nothing_that_varies() -> None:
    html = '<p class="a b" title="why">At 12:00:01, 0x00ff12ab costs 92,300 gas</p><br><br>'
    assert shown_lines(html) == ["<p.a.b> [why] At *, * costs * gas", "2 x <br>"]


def test_every_picture_is_small_and_made_by_the_script() -> None:
    made = {pictures.picture_name(name, scheme) for name in MOMENTS for scheme in pictures.SCHEMES}
    there = {each.name: each.stat().st_size for each in pictures.FOLDER.iterdir()}
    assert there.keys() == made | {pictures.SHOWN}
    assert max(there[name] for name in made) <= pictures.MOST_BYTES


def test_every_picture_is_on_a_page_light_and_dark_with_words() -> None:
    found = set[str]()
    for page in PAGES:
        for block in _BLOCK.findall(page.read_text("utf-8")):
            dark, light = _SHOWN.findall(block)
            assert dark == light.replace("-light.", "-dark."), name_of(page)
            assert 'alt="' in block, name_of(page)
            for each in (dark, light):
                assert (page.parent / each).resolve().exists(), (name_of(page), each)
                found.add(Path(each).name)
    assert found == {each.name for each in pictures.FOLDER.glob("*.webp")}
