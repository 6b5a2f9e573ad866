"""The pages as their tests take them apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
README = ROOT / "README.md"
CHANNEL = ROOT / "channel" / "README.md"
DOCS = ROOT / "docs"
PAGES = (
    README,
    *(ROOT / f"{name}.md" for name in ("CHANGELOG", "CONTRIBUTING", "SECURITY")),
    *(ROOT / folder / "README.md" for folder in ("contracts", "channel", "games")),
    *sorted(DOCS.rglob("*.md")),
)
LINKED = (*PAGES, *(ROOT / each / "README.md" for each in ("tests/checking", "channel/forcemove/transport/jetstream")))
"""Those, and two whose examples are looked at by tests beside what they are about."""
_FENCED = re.compile(r"^```(\S*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


class Section(NamedTuple):
    """What follows a heading, up to the next heading of any depth."""

    page: Path
    heading: str
    text: str

    def __str__(self) -> str:
        return f"{name_of(self.page)}: {self.heading}"

    def blocks(self, language: str) -> list[str]:
        """The contents of its fenced blocks of a language, in order."""
        return [content for found, content in _FENCED.findall(self.text) if found == language]


def name_of(page: Path) -> str:
    """Its path in the repository."""
    return page.relative_to(ROOT).as_posix()


def sections(page: Path) -> Iterator[Section]:
    """The page's sections, in order. What looks like a heading inside of a block is a comment."""
    text = page.read_text("utf-8")
    headings = list(re.finditer(r"^#+ (.+)$", _blank_blocks(text), re.MULTILINE))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    for heading, end in zip(headings, ends, strict=True):
        yield Section(page, heading[1], text[heading.end() : end])


def sections_with(language: str) -> list[Section]:
    """Of all pages those that have a block of the language."""
    return [section for page in PAGES for section in sections(page) if section.blocks(language)]


def prose(page: Path) -> str:
    """What is outside of fenced blocks."""
    return _blank_blocks(page.read_text("utf-8"))


def links(page: Path) -> list[str]:
    """Where the links lead that stay in the repository."""
    return re.findall(r"\]\((?!https://)([^)\s]+)\)", prose(page))


def anchors(page: Path) -> set[str]:
    """What links can name in the page, as GitHub makes it of headings."""
    headings = (section.heading.lower() for section in sections(page))
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings}


def code_spans(page: Path) -> list[str]:
    """What is between single backticks outside of blocks, in one line."""
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose(page))]


def _blank_blocks(text: str) -> str:
    """The text, as long as it was, with spaces in place of its fenced blocks."""
    return _FENCED.sub(lambda block: " " * len(block[0]), text)
