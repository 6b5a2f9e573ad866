"""What the command that searches keeps of a broken promise."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checking import rows
from tests.checking.faults import FAULTS
from tests.checking.replay import on_twin, read


def test_a_broken_promise_is_kept_with_the_command_to_see_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fault = FAULTS["an old challenge not answered"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(rows, "ROWS", {"one": rows.Row("ladder 1x2", fault.bounds)})
    monkeypatch.setattr("sys.argv", ["rows"])
    with fault.present():
        assert rows.main() == 1
        run = read(tmp_path / rows.COUNTEREXAMPLE)
        replayed = [words for words, _ in on_twin(run.setting(), run.steps)]
    assert replayed[1 : len(run.steps) + 1] == list(run.steps)
    said = capsys.readouterr().out
    assert fault.finds in said
    assert "python -m tests.checking.replay counterexample.json" in said
