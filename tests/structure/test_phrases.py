"""Turns of phrase that a native speaker would not write stand in no source and on no page; `CHANGELOG.md` and the
decisions tell of what was."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.structure.imports import ROOT

PHRASES = {
    r"(?<!\bthere )(?:is|are|was|were) no (?!(?:longer|more|less|other|way|need|such|one)\b)": "is not a",
    r"\w+ of ours\b": "our",
    r"\bfor ever\b": "forever",
    r"\bso many (?:seconds|bytes|blocks|turns|words|moves|times)\b": "n, this many",
    r"\bwhoever\b": "anyone who",
    r"\b(?:goes|go|gone|going|went) on with\b": "continues",
    r"\bseldom\b": "rarely",
    r"\bby (?:one|an) \w+'s word\b": "according to",
}
"""Each with what is written instead."""
ENDS = frozenset({".py", ".md", ".sol", ".html", ".toml", ".mjs"})
FOLDERS = ("channel", "games", "scripts", "contracts", "docs", "tests")
OTHERS = frozenset({"node_modules", "decisions", "artifacts", "formats", "golden"})


def pages() -> Iterator[Path]:
    """Every source and page."""
    yield from (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md"))
    for folder in FOLDERS:
        yield from (
            file
            for file in (ROOT / folder).rglob("*")
            if file.suffix in ENDS and not OTHERS & {*file.relative_to(ROOT).parts} and file != Path(__file__)
        )


TEXTS = {file: " ".join(file.read_text("utf-8").split()) for file in pages()}


@pytest.mark.parametrize(("phrase", "instead"), PHRASES.items(), ids=PHRASES.values())
def test_it_is_said_as_a_native_speaker_would(phrase: str, instead: str) -> None:
    found = [
        f"{file.relative_to(ROOT)}: …{text[max(0, match.start() - 40) : match.end() + 20]}… ({instead})"
        for file, text in TEXTS.items()
        for match in re.finditer(phrase, text, re.IGNORECASE)
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    ["this is no number", "a client of ours", "closed for ever", "so many seconds", "Whoever waits", "goes on with it"],
)
def test_a_phrase_is_found(text: str) -> None:
    assert any(re.search(each, text, re.IGNORECASE) for each in PHRASES)


@pytest.mark.parametrize("text", ["there is no chain", "it is no longer open", "our client", "such a number of bytes"])
def test_what_a_native_speaker_writes_is_not(text: str) -> None:
    assert not any(re.search(each, text, re.IGNORECASE) for each in PHRASES)
