"""The compiled contracts, loaded by name. Playing and deploying need no compiler."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from forcemove.artifact import Artifact, load_artifact
from forcemove.contracts.place import CONTRACTS
from forcemove.errors import LocalError

__all__ = ["Artifact", "UnknownArtifact", "artifact", "artifact_names"]

_ARTIFACTS = CONTRACTS / "artifacts"


class UnknownArtifact(LocalError):
    """No compiled contract has this name; `known` are those that are there."""

    name: str
    known: tuple[str, ...]


@cache
def artifact(name: str) -> Artifact:
    """The artifact of the contract `name`; those of demonstrations too, and of tests where they are installed.

    Raises `UnknownArtifact`.
    """
    found = _find(name)
    if found is None:
        raise UnknownArtifact(name, artifact_names())
    return load_artifact(found)


@cache
def artifact_names() -> tuple[str, ...]:
    """The names of the product's contracts, which a deployment may deploy."""
    return tuple(sorted(path.stem for path in _ARTIFACTS.glob("*.json")))


def _find(name: str) -> Path | None:
    if not name.isidentifier():
        return None
    candidates = (_ARTIFACTS.joinpath(*place, f"{name}.json") for place in ((), ("demo",), ("testing",), ("test",)))
    return next((candidate for candidate in candidates if candidate.is_file()), None)
