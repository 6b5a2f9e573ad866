"""What slither finds in the contracts is what is known, each finding with its reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import analyse
from scripts.analyse import AnalysisFailed, Finding, differences, load_reasons

KNOWN = Finding("Low", "timestamp", "Library.f() uses timestamp for comparisons")
NEW = Finding("High", "arbitrary-send-eth", "Library.g() sends eth to anybody")
ENTRY = '[[finding]]\nimpact = "Low"\ncheck = "timestamp"\nsays = "f"\nreason = {reason}\n'


@pytest.fixture(scope="module")
def found() -> frozenset[Finding]:
    return analyse.analyse()


def test_every_finding_is_known_and_every_known_one_is_still_found(found: frozenset[Finding]) -> None:
    assert differences(found, load_reasons()) == []


def test_nothing_is_found_to_be_of_high_impact(found: frozenset[Finding]) -> None:
    assert [finding for finding in found if finding.impact == "High"] == []


def test_slither_has_looked_at_what_is_deployed(found: frozenset[Finding]) -> None:
    """What it cannot fail to find where it has read the sources."""
    assert {finding.says.partition(".")[0] for finding in found} >= {"Adjudicator", "Hashing", "Payments", "Reader"}


def test_a_new_finding_and_one_that_is_gone_are_told() -> None:
    assert differences(frozenset({KNOWN, NEW}), {KNOWN: "a reason"}) == [
        'new: [[finding]]\nimpact = "High"\ncheck = "arbitrary-send-eth"\nsays = "Library.g() sends eth to anybody"'
    ]
    assert [text.partition(":")[0] for text in differences(frozenset(), {KNOWN: "a reason"})] == ["gone"]


@pytest.mark.parametrize("text", [ENTRY.format(reason='" "'), ENTRY.format(reason='"why"') * 2])
def test_an_entry_has_a_reason_and_stands_once(tmp_path: Path, text: str) -> None:
    path = tmp_path / "findings.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(AnalysisFailed, match="is there twice, or has no reason"):
        load_reasons(path)


def test_without_slither_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(analyse, "_SLITHER", tmp_path / "slither")
    with pytest.raises(AnalysisFailed, match="run scripts/setup test"):
        analyse.analyse()
