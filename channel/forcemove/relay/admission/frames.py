"""WebSocket frames as they come: where they begin, and the payload of the commonest kind. Pure.

aiohttp reads a client's frames, whatever they are. Most are one player's next move, a small binary frame that comes
alone and whole; aiohttp takes longer to read such a frame than a relay to handle it. So these frames are read here, see
`carried`, and aiohttp is given all others. `Border` says whether aiohttp has been given whole frames until then.
"""

from __future__ import annotations

MOST_CARRIED = 4_096
"""Bytes of a frame that is read here, at most."""
_FINAL_BINARY, _MASKED = 0x82, 0x80
_MASK = 4
_LENGTHS = {126: 2, 127: 8}
"""Bytes of a length that does not fit into a head's second byte."""
_FINAL = 0x80


def carried(data: bytes) -> bytes | None:
    """The payload, unmasked, if the data is one whole small binary frame of a client and nothing else."""
    size, start = len(data), 6
    if not start <= size <= MOST_CARRIED or data[0] != _FINAL_BINARY or data[1] < _MASKED:
        return None
    length = data[1] - _MASKED
    if length == 126:
        start, length = 8, data[2] << 8 | data[3]
    if length == 127 or start + length != size:
        return None
    mask = data[start - _MASK : start] * (length // _MASK + 1)
    return (int.from_bytes(data[start:]) ^ int.from_bytes(mask[:length])).to_bytes(length)


class Border:
    """Where the frames of one connection begin, from its first one on. `is_here`: whether one begins with the next
    byte."""

    def __init__(self) -> None:
        self.is_here = True
        self._head, self._left = b"", 0

    def skip(self, data: bytes) -> int:
        """Go past these bytes, which have come. Returns how many messages end with the frames that begin in them."""
        data, at, messages = self._head + data, self._left, 0
        while at + 2 <= len(data):
            size = data[at + 1] & 127
            start = at + 2 + _LENGTHS.get(size, 0)
            if start > len(data):
                break
            if size in _LENGTHS:
                size = int.from_bytes(data[at + 2 : start])
            messages += data[at] >= _FINAL
            at = start + (_MASK if data[at + 1] & _MASKED else 0) + size
        self._head, self._left = data[at:], max(0, at - len(data))
        self.is_here = not (self._head or self._left)
        return messages
