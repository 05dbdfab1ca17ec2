"""Client for Parley's API, and webhook verification. Needs only the standard library."""

from .client import Parley
from .errors import (
    AuthenticationError,
    BillingError,
    ConnectionFailedError,
    CursorExpiredError,
    FieldError,
    IdempotencyError,
    InvalidRequestError,
    NotFoundError,
    ParleyError,
    PermissionDeniedError,
    RateLimitError,
    ServiceError,
)
from .events import CursorStore, FileCursorStore
from .files import DownloadedFile
from .pages import Pages
from .receiver import WebhookReceiver
from .seen import MemorySeenEvents, SeenEvents
from .types import Event
from .verify import WebhookVerificationError, verify_webhook
from .version import __version__

__all__ = [
    "AuthenticationError",
    "BillingError",
    "ConnectionFailedError",
    "CursorExpiredError",
    "CursorStore",
    "DownloadedFile",
    "Event",
    "FieldError",
    "FileCursorStore",
    "IdempotencyError",
    "InvalidRequestError",
    "MemorySeenEvents",
    "NotFoundError",
    "Pages",
    "Parley",
    "ParleyError",
    "PermissionDeniedError",
    "RateLimitError",
    "SeenEvents",
    "ServiceError",
    "WebhookReceiver",
    "WebhookVerificationError",
    "__version__",
    "verify_webhook",
]
