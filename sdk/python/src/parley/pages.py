"""Lists that fetch their pages when they are needed."""

from __future__ import annotations

from typing import Any, Callable, Dict, Generic, Iterator, List, Optional, TypeVar

Item = TypeVar("Item")


class Page(Generic[Item]):
    """One page of a list."""

    def __init__(self, fields: Dict[str, Any]) -> None:
        self.data: List[Item] = fields["data"]
        #: The number of items on all pages, counted up to 10,000.
        self.total: int = fields["total"]
        #: False if there are more than `total`.
        self.total_is_exact: bool = fields["total_is_exact"]
        self.has_more: bool = fields["has_more"]
        #: Pass it to `page` to get the next page.
        self.next_cursor: Optional[str] = fields["next_cursor"]


class Pages(Generic[Item]):
    """A list. It makes no request before it is used, and then fetches only the pages that are needed."""

    def __init__(self, fetch: Callable[[Optional[str]], Dict[str, Any]]) -> None:
        self._fetch = fetch

    def page(self, cursor: Optional[str] = None) -> Page[Item]:
        """The first page, or the one after a cursor."""
        return Page(self._fetch(cursor))

    def pages(self) -> Iterator[Page[Item]]:
        cursor: Optional[str] = None
        while True:
            page = self.page(cursor)
            yield page
            cursor = page.next_cursor
            if not page.has_more or cursor is None:
                return

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            yield from page.data
