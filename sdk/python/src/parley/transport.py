"""HTTP requests with retries."""

from __future__ import annotations

import http.client
import json
import platform
import re
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import date, datetime, timezone
from email.message import Message
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from .errors import ConnectionFailedError, ParleyError, ServiceError, error_of_response, retry_after_of
from .files import FileForm
from .retry import wait_before_retry
from .version import __version__


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would send the key to another address."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Transport:
    def __init__(self, base_url: str, key: str, *, timeout: float, max_retries: int, max_wait: float) -> None:
        self._base = _read_base_url(base_url)
        self._headers = {
            "Authorization": f"Bearer {_read_key(key)}",
            "User-Agent": f"parley-python/{__version__} Python/{platform.python_version()}",
        }
        self._timeout = timeout
        self._max_retries = max_retries
        self._max_wait = max_wait
        self._opener = urllib.request.build_opener(_NoRedirects)
        #: Replaced by tests.
        self.sleep: Callable[[float], None] = time.sleep

    def get(
        self,
        path: str,
        query: Optional[Mapping[str, Any]] = None,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
    ) -> Any:
        request = self._request("GET", path, query)
        return self._perform(request, _read_json, None, timeout, self._max_retries if max_retries is None else max_retries)

    def open(self, path: str, *, timeout: Optional[float] = None) -> http.client.HTTPResponse:
        """The response with its body unread."""
        request = self._request("GET", path)
        response: http.client.HTTPResponse = self._perform(request, lambda opened: opened, None, timeout, self._max_retries)
        return response

    def post(
        self, path: str, content: Mapping[str, Any], *, idempotency_key: Optional[str], timeout: Optional[float] = None
    ) -> Any:
        """Without an idempotency key there is only one attempt."""
        request = self._request("POST", path)
        request.data = json.dumps(content, ensure_ascii=False, default=_json_value).encode()
        request.add_header("Content-Type", "application/json")
        if idempotency_key is not None:
            request.add_header("Idempotency-Key", idempotency_key)
        retries = self._max_retries if idempotency_key is not None else 0
        return self._perform(request, _read_json, idempotency_key, timeout, retries)

    def post_form(self, path: str, form: FileForm, *, timeout: Optional[float] = None) -> Any:
        """There is only one attempt."""
        request = self._request("POST", path)
        request.data = form.parts
        request.add_header("Content-Type", form.content_type)
        request.add_header("Content-Length", str(form.length))
        return self._perform(request, _read_json, None, timeout, 0)

    def _request(self, method: str, path: str, query: Optional[Mapping[str, Any]] = None) -> urllib.request.Request:
        text = urllib.parse.urlencode(_query_pairs(query or {}))
        url = f"{self._base}{path}{'?' if text else ''}{text}"
        return urllib.request.Request(url, method=method, headers=dict(self._headers))

    def _perform(
        self,
        request: urllib.request.Request,
        read: Callable[[http.client.HTTPResponse], Any],
        idempotency_key: Optional[str],
        timeout: Optional[float],
        max_retries: int,
    ) -> Any:
        made = 0
        while True:
            made += 1
            try:
                return self._try_once(request, read, idempotency_key, self._timeout if timeout is None else timeout)
            except ParleyError as error:
                wait = wait_before_retry(error, made, max_retries, self._max_wait)
                if wait is None:
                    raise
            self.sleep(wait)

    def _try_once(
        self,
        request: urllib.request.Request,
        read: Callable[[http.client.HTTPResponse], Any],
        idempotency_key: Optional[str],
        timeout: float,
    ) -> Any:
        origin = "/".join(request.full_url.split("/", 3)[:3])
        try:
            try:
                return read(self._opener.open(request, timeout=timeout))
            except urllib.error.HTTPError as response:
                with response:
                    raise _error_of(request, response, response.read(), idempotency_key) from None
        except _NotParley as found:
            raise _unexpected(request.full_url, found.status, found.headers, idempotency_key) from None
        except (OSError, http.client.HTTPException) as error:
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            if isinstance(reason, (socket.timeout, TimeoutError)):
                message, code = f"{origin} did not respond within {timeout:g} s.", "timeout"
            else:
                message = f"{origin} cannot be reached: {reason}. Check that base_url is correct and that Parley is running."
                code = "connection_failed"
            raise ConnectionFailedError(message, code=code, idempotency_key=idempotency_key) from error


