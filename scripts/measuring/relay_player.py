"""One player of `relay_moves`: a bare socket that knows of WebSocket only what a relay sends."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from typing import TypeVar

from forcemove.transport import wire
from forcemove.transport.terms import TableTerms, proof_digest
from scripts.measuring.table import KEYS

__all__ = ["PATIENCE", "Player"]

M = TypeVar("M", bound=wire.FromRelay)

SIZE = 300
"""Bytes of a move, as a signed one in rock-paper-scissors has them."""
PATIENCE = 20.0
"""Seconds."""
_BINARY, _PING = 2, 9
_LENGTHS = {126: 2, 127: 8}
"""Bytes of a length that does not fit into a head's second byte. Where the disk has made posts wait, a frame has the
longest."""


class Player:
    """One connection of one player, who has proved who it is, and reads."""

    def __init__(self, url: str, pair: int, seat: int, table: TableTerms) -> None:
        self.pair, self.seat, self._table = pair, seat, table.id
        self.length = 0
        """Moves that it has read."""
        host, _, port = url.removeprefix("ws://").rpartition(":")
        self.socket = socket.create_connection((host, int(port)), PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = bytearray()
        self._shake_hands(host)
        nonce = self._wait_for(wire.Welcome).nonce
        key, expiry = KEYS[seat], int(time.time()) + 600
        signature = key.sign(proof_digest(url, table.id, key.address, expiry, nonce)).compact
        self._say(wire.Prove(table, key.address, url, expiry, signature))
        self._say(wire.Open(table.id, 0, None))
        self._wait_for(wire.Opened)
        self.socket.setblocking(False)

    def post(self) -> None:
        """Post the next move of the table."""
        number = self.length
        self._say(wire.PostEntry(self._table, number.to_bytes(16), number.to_bytes(SIZE), None))

    def read(self) -> int:
        """Read what has come; the number of moves."""
        before = self.length
        self._received += self.socket.recv(65_536)
        for message in self._messages():
            match message:
                case wire.Coming(_, entry):  # a move is its own number
                    self.length = max(self.length, int.from_bytes(entry) + 1)
                case wire.Entries(_, first, entries):
                    self.length = max(self.length, first + len(entries))
        return self.length - before

    def _shake_hands(self, host: str) -> None:
        asks = f"GET / HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        asks += "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
        self.socket.sendall(asks.encode())
        while b"\r\n\r\n" not in self._received:
            self._received += self.socket.recv(65_536)
        self._received = self._received.partition(b"\r\n\r\n")[2]

    def _wait_for(self, kind: type[M]) -> M:
        while True:
            for message in self._messages():
                if isinstance(message, kind):
                    return message
            self._received += self.socket.recv(65_536)

    def _say(self, message: wire.Message) -> None:
        self._send(_BINARY, wire.VERSION.to_bytes(2) + b"\x91" + wire.encode(message))

    def _send(self, opcode: int, payload: bytes) -> None:
        """Send a frame, masked with zeros: nothing is hidden from a relay that we trust."""
        size = len(payload)
        head = bytes([0x80 | opcode, 0x80 | size]) if size < 126 else bytes([0x80 | opcode, 0xFE]) + size.to_bytes(2)
        self.socket.sendall(head + bytes(4) + payload)

    def _messages(self) -> Iterator[wire.FromRelay]:
        """The messages of the frames that have come whole."""
        received, at = self._received, 0
        while len(received) >= at + 2:
            size, start = received[at + 1], at + 2
            if size in _LENGTHS:
                start += _LENGTHS[size]
                size = int.from_bytes(received[at + 2 : start])
            if len(received) < start + size:
                break
            opcode, payload, at = received[at] & 15, bytes(received[start : start + size]), start + size
            if opcode == _BINARY:
                yield from wire.decode_from_relay(payload)
            elif opcode == _PING:
                self._send(_PING + 1, payload)
        del received[:at]
