import hashlib
import hmac
import io
import json
import threading
import time
import unittest
from typing import Any, Dict, List

from parley import MemorySeenEvents, WebhookReceiver, WebhookVerificationError, verify_webhook

SECRET = "whsec_x"


def delivery(id: str, secret: str = SECRET) -> Any:
    body = json.dumps({"id": id, "type": "message.received", "created_at": "", "data": {"from": "491", "text": "ñ"}}).encode()
    t = int(time.time())
    signature = hmac.new(secret.encode(), f"{t}.".encode() + body, hashlib.sha256).hexdigest()
    return {"service-signature": f"t={t},v1={signature}"}, body


class ReceiverTest(unittest.TestCase):
    def setUp(self) -> None:
        self.handled: List[str] = []
        self.errors: List[Exception] = []

    def receiver(self, handler: Any = None, **options: Any) -> WebhookReceiver:
        handle = handler or (lambda event: self.handled.append(event["id"]))
        return WebhookReceiver(SECRET, handle, on_error=lambda error, _: self.errors.append(error), **options)

    def test_an_event_is_handled_once(self) -> None:
        receiver = self.receiver()
        self.assertEqual([receiver.receive(*delivery(id)).status for id in ("a", "a", "b")], [204, 204, 204])
        self.assertEqual(self.handled, ["a", "b"])

    def test_a_failed_event_is_handled_again_when_it_is_retried(self) -> None:
        def handle(event: Any) -> None:
            self.handled.append(event["id"])
            if len(self.handled) == 1:
                raise RuntimeError("once")

        receiver = self.receiver(handle)
        self.assertEqual([receiver.receive(*delivery("a")).status for _ in range(3)], [500, 204, 204])
        self.assertEqual((self.handled, len(self.errors)), (["a", "a"], 1))

    def test_an_event_that_arrives_twice_at_the_same_time_is_handled_once(self) -> None:
        started, release = threading.Event(), threading.Event()

        def handle(event: Any) -> None:
            self.handled.append(event["id"])
            started.set()
            release.wait(60)

        receiver = self.receiver(handle)
        statuses: List[int] = []
        threads = [threading.Thread(target=lambda: statuses.append(receiver.receive(*delivery("a")).status)) for _ in range(2)]
        threads[0].start()
        started.wait(60)
        threads[1].start()
        release.set()
        for thread in threads:
            thread.join()
        self.assertEqual((self.handled, statuses), (["a"], [204, 204]))

    def test_with_acknowledge_before_a_failed_event_is_reported_and_forgotten(self) -> None:
        release, reported = threading.Event(), threading.Event()
        seen = MemorySeenEvents()

        def handle(event: Any) -> None:
            release.wait(60)
            raise RuntimeError("late")

        def on_error(error: Exception, event: Any) -> None:
            self.errors.append(error)
            reported.set()

        receiver = WebhookReceiver(SECRET, handle, acknowledge="before", seen=seen, on_error=on_error)
        self.assertEqual(receiver.receive(*delivery("a")).status, 204)
        self.assertTrue(seen.has("a"))
        release.set()
        self.assertTrue(reported.wait(60))
        self.assertEqual(([str(error) for error in self.errors], seen.has("a")), (["late"], False))

    def test_invalid_deliveries_are_rejected_with_a_reason(self) -> None:
        receiver = self.receiver(max_bytes=1000)
        status, body = receiver.receive(*delivery("a", "whsec_other"))
        self.assertEqual((status, json.loads(body)["error"]["reason"]), (400, "no_match"))
        self.assertEqual(receiver.receive({}, b"{}").status, 400)
        self.assertEqual(receiver.receive({}, b"x" * 1001).status, 413)
        self.assertEqual((self.handled, len(self.errors)), ([], 3))

    def test_a_store_that_fails_gives_500(self) -> None:
        class Broken(MemorySeenEvents):
            def add(self, id: str) -> bool:
                raise OSError("the store is down")

        receiver = self.receiver(acknowledge="before", seen=Broken())
        self.assertEqual((receiver.receive(*delivery("a")).status, self.handled), (500, []))

    def test_an_event_that_cannot_be_handled_later_is_not_known(self) -> None:
        """The program is ending: Parley retries the event, perhaps to another process with the same table."""
        seen = MemorySeenEvents()
        receiver = self.receiver(acknowledge="before", seen=seen)
        assert receiver._pool
        receiver._pool.shutdown()
        self.assertEqual((receiver.receive(*delivery("a")).status, seen.has("a")), (500, False))

    def test_an_error_of_on_error_does_not_keep_the_response_back(self) -> None:
        def fail(*_: Any) -> None:
            raise RuntimeError("no disk")

        receiver = WebhookReceiver(SECRET, fail, on_error=fail)
        with self.assertLogs("parley", "ERROR") as logged:
            self.assertEqual(receiver.receive(*delivery("a")).status, 500)
            self.assertEqual(receiver.receive({}, b"x").status, 400)
        self.assertEqual(len(logged.records), 2)

    def test_headers_may_be_lists_and_secrets_are_explained(self) -> None:
        headers, body = delivery("a")
        signature = headers["service-signature"]
        self.assertEqual(verify_webhook(body, {"Service-Signature": [signature]}, SECRET)["id"], "a")  # type: ignore[dict-item]
        for wrong, reason in (([signature] * 2, "malformed_header"), (None, "missing_header"), ([], "missing_header")):
            with self.assertRaises(WebhookVerificationError) as caught:
                verify_webhook(body, {"service-signature": wrong}, SECRET)  # type: ignore[dict-item]
            self.assertEqual(caught.exception.reason, reason)
        with self.assertRaisesRegex(TypeError, "line break"):
            verify_webhook(body, headers, f"{SECRET}\n")
        with self.assertRaisesRegex(WebhookVerificationError, 'A secret starts with "whsec_"'):
            verify_webhook(body, headers, "x")

    def test_wrong_settings_raise(self) -> None:
        with self.assertRaises(TypeError):
            WebhookReceiver("", print)
        with self.assertRaises(ValueError):
            WebhookReceiver(SECRET, print, acknowledge="never")

    def test_it_is_a_wsgi_application(self) -> None:
        receiver = self.receiver()
        seen: Dict[str, Any] = {}

        def call(method: str, headers: Dict[str, str], body: bytes) -> str:
            environ: Dict[str, Any] = {"REQUEST_METHOD": method, "CONTENT_LENGTH": str(len(body)), "wsgi.input": io.BytesIO(body)}
            environ.update({f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()})
            seen["body"] = b"".join(receiver(environ, lambda status, headers: seen.update(status=status, headers=headers)))
            return str(seen["status"])

        self.assertEqual(call("POST", *delivery("a")), "204 No Content")
        self.assertEqual((seen["body"], seen["headers"], self.handled), (b"", [], ["a"]))
        # Without a length, the body is read only if the server ends it.
        for ended, status in ((True, "204 No Content"), (False, "400 Bad Request")):
            headers, body = delivery("b")
            environ = {"REQUEST_METHOD": "POST", "wsgi.input": io.BytesIO(body), "wsgi.input_terminated": ended}
            environ["HTTP_SERVICE_SIGNATURE"] = headers["service-signature"]
            receiver(environ, lambda status, headers: seen.update(status=status))
            self.assertEqual(seen["status"], status)
        self.assertEqual(call("GET", {}, b""), "405 Method Not Allowed")
        self.assertEqual(call("POST", {}, b"{}"), "400 Bad Request")
        self.assertEqual(json.loads(seen["body"])["error"]["reason"], "missing_header")

    def test_only_the_last_ids_are_kept(self) -> None:
        seen = MemorySeenEvents(2)
        self.assertEqual([seen.add(id) for id in "abacba"], [True, True, False, True, False, True])
        self.assertEqual([seen.has(id) for id in "abc"], [True, False, True])


if __name__ == "__main__":
    unittest.main()
