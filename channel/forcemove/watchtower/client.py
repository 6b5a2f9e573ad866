"""Gives a watchtower appointments over HTTP, and believes no receipt that was not verified. The client tries once; its
caller tries again."""

from __future__ import annotations

from typing import cast

import aiohttp

from forcemove.backoff import asked_pause
from forcemove.connecting import connection_words
from forcemove.errors import InvalidValue, MalformedBytes
from forcemove.protocol.codec.json_text import parse_json
from forcemove.protocol.signing import Key
from forcemove.protocol.types import require_bytes
from forcemove.watchtower.appointment import Appointment, sign_appointment
from forcemove.watchtower.client_errors import TowerBusy, TowerRefused, TowerUnreachable
from forcemove.watchtower.receipts import RECEIPTS, AppointmentReceipt, verify_receipt

__all__ = ["TowerClient"]

_MAX = 4_096
"""Bytes of an answer that are read. A receipt has less than 400."""
_BUSY = (429, 503)
_PAUSE, _LONGEST_PAUSE = 5.0, 60.0
_LONGEST = 300
"""Characters of an error's text that are kept."""


class TowerClient:
    """A client of the tower at `url` whose account is `tower` (20 bytes)."""

    def __init__(self, url: str, tower: bytes, *, timeout: float = 10.0) -> None:
        """`url`: http:// or https://. `timeout`: seconds that an answer may take in all, also where its bytes come
        slowly. Raises `InvalidValue`."""
        if not url.startswith(("http://", "https://")):
            raise InvalidValue("tower", url, "http://host:port or https://host:port")
        require_bytes("tower", tower, 20)
        self.url, self.tower = url.rstrip("/"), tower
        self._timeout = aiohttp.ClientTimeout(total=timeout)

    async def send_appointment(
        self, appointment: Appointment, key: Key, *, now: int | None = None
    ) -> AppointmentReceipt:
        """Give the tower an appointment, signed with the participant's key, and return the tower's receipt.

        `now`: as of `verify`. Raises `TowerUnreachable`; `TowerBusy`, where the tower may accept it later;
        `TowerRefused`; and where the receipt does not pass `verify` `OtherReceipt`, what `require_signer` raises,
        and `UnknownVersion`.
        """
        status, data, again = await self._post(sign_appointment(appointment, self.tower, key))
        if status != 200:
            raise self._failure(status, data, again)
        try:
            receipt = RECEIPTS.decode(data)
        except MalformedBytes as error:
            raise TowerUnreachable(self.url, f"what answers is not a tower: {error.reason}"[:_LONGEST]) from None
        verify_receipt(receipt, self.tower, key.address, appointment, now=now)
        return receipt

    async def _post(self, body: bytes) -> tuple[int, bytes, str]:
        """The answer's status, its first bytes, and its Retry-After header."""
        headers = {"Content-Type": "application/octet-stream", "Accept-Encoding": "identity"}
        try:
            async with (
                aiohttp.ClientSession(timeout=self._timeout, auto_decompress=False) as session,
                session.post(f"{self.url}/appointments", data=body, headers=headers, allow_redirects=False) as answer,
            ):
                return answer.status, await _read(answer.content), answer.headers.get("Retry-After", "")
        except TimeoutError:
            raise TowerUnreachable(self.url, "it has not answered in time") from None
        except aiohttp.ClientConnectorCertificateError as error:
            raise TowerUnreachable(self.url, connection_words(cast("OSError", error.certificate_error))) from None
        except aiohttp.ClientConnectorError as error:
            raise TowerUnreachable(self.url, connection_words(error.os_error)) from None
        except Exception as error:  # whatever a tower says, and whatever a library makes of it
            raise TowerUnreachable(self.url, f"{type(error).__name__}: {error}"[:_LONGEST]) from None

    def _failure(self, status: int, data: bytes, again: str) -> TowerUnreachable | TowerBusy | TowerRefused:
        try:
            said = parse_json(data.decode(), "answer of a tower")
            reason, detail = _shown(said["error"]), _shown(said["detail"])
        except (MalformedBytes, UnicodeDecodeError, TypeError, KeyError):
            return TowerUnreachable(self.url, f"what answers is not a tower: status {status}")
        if status in _BUSY:
            return TowerBusy(self.url, reason, asked_pause(again, _PAUSE, _LONGEST_PAUSE), detail)
        return TowerRefused(self.url, reason, detail)


async def _read(content: aiohttp.StreamReader) -> bytes:
    data = b""
    while len(data) <= _MAX and (part := await content.read(_MAX)):
        data += part
    return data


def _shown(said: object) -> str:
    """A text of a tower's, made safe to print."""
    return "".join(each for each in str(said)[:_LONGEST] if each.isprintable())
