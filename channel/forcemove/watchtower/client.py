"""Gives a watchtower appointments over HTTP, and believes no receipt that was not verified. The client tries once; its
caller tries again."""

from __future__ import annotations

from forcemove.backoff import asked_pause
from forcemove.errors import InvalidValue, MalformedBytes
from forcemove.posting import Answer, post, reason_of
from forcemove.protocol.codec.json_text import parse_json
from forcemove.protocol.signing import Key
from forcemove.protocol.types import require_bytes
from forcemove.watchtower.appointment import RECEIPTS, Appointment, AppointmentReceipt, sign_appointment, verify_receipt
from forcemove.watchtower.client_errors import TowerBusy, TowerRefused, TowerUnreachable

_BUSY = (429, 503)
_PAUSE, _LONGEST_PAUSE = 5.0, 60.0
_MAX_ANSWER, _MEDIA_TYPE = 4_096, "application/octet-stream"
"""Bytes of an answer that are read: a receipt has less than 400; and what an appointment is."""
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
        self._timeout = timeout

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

    async def _post(self, body: bytes) -> Answer:
        """The tower's answer. Raises `TowerUnreachable`."""
        try:
            return await post(f"{self.url}/appointments", body, self._timeout, most=_MAX_ANSWER, media_type=_MEDIA_TYPE)
        except Exception as error:  # whatever a tower says, and whatever a library makes of it
            raise TowerUnreachable(self.url, reason_of(error)) from None

    def _failure(self, status: int, data: bytes, again: str) -> TowerUnreachable | TowerBusy | TowerRefused:
        try:
            said = parse_json(data.decode(), "answer of a tower")
            reason, detail = _shown(said["error"]), _shown(said["detail"])
        except (MalformedBytes, UnicodeDecodeError, TypeError, KeyError):
            return TowerUnreachable(self.url, f"what answers is not a tower: status {status}")
        if status in _BUSY:
            return TowerBusy(self.url, reason, asked_pause(again, _PAUSE, _LONGEST_PAUSE), detail)
        return TowerRefused(self.url, reason, detail)


def _shown(said: object) -> str:
    """A text of a tower's, made safe to print."""
    return "".join(each for each in str(said)[:_LONGEST] if each.isprintable())
