"""What the pages name is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.readme.text import DOCS, LINKED, PAGES, README, ROOT, anchors, code_spans, links, name_of

FOLDERS = tuple(f"{entry.name}/" for entry in ROOT.iterdir() if entry.is_dir() and entry.name[0] != ".")


def target(page: Path, path: str) -> Path:
    """The file that a link on the page leads to."""
    return (page.parent / path).resolve() if path else page


@pytest.mark.parametrize("page", LINKED, ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        assert target(page, path).exists(), link
        assert not anchor or anchor in anchors(target(page, path)), link


def reached() -> set[Path]:
    """Every page that the README leads to, by itself or through others."""
    found, coming = set[Path](), {README}
    while coming:
        page = coming.pop()
        found.add(page)
        targets = {target(page, link.partition("#")[0]) for link in links(page)}
        coming |= {each / "README.md" if each.is_dir() else each for each in targets} & set(LINKED) - found
    return found


@pytest.mark.parametrize("page", LINKED[1:], ids=name_of)
def test_the_readme_leads_to_every_page(page: Path) -> None:
    assert page in reached()


@pytest.mark.parametrize("index", [DOCS / "README.md", DOCS / "decisions" / "README.md"], ids=name_of)
def test_an_index_has_every_page_of_its_folder(index: Path) -> None:
    assert {target(index, link) for link in links(index)} >= {*index.parent.glob("*.md")} - {index}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_path_named_in_the_text_exists(page: Path) -> None:
    paths = [span.split()[0] for span in code_spans(page) if span.startswith(FOLDERS)]

    assert [path for path in paths if not (ROOT / path).exists()] == []
