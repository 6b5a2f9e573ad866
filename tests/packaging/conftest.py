"""The wheel, built once, and an environment that has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.packaging.wheel import build_wheel, install_beside_ours


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Those of an environment that has the wheel, beside what ours has."""
    return install_beside_ours(wheel, tmp_path_factory.mktemp("beside") / "environment")


@pytest.fixture(scope="session")
def types(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where mypy keeps what it has found out of the wheel's types."""
    return tmp_path_factory.mktemp("types")
