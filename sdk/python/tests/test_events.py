import os
import tempfile
import threading
import unittest
from typing import List, Optional

from parley import AuthenticationError, CursorExpiredError, FileCursorStore, MemorySeenEvents, ParleyError
from parley.retry import wait_before_retry
from scripted import Act, ScriptedTest, fails, hangs_up, responds


def page(ids: List[str], cursor: str) -> Act:
    data = [{"id": id, "type": "x", "created_at": "", "data": {}} for id in ids]
    return responds(200, {"object": "list", "data": data, "has_more": False, "next_cursor": cursor})


class Store:
    def __init__(self, cursor: Optional[str] = None) -> None:
        self.cursor = cursor
        self.saved: List[str] = []

    def load(self) -> Optional[str]:
        return self.cursor

    def save(self, cursor: str) -> None:
        self.saved.append(cursor)


class NoWait(threading.Event):
    """Notes how long it is to wait, and does not wait."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: List[float] = []

    def wait(self, timeout: Optional[float] = None) -> bool:
        self.waits.append(timeout or 0)
        return self.is_set()


class StreamTest(ScriptedTest):
    def test_a_cursor_is_saved_when_the_events_of_its_page_were_handled(self) -> None:
        requests = self.serve(page(["a", "b"], "c1"), page([], "c2"), page(["c"], "c3"))
        store = Store("c0")
        states = []
        for event in self.parley.events.stream(store=store, after="latest", types=["message.sent", "message.read"], limit=2):
            states.append([event["id"], *store.saved])
            if event["id"] == "c":
                break
        self.assertEqual(states, [["a"], ["b"], ["c", "c1", "c2"]])
        # The program stopped within a page, so the page is read again.
        self.assertEqual(store.saved, ["c1", "c2"])
        self.assertEqual(requests[0].path, "/v1/events?after=c0&type=message.sent&type=message.read&limit=2&wait=25")

    def test_a_stream_that_begins_now_has_a_cursor_immediately(self) -> None:
        """If the first request waited and failed, the next one would skip the events of that time."""
        requests = self.serve(page([], "c0"), hangs_up, page(["a"], "c1"))
        store = Store()
        self.assertEqual(next(self.parley.events.stream(store=store, after="latest", stop=NoWait()))["id"], "a")
        paths = [request.path for request in requests]
        self.assertEqual(paths, ["/v1/events?after=latest&wait=0", *["/v1/events?after=c0&wait=25"] * 2])
        self.assertEqual(store.saved, ["c0"])

    def test_waits_grow_up_to_ten_minutes_and_a_longer_retry_after_is_an_error(self) -> None:
        def waits(retry_after: str, count: int) -> List[float]:
            self.serve(fails(503, "service_unavailable", headers={"Retry-After": retry_after}))
            found: List[float] = []
            stop = NoWait()

            def on_retry(_: object, seconds: float) -> None:
                found.append(seconds)
                if len(found) == count:
                    stop.set()

            self.assertEqual(list(self.parley.events.stream(stop=stop, on_retry=on_retry)), [])
            return found

        first, second, third = waits("0", 3)
        self.assertTrue(0.25 <= first <= 0.5 <= second <= 1 <= third <= 2)
        self.assertTrue(600 <= waits("600", 1)[0] <= 601)
        for huge in ("601", "9" * 400):
            with self.assertRaises(ParleyError) as caught:
                waits(huge, 1)
            self.assertEqual((caught.exception.code, caught.exception.retry_after), ("service_unavailable", float(huge)))

    def test_no_wait_is_longer_than_python_can_wait(self) -> None:
        for huge in ("9" * 15, "9" * 400):
            error = ParleyError("", code="rate_limited", status=429, retry_after=float(huge))
            seconds = wait_before_retry(error, 1, 2, float("inf")) or 0
            self.assertTrue(23 * 86_400 < seconds < threading.TIMEOUT_MAX)

    def test_it_waits_and_tries_again_while_the_service_is_down(self) -> None:
        retried = []
        html = responds(502, b"<h1>", {"Content-Type": "text/html"})
        limited = fails(429, "rate_limited", "rate_limit_error", {"Retry-After": "1"})
        requests = self.serve(hangs_up, fails(500, "internal_error"), html, limited, page(["a"], "c1"))
        stop = NoWait()
        stream = self.parley.events.stream(stop=stop, on_retry=lambda error, seconds: retried.append((error.code, seconds)))
        self.assertEqual(next(stream)["id"], "a")
        self.assertEqual([code for code, _ in retried], ["connection_failed", "internal_error", "unexpected_response", "rate_limited"])
        self.assertGreaterEqual(retried[3][1], 1)
        self.assertEqual(stop.waits, [seconds for _, seconds in retried])
        self.assertEqual(len(requests), 5)

    def test_errors_that_will_not_go_away_end_it(self) -> None:
        self.serve(fails(401, "invalid_key", "authentication_error"))
        with self.assertRaises(AuthenticationError):
            next(self.parley.events.stream())
        self.serve(fails(410, "cursor_expired", "invalid_request_error", details={"oldest_cursor": "c9"}))
        with self.assertRaises(CursorExpiredError) as caught:
            next(self.parley.events.stream(store=Store("c0")))
        self.assertEqual((caught.exception.oldest_cursor, caught.exception.status), ("c9", 410))

    def test_stop_ends_it_between_events_and_between_attempts(self) -> None:
        stop, seen, store = threading.Event(), MemorySeenEvents(), Store()
        self.serve(page(["a", "b"], "c1"))
        taken = []
        for event in self.parley.events.stream(stop=stop, seen=seen, store=store):
            taken.append(event["id"])
            stop.set()
        self.assertEqual((taken, store.saved), (["a"], []))
        # The page is read again, and the event that was handled is not repeated.
        self.assertEqual(next(self.parley.events.stream(seen=seen))["id"], "b")
        stop.clear()
        requests = self.serve(fails(503, "service_unavailable", "api_error", {"Retry-After": "500"}))
        self.assertEqual(list(self.parley.events.stream(stop=stop, on_retry=lambda *_: stop.set())), [])
        self.assertEqual(len(requests), 1)

    def test_types_must_be_a_list(self) -> None:
        self.serve(page([], "c1"))
        with self.assertRaises(TypeError):
            self.parley.events.read(types="message.sent")


class FileStoreTest(unittest.TestCase):
    def test_the_cursor_is_kept_in_a_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = FileCursorStore(os.path.join(folder, "cursor"))
            self.assertIsNone(store.load())
            store.save("c1")
            store.save("c2")
            self.assertEqual((store.load(), os.listdir(folder)), ("c2", ["cursor"]))


if __name__ == "__main__":
    unittest.main()
