"""The playground's buttons as values: what each is called, what it does, and why it is shut. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Control:
    """A button. `name`: in a form; `text`: on the button; `press`: does what it says; `reason`: why it is shut, empty
    where it is open."""

    name: str
    text: str
    press: Callable[[], None]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """Buttons that belong together, under a title."""

    title: str
    controls: tuple[Control, ...]
