"""Words of strangers on a terminal: what would move a cursor, hide text or turn it around is written out."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import struct
import sys
import termios

import pyte
import pytest

from forcemove.cli.errors import Explained, run
from forcemove.cli.terminal import Terminal
from forcemove.text.explanations import explain
from forcemove.text.harmless import harmless
from forcemove.transport.errors import RelayRefused, RelayUnreachable, refusal

BAD = "ok\x1b[2J\x1b]0;title\x07\r\x08\nresult You win\u202e\u200b\x9b1m\x00"
GOOD = r"ok\x1b[2J\x1b]0;title\x07\r\x08\nresult You win\u202e\u200b\x9b1m\x00"


def test_threat_61_what_a_terminal_would_obey_is_written_out() -> None:
    assert harmless(BAD) == GOOD
    assert harmless("Plain words: 0.1 ether, né Ωmega, 牌, ♠") == "Plain words: 0.1 ether, né Ωmega, 牌, ♠"
    assert harmless("two\nlines\x07", keep="\n") == "two\nlines\\x07"


@pytest.mark.parametrize(
    "error",
    [
        refusal(bytes(32), "busy", BAD),
        refusal(bytes(32), BAD, BAD),
        RelayUnreachable(f"ws://{BAD}", BAD),
        RelayRefused(bytes(32), refusal(bytes(32), "", "").reason, BAD),
    ],
)
def test_threat_61_an_errors_words_are_harmless(error: RelayRefused) -> None:
    text = explain(error)
    assert GOOD in text
    assert all(each.isprintable() or each == "\n" for each in text)
    assert text.count("\n") == 1


def test_threat_61_an_error_that_a_command_explains_is_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise Explained("What a stranger says: \x1b[2J\x9b1m", "And what then: \u202e")

    run(fail)
    assert capsys.readouterr().err == "Error: What a stranger says: \\x1b[2J\\x9b1m\nAnd what then: \\u202e\n"


def read_all(master: int) -> str:
    """What was written to a terminal that nobody has open any more."""
    written = b""
    with contextlib.suppress(OSError):
        while data := os.read(master, 65_536):
            written += data
    os.close(master)
    return written.decode()


@pytest.mark.parametrize("columns", [20, 40, 80, 120])
def test_what_is_said_whole_is_never_broken_and_words_are_not(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a terminal breaks at its edge is one line for who copies it: there is no line break, and no space."""
    link, prose = "forcemove2x" + "abcdefgh" * 16, "Some words and then " + "x" * 50 + " and others."
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with os.fdopen(slave, "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.setenv("COLUMNS", str(columns))
        terminal = Terminal()
        terminal.status("Waiting")
        terminal.say_whole(f"forcemove play chess --join {link} --key FILE")
        terminal.say(f"see {link}")
        terminal.say(prose)
        terminal.say(BAD)
        terminal.close()
    written = read_all(master)
    assert f"forcemove play chess --join {link} --key FILE" in written
    assert written.count(link) == 2
    assert "x" * 50 in written
    shown = pyte.Screen(columns, 24)
    pyte.Stream(shown).feed(written)
    assert not any("title" in line and "\\x1b" not in "".join(shown.display) for line in shown.display)
    assert "\\x1b[2J" in "".join(shown.display)
