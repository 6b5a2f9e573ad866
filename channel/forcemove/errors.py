"""The bases of all errors, by whose fault it is. Errors are facts with values; no code tests their text.

`ForcemoveError`
├── `LocalError`              ours: we asked for something that we may not do
│   └── `InvalidValue`        ... and a value was built that the protocol's types do not allow
├── `CounterpartyError`       a counterparty broke a rule, or kept silent; on our side nothing has changed
├── `ChainError`              the chain, or the way to it, failed
│   └── `PassingError`        ... as it does now and then: the same request may work in a moment
├── `JournalError`            the journal, or the disk or database server that it is on, failed
│   └── `JournalUnavailable`  ... as it does now and then: the same may work in a moment
├── `RuleError`               a rule of the protocol, or of an app, forbids it to everybody; each class has the
│   │                         name and the values of the Solidity error that the adjudicator reverts with
│   └── `AppError`            ... of an app: subclassed by games
├── `MalformedBytes`          bytes, hex or JSON that decode to nothing, wherever they came from
└── `UnknownVersion`          bytes of a version that this program does not know

Every other error is a subclass of one of these, and is defined in its own package, beside what raises it.

Knows no other module.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import dataclass_transform


@dataclass_transform(eq_default=False, field_specifiers=(field,))
class ForcemoveError(Exception):
    """The root of all that this library raises on purpose. Each subclass is made a dataclass; its fields are the
    facts."""

    def __init_subclass__(cls) -> None:
        dataclass(eq=False)(cls)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.values() == other.values()

    def __hash__(self) -> int:
        return hash((type(self), *map(repr, self.values().values())))

    def values(self) -> dict[str, object]:
        """The facts, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def __str__(self) -> str:
        """The name and the values, bytes as hex."""
        shown = ", ".join(f"{name}={_shown(value)}" for name, value in self.values().items())
        return f"{type(self).__name__}({shown})"


def _shown(value: object) -> str:
    return "0x" + value.hex() if isinstance(value, bytes) else str(value)


class LocalError(ForcemoveError):
    """Our own fault: we asked for something that we may not do, or gave a value that cannot be used. Nothing has
    changed."""


class InvalidValue(LocalError):
    """A value that the protocol's types do not allow: `field` names it, `reason` says what is allowed."""

    field: str
    value: object
    reason: str


class MalformedBytes(ForcemoveError):
    """Bytes, hex or JSON that are not the encoding of a `what`."""

    what: str
    reason: str


class UnknownVersion(ForcemoveError):
    """A `what` (a message, a file, a signed action) of a `version` that this program does not know; it knows `known`.

    If the version is newer, a newer program has written it, and ours must be updated. If it is older, its writer must
    update.
    """

    what: str
    version: int
    known: int

    @property
    def is_newer(self) -> bool:
        """Whether it is our program that must be updated."""
        return self.version > self.known


class RuleError(ForcemoveError):
    """A rule forbids it. The class and its values are those of the Solidity custom error."""


class AppError(RuleError):
    """A rule of an app forbids it. Games subclass this, one class for each custom error of their contract."""


class CounterpartyError(ForcemoveError):
    """A counterparty's fault: it broke a rule, or did not do what it was to do. On our side nothing has changed."""


class ChainError(ForcemoveError):
    """The chain, or the way to it, failed."""


class PassingError(ChainError):
    """The way to the chain failed, as it does now and then: the same request may work in a moment."""


class JournalError(ForcemoveError):
    """The journal, or the disk or the database server that it is on, failed. Nothing is half-written."""


class JournalUnavailable(JournalError):
    """The journal cannot be used just now: the same operation may work in a moment, or once there is room on the
    disk."""
