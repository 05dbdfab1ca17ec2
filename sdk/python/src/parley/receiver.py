"""Receives webhooks: verifies, acknowledges and handles each event once, in any framework."""

from __future__ import annotations

import json
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Union

from .seen import MemorySeenEvents, SeenEvents
from .types import Event
from .verify import Headers, WebhookVerificationError, verify_webhook

_log = logging.getLogger("parley")
_REASONS = {204: "No Content", 400: "Bad Request", 405: "Method Not Allowed", 413: "Content Too Large", 500: "Internal Server Error"}


class ReceiverResponse(NamedTuple):
    status: int
    #: JSON, or empty.
    body: bytes


class WebhookReceiver:
    """`receive(headers, raw_body)` gives the response to a delivery. The receiver is also a WSGI application.

    By default the response is 204 after the handler has succeeded, and 500 if it raises: Parley then retries. With
    `acknowledge="before"` the response comes first, and the handler runs in another thread. Parley does not retry such an
    event: if its handler raises, `on_error` is called and the ID is forgotten, so that you can send it again from the console
    or with a replay.

    An event whose ID is known gets 204 and is not handled again. With several processes, pass a `seen` of your own.
    """

    def __init__(
        self,
        secret: Union[str, Sequence[str]],
        handler: Callable[[Event], object],
        *,
        acknowledge: str = "after",
        seen: Optional[SeenEvents] = None,
        on_error: Optional[Callable[[Exception, Optional[Event]], object]] = None,
        max_bytes: int = 1024 * 1024,
        tolerance_seconds: float = 300,
        workers: int = 4,
    ) -> None:
        if not secret:
            raise TypeError('The signing secret is missing: pass the "whsec_…" value that was shown when the endpoint was created.')
        if acknowledge not in ("after", "before"):
            raise ValueError(f'Invalid acknowledge "{acknowledge}": use "after" or "before".')
        self._secret = secret
        self._handler = handler
        self._seen = MemorySeenEvents() if seen is None else seen
        self._on_error = on_error or _log_error
        self.max_bytes = max_bytes
        self._tolerance_seconds = tolerance_seconds
        # At the end of the program, it waits for the handlers that are running.
        self._pool = ThreadPoolExecutor(workers, "parley-webhook") if acknowledge == "before" else None
        #: The events that are being handled. A repeated one waits for the first.
        self._handling: Dict[str, threading.Event] = {}
        self._lock = threading.Lock()

    def receive(self, headers: Headers, raw_body: bytes) -> ReceiverResponse:
        try:
            if len(raw_body) > self.max_bytes:
                return self._reject(413, "body_too_large", f"The body is larger than {self.max_bytes} bytes.")
            event = verify_webhook(raw_body, headers, self._secret, tolerance_seconds=self._tolerance_seconds)
        except WebhookVerificationError as error:
            self._report(error, None)
            return _rejected(400, error.reason, str(error))
        try:
            if self._pool:
                if self._seen.add(event["id"]):
                    self._submit(self._pool, event)
            else:
                self._handle_once(event)
        except Exception as error:
            self._report(error, event)
            return _rejected(500, "handler_failed", "The receiver failed to handle the event.")
        return ReceiverResponse(204, b"")

    def _submit(self, pool: ThreadPoolExecutor, event: Event) -> None:
        try:
            pool.submit(self._handle_later, event)
        except Exception:
            # The program is ending. Parley retries the event, and it must not be known then.
            self._seen.delete(event["id"])
            raise

    def _handle_once(self, event: Event) -> None:
        """Two deliveries of one event at the same time: the second one is handled only if the first one fails."""
        id = event["id"]
        while True:
            with self._lock:
                other = self._handling.get(id)
                if other is None:
                    done = self._handling[id] = threading.Event()
                    break
            other.wait()
        try:
            if not self._seen.has(id):
                self._handler(event)
                # Not before: if the program ends in between, the event is handled again.
                self._seen.add(id)
        finally:
            with self._lock:
                del self._handling[id]
            done.set()

    def _handle_later(self, event: Event) -> None:
        try:
            self._handler(event)
        except Exception as error:
            try:
                self._seen.delete(event["id"])
            except Exception as store_error:
                self._report(store_error, event)
            self._report(error, event)

    def _reject(self, status: int, reason: str, message: str) -> ReceiverResponse:
        self._report(WebhookVerificationError(reason, message), None)
        return _rejected(status, reason, message)

    def _report(self, error: Exception, event: Optional[Event]) -> None:
        """An error of `on_error` must not keep the response from Parley."""
        try:
            self._on_error(error, event)
        except Exception:
            _log.exception("on_error failed.")

    def __call__(self, environ: Dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """As a WSGI application: with `wsgiref`, gunicorn, or mounted in another one."""
        if environ["REQUEST_METHOD"] != "POST":
            response = _rejected(405, "method_not_allowed", "Only POST is allowed.")
        else:
            response = self.receive(_headers_of(environ), self._body_of(environ))
        lines: List[Any] = [("Content-Length", str(len(response.body)))] if response.body else []
        if response.body:
            lines.append(("Content-Type", "application/json"))
        start_response(f"{response.status} {_REASONS[response.status]}", lines)
        return [response.body]


    def _body_of(self, environ: Mapping[str, Any]) -> bytes:
        length = str(environ.get("CONTENT_LENGTH") or "")
        # One byte more than allowed is enough to see that it is too large.
        size = self.max_bytes + 1
        if length.isascii() and length.isdecimal():
            size = min(size, int(length))
        elif not environ.get("wsgi.input_terminated"):
            # Without a length, a server that does not end the input would wait forever.
            return b""
        body: bytes = environ["wsgi.input"].read(size)
        return body


def _headers_of(environ: Mapping[str, Any]) -> Dict[str, str]:
    return {name[5:].replace("_", "-"): value for name, value in environ.items() if name.startswith("HTTP_")}


def _rejected(status: int, reason: str, message: str) -> ReceiverResponse:
    return ReceiverResponse(status, json.dumps({"error": {"reason": reason, "message": message}}).encode())


def _log_error(error: Exception, event: Optional[Event]) -> None:
    """A rejected delivery is one line, because anyone can cause many of them. An error of the handler has its stack trace."""
    if isinstance(error, WebhookVerificationError):
        _log.error("Delivery rejected: %s", error)
    else:
        _log.error("The handler of event %s failed.", event["id"] if event else "", exc_info=error)
