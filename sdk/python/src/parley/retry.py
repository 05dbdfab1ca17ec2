"""When a request is repeated, and after how many seconds."""

from __future__ import annotations

import random
from typing import Optional

from .errors import ParleyError

_RETRYABLE_STATUSES = {408, 429, 502, 503, 504}
_RETRYABLE_CODES = {"connection_failed", "timeout", "idempotency_in_progress"}


def wait_before_retry(error: ParleyError, made: int, max_retries: int, max_wait: float) -> Optional[float]:
    """How many seconds to wait before the next attempt; None to give up. `made` is the number of attempts so far."""
    if made > max_retries or not _is_retryable(error):
        return None
    back_off = min(max_wait, _back_off(made, 8.0))
    if error.retry_after is None:
        return back_off
    return None if error.retry_after > max_wait else max(back_off, _after(error.retry_after))


#: In seconds. A program that waits for hours looks as if it hung, so a longer `Retry-After` is an error.
_LONGEST_RETRY_AFTER = 600.0


def wait_before_reading(error: ParleyError, failures: int) -> Optional[float]:
    """Like `wait_before_retry`, for a reader of events: it retries without a limit, and after any error of the service."""
    if not _is_retryable(error) and error.status < 500:
        return None
    back_off = _back_off(failures, 30.0)
    if error.retry_after is None:
        return back_off
    if error.retry_after > _LONGEST_RETRY_AFTER:
        return None
    # A service that says "now" each time is not asked more and more often for that.
    return max(back_off, _after(error.retry_after))


def _is_retryable(error: ParleyError) -> bool:
    return error.status in _RETRYABLE_STATUSES or error.code in _RETRYABLE_CODES


def _back_off(failures: int, longest: float) -> float:
    ceiling = min(longest, 0.5 * 2.0 ** min(failures - 1, 10))
    return ceiling / 2 + random.random() * ceiling / 2


#: 24 days. Python cannot wait much longer, and raises an error.
_LONGEST = 24 * 86_400.0


def _after(retry_after: float) -> float:
    """Never sooner than Retry-After, with jitter so that clients do not retry at the same moment."""
    seconds = min(retry_after, _LONGEST)
    return seconds + random.random() * min(1.0, 0.1 + seconds / 10)
