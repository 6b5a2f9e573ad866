"""Proofs are compiled against the committed creation code and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.symbolic import building
from tests.symbolic.building import PROVED, CodeNotCommitted, build, committed_codes


@pytest.mark.parametrize("name", PROVED)
def test_other_code_than_the_committed_is_refused(tmp_path: Path, name: str) -> None:
    codes = committed_codes()
    codes[name] += b"\0"
    with pytest.raises(CodeNotCommitted) as refused:
        build(tmp_path, "RecordProofs.sol", codes)
    assert refused.value.contract == name
    assert list(tmp_path.iterdir()) == []


def test_the_committed_code_is_not_refused() -> None:
    building.require_committed(committed_codes())
