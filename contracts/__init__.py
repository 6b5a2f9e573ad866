"""The compiled contracts, loaded by name. Playing and deploying need no compiler."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from forcemove.channel.artifact import Artifact, load_artifact
from forcemove.channel.errors import LocalError

__all__ = ["Artifact", "UnknownArtifact", "artifact", "artifact_names"]

_SUFFIX = ".json"


@dataclass(eq=False)
class UnknownArtifact(LocalError):
    """No compiled contract has this name; `known` are those that are there."""

    name: str
    known: tuple[str, ...]


@cache
def artifact(name: str) -> Artifact:
    """The artifact of the contract `name`; those of demonstrations too, and of tests where they are present.

    Raises `UnknownArtifact`.
    """
    found = _find(name)
    if found is None:
        raise UnknownArtifact(name, artifact_names())
    return load_artifact(found)


@cache
def artifact_names() -> tuple[str, ...]:
    """The contracts of the product: what a deployment may deploy."""
    return tuple(
        sorted(entry.name.removesuffix(_SUFFIX) for entry in _folder().iterdir() if entry.name.endswith(_SUFFIX))
    )


def _folder() -> Traversable:
    return files(__name__).joinpath("artifacts")


def _find(name: str) -> Traversable | None:
    if not name.isidentifier():
        return None
    candidates = (_folder().joinpath(*place, name + _SUFFIX) for place in ((), ("demo",), ("testing",), ("test",)))
    return next((candidate for candidate in candidates if candidate.is_file()), None)