class _NotParley(Exception):
    """A successful response that is not JSON."""

    def __init__(self, status: int, headers: Mapping[str, str]) -> None:
        super().__init__()
        self.status = status
        self.headers = headers


def _read_json(response: http.client.HTTPResponse) -> Any:
    with response:
        content = response.read()
        if response.status == 204:
            return None
        try:
            return json.loads(content)
        except ValueError:
            raise _NotParley(response.status, _plain(response.headers)) from None


def _error_of(
    request: urllib.request.Request, response: urllib.error.HTTPError, content: bytes, idempotency_key: Optional[str]
) -> ParleyError:
    try:
        body = json.loads(content)
    except ValueError:
        body = None
    headers = _plain(response.headers)
    known = error_of_response(response.code, headers, body, idempotency_key)
    return known or _unexpected(request.full_url, response.code, headers, idempotency_key)


def _plain(headers: Message) -> Dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _unexpected(url: str, status: int, headers: Mapping[str, str], idempotency_key: Optional[str]) -> ParleyError:
    location = headers.get("location")
    kind = (headers.get("content-type") or "no content type").split(";")[0]
    if location:
        message = f"{url} returned {status} and redirects to {location}. Use that address as base_url."
    else:
        message = f"{url} returned {status} with {kind}, which is not a response of Parley. Check base_url."
    return ServiceError(
        message,
        code="unexpected_response",
        status=status,
        request_id=headers.get("x-request-id"),
        retry_after=retry_after_of(headers),
        idempotency_key=idempotency_key,
    )


def _query_pairs(query: Mapping[str, Any]) -> List[Tuple[str, str]]:
    pairs: List[Tuple[str, str]] = []
    for name, value in query.items():
        values = value if isinstance(value, (list, tuple)) else [value]
        pairs.extend((name, _query_text(each)) for each in values if each is not None)
    return pairs


def _query_text(value: Any) -> str:
    return _json_value(value) if isinstance(value, (date, datetime)) else str(value)


def _json_value(value: Any) -> Any:
    """A time without a zone is local time, as everywhere in Python."""
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"A message cannot contain a {type(value).__name__}.")


def without_none(values: Mapping[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _read_base_url(base_url: object) -> str:
    if not isinstance(base_url, str) or not base_url:
        raise ValueError('base_url is missing: pass the URL of your Parley installation, for example "https://parley.example.com".')
    url = urllib.parse.urlsplit(base_url)
    if url.scheme not in ("http", "https") or not url.netloc:
        raise ValueError(f'base_url is "{base_url}", but it must start with https:// (or http://) and a host.')
    if url.username or url.password or url.query or url.fragment:
        raise ValueError("base_url must not contain a user name, a query or a fragment. Pass the API key in key.")
    path = url.path.rstrip("/")
    if path.endswith("/v1"):
        raise ValueError(f'base_url is "{base_url}", but it must not include /v1: the client adds it.')
    return f"{url.scheme}://{url.netloc}{path}"


def _read_key(key: object) -> str:
    """Checks the form of a key. Only the service knows whether it is valid."""
    if not isinstance(key, str) or not key:
        raise ValueError('key is missing: pass an API key. It starts with "prl_live_".')
    if key.lower().startswith("bearer "):
        raise ValueError('key must be only the key, without "Bearer".')
    if key.startswith("whsec_"):
        raise ValueError('key is the signing secret of a webhook ("whsec_…"). An API key starts with "prl_live_".')
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        raise ValueError("key contains a space, a line break or another invalid character. Copy the key again.")
    return key
