"""Limits for what strangers write, each derived from the protocol's bounds. In bytes, unless it says so.

A reader checks the size of bytes from a stranger against one of these limits before it parses them. The largest state
that the protocol allows passes every one of them. Knows of formats only the sizes.
"""

from __future__ import annotations

from forcemove.protocol.types import MAX_ALLOCATIONS, MAX_APP_DATA, MAX_PARTICIPANTS, UINT64_MAX, UINT256_MAX

MAX_VERSION = 65_535
"""The highest version number; a number above it is not a version at all."""

MAX_UINT256_DIGITS = len(str(UINT256_MAX))
_UINT64_DIGITS = len(str(UINT64_MAX))


def _hex(length: int) -> int:
    """Characters of as many bytes as hex with 0x."""
    return 2 + 2 * length


# ------------------------------------------------------------------------------------------------ states and messages

ALLOCATION = 96
"""An allocation in a record: asset, destination and amount, a word each."""
SIGNATURE = 64
"""A compact signature."""
MAX_RECORD = MAX_ALLOCATIONS * ALLOCATION + MAX_APP_DATA + MAX_PARTICIPANTS * SIGNATURE
"""The largest legal state, signed by all, see `encoding.encode_record`: its head lies in the first asset's padding."""
_ALL_SIGNERS = len(",".join(map(str, range(MAX_PARTICIPANTS))))
_STATE_FRAME = len('{"channelId":"","kind":"state","record":"","signers":[],"version":}') + len(str(MAX_VERSION))
MAX_MESSAGE = _STATE_FRAME + _hex(32) + _hex(MAX_RECORD) + _ALL_SIGNERS
"""A message with the largest state; a greeting is far smaller. There is room for the longest version number, so that a
newer program's message of the same size is recognised by its version."""

# ---------------------------------------------------------------------------------------------- what goes over a log

MAX_CLIENT_ID = 64
"""Characters that a client's id may have."""
_CLIENT_ID = 6 * MAX_CLIENT_ID
"""A client's id as JSON: a control character takes six bytes (\\u0000), any other at most four."""
MAX_UPDATE = len('{"client_id":"","message":,"type":"Update"}') + _CLIENT_ID + MAX_MESSAGE
"""The action that carries a message."""
MAX_ACTION = max(2**16, MAX_UPDATE)
"""An action. Those of games are larger than a state: a shuffled deck of 120 cards (`forcemove_games.sra`) is 120
numbers of 512 hex digits, 61,800 bytes, as are all its keys; a part of a view (`forcemove_games.spectator`) is 16,000
characters of up to 4."""
MAX_NESTING = 256
"""Arrays and objects that an action may have inside each other: views are as deep as games like. A message in it has
two."""
_ENVELOPE_FRAME = len("[,,,,,]") + len(str(MAX_VERSION)) + 2 * _UINT64_DIGITS
MAX_ENVELOPE = _ENVELOPE_FRAME + len('""') + _hex(32) + len('""') + _hex(SIGNATURE) + MAX_ACTION
"""A signed action: version, sequence, count and hash of what was read, signature and the action, see `flow.signed`."""
MAX_RELAYED = 4 * 2**20
"""A message of a feed over all its parts: a public view, which games may make as large as they like, within what a
spectator's memory is to bear. No state of a channel goes this way."""

# ------------------------------------------------------------------------------------------------------------- files

_ALLOCATION_TEXT = (
    len('      {\n        "asset": "",\n        "destination": "",\n        "amount": ""\n      },\n')
    + _hex(20)
    + _hex(32)
    + MAX_UINT256_DIGITS
)
_PARTICIPANT_TEXT = len('      "",\n') + _hex(20)
_SIGNATURE_TEXT = len('    "": "",\n') + len(str(MAX_PARTICIPANTS)) + _hex(SIGNATURE)
_FILE_FRAME = 1_024
"""Names, spaces, numbers, and the addresses that a file has only once."""
MAX_STATE_FILE = (
    _FILE_FRAME
    + MAX_ALLOCATIONS * _ALLOCATION_TEXT
    + MAX_PARTICIPANTS * (_PARTICIPANT_TEXT + _SIGNATURE_TEXT)
    + _hex(MAX_APP_DATA)
)
"""The most that `wire.encode_file` writes."""
MAX_FILE = max(2**20, 4 * MAX_STATE_FILE)
"""Characters of any file of JSON that we read: signed states, with room for other people's spaces, key files, and
address books, which may name many contracts."""
MAX_SECRETS = 2**16
"""What a player may ask us to store for it with a channel."""
MAX_DEPTH = 32
"""Arrays and objects inside each other in a file. Ours have five."""
