"""What a service grants its clients: every limit is a number that its operator can set."""

from __future__ import annotations

from forcemove.errors import InvalidValue


def require_positive(limits: object) -> None:
    """Refuse limits, a dataclass of numbers, of which one is not above 0. Raises `InvalidValue`."""
    for name, value in vars(limits).items():
        if value <= 0:
            raise InvalidValue(name, value, "more than 0")
