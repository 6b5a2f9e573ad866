"""The command, in a directory of its own and with nothing of ours in the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import Command


@pytest.fixture
def forcemove(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    for name in ("FORCEMOVE_PASSPHRASE", "FORCEMOVE_PRIVATE_KEY", "FORCEMOVE_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return Command(capsys)
