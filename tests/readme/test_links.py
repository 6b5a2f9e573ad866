"""What the pages name is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.readme.text import PAGES, README, ROOT, anchors, code_spans, links, name_of

FOLDERS = tuple(f"{entry.name}/" for entry in ROOT.iterdir() if entry.is_dir() and entry.name[0] != ".")


def target(page: Path, path: str) -> Path:
    """The file that a link on the page leads to."""
    return (page.parent / path).resolve() if path else page


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    assert links(page)
    for link in links(page):
        path, _, anchor = link.partition("#")
        assert target(page, path).exists(), link
        assert not anchor or anchor in anchors(target(page, path)), link


@pytest.mark.parametrize("page", PAGES[1:], ids=name_of)
def test_the_readme_leads_to_every_page(page: Path) -> None:
    assert page in {target(README, link) for link in links(README)}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_path_named_in_the_text_exists(page: Path) -> None:
    paths = [span.split()[0] for span in code_spans(page) if span.startswith(FOLDERS)]

    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []
