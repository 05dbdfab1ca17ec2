"""The errors that the client raises."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Type


class FieldError(NamedTuple):
    """One invalid parameter of a request."""

    param: str
    code: str
    message: str


class ParleyError(Exception):
    """A request that failed. `code` says why, and is stable; the message may change."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        type: str = "client_error",
        status: int = 0,
        request_id: Optional[str] = None,
        param: Optional[str] = None,
        errors: Optional[List[FieldError]] = None,
        details: Optional[Dict[str, Any]] = None,
        retry_after: Optional[float] = None,
        idempotency_key: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        #: An error code of the API, or `connection_failed`, `timeout` or `unexpected_response`.
        self.code = code
        self.type = type
        #: The HTTP status; 0 if there was no response.
        self.status = status
        #: Identifies the request in the request log.
        self.request_id = request_id
        #: The first invalid parameter.
        self.param = param
        #: All invalid parameters.
        self.errors: List[FieldError] = errors or []
        self.details: Dict[str, Any] = details or {}
        #: How many seconds to wait, from `Retry-After`.
        self.retry_after = retry_after
        #: The key of a failed `send` or `send_batch`. Pass it to the same call to retry without sending twice.
        self.idempotency_key = idempotency_key

    def __str__(self) -> str:
        fields = "".join(f"\n  {error.param}: {error.message}" for error in self.errors)
        request = f" (request {self.request_id})" if self.request_id else ""
        return f"{self.code}: {self.message}{request}{fields}"


class AuthenticationError(ParleyError):
    """The key is invalid, revoked or expired."""


class PermissionDeniedError(ParleyError):
    """The key may not do this: its scopes, its address list, or a suspended workspace."""


class RateLimitError(ParleyError):
    """The rate limit of the key is exceeded; `retry_after` says for how long."""


class BillingError(ParleyError):
    """The workspace has not enough credits."""


class IdempotencyError(ParleyError):
    """The idempotency key was used for another request, or its first request is still in progress."""


class InvalidRequestError(ParleyError):
    """The request is not valid; `errors` lists every invalid parameter."""


class NotFoundError(InvalidRequestError):
    """There is no object with this ID in the workspace."""


class CursorExpiredError(InvalidRequestError):
    """Events that follow the cursor were deleted, because they are older than the retention.

    To continue with the oldest event that is stored, save `oldest_cursor` and read again.
    """

    @property
    def oldest_cursor(self) -> Optional[str]:
        cursor = self.details.get("oldest_cursor")
        return cursor if isinstance(cursor, str) else None


class ServiceError(ParleyError):
    """An error of the service, or a response that is not from Parley."""


class ConnectionFailedError(ParleyError):
    """There was no response, or not in time."""


_BY_CODE: Dict[str, Type[ParleyError]] = {"not_found": NotFoundError, "cursor_expired": CursorExpiredError}
_BY_TYPE: Dict[str, Type[ParleyError]] = {
    "authentication_error": AuthenticationError,
    "permission_error": PermissionDeniedError,
    "rate_limit_error": RateLimitError,
    "billing_error": BillingError,
    "idempotency_error": IdempotencyError,
    "invalid_request_error": InvalidRequestError,
    "api_error": ServiceError,
}


def error_of_response(
    status: int, headers: Mapping[str, str], body: Any, idempotency_key: Optional[str]
) -> Optional[ParleyError]:
    """The error in a response; None if the response is not from Parley."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict) or not isinstance(error.get("code"), str):
        return None
    code, kind = error["code"], str(error.get("type"))
    error_class = _BY_CODE.get(code) or _BY_TYPE.get(kind) or ParleyError
    listed = error.get("errors")
    details = error.get("details")
    return error_class(
        str(error.get("message") or f"The request failed with status {status}."),
        code=code,
        type=kind,
        status=status,
        request_id=headers.get("x-request-id") or error.get("request_id"),
        param=error.get("param"),
        errors=[
            FieldError(str(each.get("param")), str(each.get("code")), str(each.get("message")))
            for each in (listed if isinstance(listed, list) else [])
            if isinstance(each, dict)
        ],
        details=details if isinstance(details, dict) else {},
        retry_after=retry_after_of(headers),
        idempotency_key=idempotency_key,
    )


def retry_after_of(headers: Mapping[str, str]) -> Optional[float]:
    """In seconds, or None. Parley sends seconds; a proxy in front of it may send a date."""
    text = (headers.get("retry-after") or "").strip()
    if not text:
        return None
    if text.isascii() and text.isdecimal():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None
