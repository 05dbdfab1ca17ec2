"""Verifies webhooks. This file uses no other file of the package at run time."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from typing import TYPE_CHECKING, Callable, Iterable, List, NamedTuple, Optional, Protocol, Sequence, Tuple, Union, cast

if TYPE_CHECKING:
    from .types import Event

#: More than a sender needs, and few enough that checking each is cheap.
_MAX_SIGNATURES = 8


class Headers(Protocol):
    """A dictionary, or the headers of any framework. The case of the names does not matter."""

    def items(self) -> Iterable[Tuple[str, str]]: ...


class WebhookVerificationError(ValueError):
    """A delivery that cannot be verified. Respond with a status other than 2xx.

    `reason` is `missing_header`, `malformed_header`, `timestamp_too_old`, `timestamp_in_future`, `no_match`, `body_not_raw` or
    `invalid_json`.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def verify_webhook(
    raw_body: bytes,
    headers: Headers,
    secret: Union[str, Sequence[str]],
    *,
    tolerance_seconds: float = 300,
    now: Optional[float] = None,
) -> "Event":
    """Verifies a delivery and returns its event. Raises a `WebhookVerificationError` otherwise.

    `raw_body` is the unparsed body: `await request.body()` in FastAPI, `request.get_data()` in Flask, `request.body` in Django.
    JSON that was parsed and serialized again does not match. Pass several secrets while you rotate one.
    """
    secrets = [secret] if isinstance(secret, str) else list(secret or [])
    if not secrets or not all(isinstance(each, str) and each for each in secrets):
        raise TypeError('The signing secret is missing: pass the "whsec_…" value that was shown when the endpoint was created.')
    if any(re.search(r"\s", each) for each in secrets):
        raise TypeError('The signing secret contains a space or a line break. Copy the "whsec_…" value again.')
    if not isinstance(raw_body, (bytes, bytearray, memoryview)):
        got = "nothing" if raw_body is None else f"a {type(raw_body).__name__}"
        raise WebhookVerificationError("body_not_raw", f"Expected the raw body as bytes, but got {got}.")
    body = bytes(raw_body)
    claim = _read_claim(headers)
    age = (time.time() if now is None else now) - claim.seconds
    if age > tolerance_seconds:
        raise WebhookVerificationError("timestamp_too_old", f"The delivery was signed {age:.0f} s ago, more than the allowed {tolerance_seconds:g} s.")
    if age < -tolerance_seconds:
        raise WebhookVerificationError(
            "timestamp_in_future", f"The delivery was signed {-age:.0f} s in the future. Check the clock of this machine."
        )
    if not _is_signed(claim, body, secrets):
        raise WebhookVerificationError(
            "no_match",
            "The signature does not match the body and the secret. Check that the secret belongs to this endpoint and is current, "
            f"and that the body is unchanged.{_hint_on(secrets)}",
        )
    return _read_event(body)


def _hint_on(secrets: Sequence[str]) -> str:
    return "" if all(each.startswith("whsec_") for each in secrets) else ' A secret starts with "whsec_", which is a part of it.'


class _Claim(NamedTuple):
    """A parsed signature header, to be checked against a body and a secret."""

    seconds: int
    #: The signed bytes in front of the body.
    head: bytes
    signatures: List[bytes]
    key_of: Callable[[str], bytes]


def _read_claim(headers: Headers) -> _Claim:
    value = _header(headers, "service-signature")
    if value is not None:
        return _read_service_signature(value)
    id, timestamp, signature = (_header(headers, name) for name in ("webhook-id", "webhook-timestamp", "webhook-signature"))
    if id is None or timestamp is None or signature is None:
        raise WebhookVerificationError("missing_header", "The header Service-Signature is missing. The request may not be from Parley.")
    return _read_standard_signature(id, timestamp, signature)


def _read_service_signature(value: str) -> _Claim:
    parts = [part.strip() for part in value.split(",")]
    times = [match[1] for match in (re.fullmatch(r"t=([0-9]{1,12})", part) for part in parts) if match]
    found = [match[1] for match in (re.fullmatch(r"v1=([0-9a-f]{64})", part) for part in parts) if match]
    if len(times) != 1 or not 1 <= len(found) <= _MAX_SIGNATURES:
        raise WebhookVerificationError("malformed_header", 'The header Service-Signature is malformed. Expected "t=<seconds>,v1=<hex>".')
    return _Claim(int(times[0]), f"{times[0]}.".encode(), [bytes.fromhex(each) for each in found], str.encode)


def _read_standard_signature(id: str, timestamp: str, value: str) -> _Claim:
    """The scheme of Standard Webhooks, whose key is the base64 after `whsec_`."""
    matches = [re.fullmatch(r"v1,([A-Za-z0-9+/]{43}=)", part) for part in value.split(" ")]
    signatures = [_from_base64(match[1]) for match in matches if match]
    if not re.fullmatch(r"[0-9]{1,12}", timestamp) or not 1 <= len(signatures) <= _MAX_SIGNATURES:
        raise WebhookVerificationError("malformed_header", "The header webhook-timestamp or webhook-signature is malformed.")
    head = f"{id}.{timestamp}.".encode()
    return _Claim(int(timestamp), head, signatures, lambda secret: _from_base64(re.sub("^whsec_", "", secret)))


def _from_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        return b""


def _is_signed(claim: _Claim, body: bytes, secrets: Sequence[str]) -> bool:
    matches = False
    for secret in secrets:
        key = claim.key_of(secret)
        if not key:
            continue
        expected = hmac.new(key, claim.head + body, hashlib.sha256).digest()
        for signature in claim.signatures:
            matches = hmac.compare_digest(expected, signature) or matches
    return matches


def _header(headers: Headers, name: str) -> Optional[str]:
    """The value of a header, or None. The case of the names does not matter. A duplicate header is rejected."""
    values: List[object] = []
    for key, value in headers.items():
        if str(key).lower() == name:
            # Some platforms have a list for each name.
            values.extend(value if isinstance(value, (list, tuple)) else [value])
    if len(values) > 1:
        raise WebhookVerificationError("malformed_header", f"The header {name} is duplicated.")
    return values[0] if values and isinstance(values[0], str) else None


def _read_event(body: bytes) -> "Event":
    try:
        event = json.loads(body.decode("utf-8"))
    except ValueError:
        raise WebhookVerificationError("invalid_json", "The signature is valid, but the body is not JSON.") from None
    if not isinstance(event, dict) or not isinstance(event.get("id"), str) or not isinstance(event.get("type"), str):
        raise WebhookVerificationError("invalid_json", "The signature is valid, but the body is not an event: it has no id or no type.")
    return cast("Event", event)
