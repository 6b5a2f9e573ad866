"""The wheel, built once, and an environment that has it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.packaging.wheel import build_wheel, install_with_ours

_OTHERS = """
[mypy]
[mypy-aiohttp.*,eth_account.*,eth_keys.*,psycopg.*,py_ecc.*,pydantic.*,sqlalchemy.*,web3.*]
follow_imports = skip
"""


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Those of an environment that has the wheel, beside what ours has."""
    return install_with_ours(wheel, tmp_path_factory.mktemp("beside") / "environment")


@pytest.fixture(scope="session", params=["ours", pytest.param("all", marks=pytest.mark.long)])
def types(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Sequence[str | Path]:
    """How mypy is to look at the wheel: strictly, and for speed without the types of the large packages that it is made
    with, which nobody's program sees; under --long with those. What it has found out is kept."""
    folder = tmp_path_factory.mktemp("types")
    (folder / "mypy.ini").write_text(_OTHERS if request.param == "ours" else "[mypy]\n", "utf-8")
    return ("--strict", "--config-file", folder / "mypy.ini", "--cache-dir", folder / "cache")
