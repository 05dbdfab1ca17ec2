"""The IDs of events that were received, to handle each event once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Protocol


class SeenEvents(Protocol):
    """With more than one process, implement it with a table of your database."""

    def has(self, id: str) -> bool:
        """Whether the ID is known."""

    def add(self, id: str) -> bool:
        """Remembers the ID. Returns False if it was known, as `insert … on conflict do nothing` can."""

    def delete(self, id: str) -> None:
        """Forgets the ID, so that the event can be sent again. Called if the handler of an acknowledged event fails."""


class MemorySeenEvents:
    """Keeps the last IDs in memory, 10,000 by default. They are lost when the program ends."""

    def __init__(self, max_count: int = 10_000) -> None:
        self._max_count = max_count
        self._ids: "OrderedDict[str, None]" = OrderedDict()
        self._lock = threading.Lock()

    def has(self, id: str) -> bool:
        with self._lock:
            return id in self._ids

    def add(self, id: str) -> bool:
        with self._lock:
            if id in self._ids:
                return False
            self._ids[id] = None
            while len(self._ids) > self._max_count:
                self._ids.popitem(last=False)
            return True

    def delete(self, id: str) -> None:
        with self._lock:
            self._ids.pop(id, None)
