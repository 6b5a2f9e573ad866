"""For how long somebody was not heard from, in words. Pure."""

from __future__ import annotations

from typing import NamedTuple

from forcemove.text.situation.moment import clock_text

__all__ = ["ABSENT", "SilenceText", "presence_text"]

ABSENT = 40.0
"""Seconds without a word after which somebody may be away: two signs that somebody is there were lost."""
_MINUTE = 60


class SilenceText(NamedTuple):
    """How long somebody was not heard from. `pattern`: the words, with `{}` where the time belongs; `seconds`."""

    pattern: str
    seconds: int

    @classmethod
    def of(cls, seconds: float) -> SilenceText:
        """Of somebody whose name stands beside it."""
        return cls("not heard for {}" if seconds >= ABSENT else "heard {} ago", int(seconds))

    @property
    def text(self) -> str:
        """The words with the time."""
        time = f"{self.seconds} s" if self.seconds < _MINUTE else clock_text(self.seconds)
        return self.pattern.replace("{}", time)


def presence_text(name: str, seconds: float) -> str:
    """The same by itself, such as `heard from Bob 3 s ago`."""
    silence = SilenceText.of(seconds)
    return f"{name} {silence.text}" if seconds >= ABSENT else silence.text.replace("heard", f"heard from {name}", 1)
