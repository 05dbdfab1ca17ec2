"""Reading events instead of receiving them."""

from __future__ import annotations

import os
import threading
from typing import Any, Callable, Iterator, List, Optional, Protocol, Sequence

from .errors import ParleyError
from .retry import wait_before_reading
from .seen import SeenEvents
from .transport import Transport
from .types import Event


_WAIT_SECONDS = 25
#: Longer than the service waits.
_TIMEOUT = 60.0


class CursorStore(Protocol):
    """Where a program keeps its place in the events: a row of a database, a file."""

    def load(self) -> Optional[str]:
        """The cursor that was saved last; None if there is none."""

    def save(self, cursor: str) -> None: ...


class FileCursorStore:
    """Keeps the cursor in a file, which is replaced as a whole."""

    def __init__(self, path: str) -> None:
        self._path = path

    def load(self) -> Optional[str]:
        try:
            with open(self._path, encoding="ascii") as file:
                return file.read().strip() or None
        except FileNotFoundError:
            return None

    def save(self, cursor: str) -> None:
        new = f"{self._path}.new"
        with open(new, "w", encoding="ascii") as file:
            file.write(cursor)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self._path)


class EventPage:
    def __init__(self, fields: Any) -> None:
        self.data: List[Event] = fields["data"]
        #: Whether there may be more events now.
        self.has_more: bool = fields["has_more"]
        #: Pass it as `after` to get what follows. Always set.
        self.next_cursor: str = fields["next_cursor"]


class Events:
    """Events, as webhooks deliver them. Scope `events:read`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def read(
        self,
        *,
        after: Optional[str] = None,
        types: Optional[Sequence[str]] = None,
        limit: Optional[int] = None,
        wait: Optional[int] = None,
        max_retries: Optional[int] = None,
    ) -> EventPage:
        """One page. With `wait`, an empty page waits for up to this many seconds, at most 25, until there is an event.

        `after` is the `next_cursor` of the last page, or `latest` to begin now. Without it, reading begins with the oldest
        event that is stored.
        """
        if isinstance(types, str):
            raise TypeError("types must be a list of event types.")
        query = {"after": after, "type": list(types or []), "limit": limit, "wait": wait}
        timeout = _TIMEOUT if wait else None
        return EventPage(self._transport.get("/v1/events", query, timeout=timeout, max_retries=max_retries))

    def stream(
        self,
        *,
        store: Optional[CursorStore] = None,
        after: Optional[str] = None,
        types: Optional[Sequence[str]] = None,
        limit: Optional[int] = None,
        seen: Optional[SeenEvents] = None,
        stop: Optional[threading.Event] = None,
        on_retry: Optional[Callable[[ParleyError, float], None]] = None,
    ) -> Iterator[Event]:
        """Every stored event, then new events, until `stop` is set.

        The cursor is saved in `store` when your code asks for the event after the last one of a page: if the program ends
        before, the events of that page are repeated. `seen` drops events that were handled. The cursor in the store takes
        precedence over `after`, which is for the first start.

        While the service cannot be reached, responds with 5xx, or the rate limit is exceeded, it waits and tries again, and
        calls `on_retry(error, seconds)`. Raises a `CursorExpiredError` if events were deleted, and every error
        that will not go away. `stop` is noticed between requests, which take up to 25 seconds.
        """
        stopped = stop or threading.Event()
        cursor = (store.load() if store else None) or after
        failures = 0
        while not stopped.is_set():
            try:
                # "Now" becomes a cursor immediately: if this request failed after a wait, the next one would begin later.
                wait = 0 if cursor == "latest" else _WAIT_SECONDS
                page = self.read(after=cursor, types=types, limit=limit, wait=wait, max_retries=0)
                failures = 0
            except ParleyError as error:
                failures += 1
                seconds = wait_before_reading(error, failures)
                if seconds is None:
                    raise
                if on_retry:
                    on_retry(error, seconds)
                stopped.wait(seconds)
                continue
            for event in page.data:
                if seen and seen.has(event["id"]):
                    continue
                if stopped.is_set():
                    return
                yield event
                if seen:
                    seen.add(event["id"])
            cursor = page.next_cursor
            if store:
                store.save(cursor)
