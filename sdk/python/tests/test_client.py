import io
import json
import tempfile
import time
import unittest
from datetime import datetime, timedelta, timezone
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler
from typing import Any, List

from parley import (
    AuthenticationError,
    BillingError,
    ConnectionFailedError,
    IdempotencyError,
    InvalidRequestError,
    NotFoundError,
    Parley,
    ParleyError,
    PermissionDeniedError,
    RateLimitError,
    ServiceError,
)
from scripted import ScriptedTest, fails, hangs_up, responds

MESSAGE = {"to": "491701234567", "type": "text", "text": {"body": "¿qué?"}}


class SendTest(ScriptedTest):
    def test_a_send_keeps_its_idempotency_key_across_retries(self) -> None:
        requests = self.serve(hangs_up, fails(503, "service_unavailable"), responds(202, {"id": "msg_1"}))
        self.assertEqual(self.parley.messages.send(MESSAGE)["id"], "msg_1")
        keys = {request.headers["idempotency-key"] for request in requests}
        self.assertEqual((len(requests), len(keys), len(self.waits)), (3, 1, 2))
        self.assertEqual(json.loads(requests[2].body), MESSAGE)
        self.assertEqual(requests[0].headers["authorization"], "Bearer prl_live_x")

    def test_own_idempotency_keys_are_sent_and_checked(self) -> None:
        requests = self.serve(responds(202, {"id": "msg_1"}))
        self.parley.messages.send(MESSAGE, idempotency_key="order-1")
        self.assertEqual(requests[0].headers["idempotency-key"], "order-1")
        for wrong in ("", "a b", "ñ", "x" * 256, "a\n"):
            with self.assertRaises(ValueError):
                self.parley.messages.send(MESSAGE, idempotency_key=wrong)

    def test_a_batch_is_sent_in_parts_with_progress(self) -> None:
        def results(count: int) -> object:
            return responds(200, {"data": [{"index": n, "status": 202, "message": {"id": f"msg_{n}"}} for n in range(count)]})

        requests = self.serve(results(500), fails(503, "service_unavailable"), results(2))
        progress = []
        sent = self.parley.messages.send_batch(
            [MESSAGE] * 502, idempotency_key="night", on_progress=lambda done, total: progress.append((done, total))
        )
        self.assertEqual([each["index"] for each in sent], list(range(502)))
        self.assertEqual(progress, [(500, 502), (502, 502)])
        self.assertEqual([each.headers["idempotency-key"] for each in requests], ["night-0", "night-1", "night-1"])
        self.assertEqual(len(json.loads(requests[2].body)["messages"]), 2)
        with self.assertRaises(ValueError):
            self.parley.messages.send_batch([MESSAGE], idempotency_key="a b")

    def test_a_failed_batch_is_repeated_with_the_key_of_its_error(self) -> None:
        def results(count: int) -> Any:
            return responds(200, {"data": [{"index": n, "status": 202, "message": {}} for n in range(count)]})

        requests = self.serve(results(500), fails(400, "validation_failed"), results(500), results(1))
        with self.assertRaises(ParleyError) as caught:
            self.parley.messages.send_batch([MESSAGE] * 501)
        key = caught.exception.idempotency_key
        self.assertEqual(len(self.parley.messages.send_batch([MESSAGE] * 501, idempotency_key=key)), 501)
        keys = [each.headers["idempotency-key"] for each in requests]
        self.assertEqual(keys, [f"{key}-{part}" for part in (0, 1, 0, 1)])

    def test_an_error_has_the_key_and_every_field(self) -> None:
        errors = [{"param": "to", "code": "invalid", "message": "No number."}]
        self.serve(fails(400, "validation_failed", "invalid_request_error", param="to", errors=errors))
        with self.assertRaises(InvalidRequestError) as caught:
            self.parley.messages.send(MESSAGE, idempotency_key="k")
        error = caught.exception
        self.assertEqual((error.param, error.errors[0], error.request_id), ("to", ("to", "invalid", "No number."), "req_1"))
        self.assertEqual((error.status, error.idempotency_key), (400, "k"))
        self.assertIn("to: No number.", str(error))

    def test_a_rate_limit_is_awaited_as_long_as_retry_after_says(self) -> None:
        limited = {"Retry-After": "7"}
        self.serve(fails(429, "rate_limited", "rate_limit_error", limited), responds(202, {"id": "msg_1"}))
        self.parley.messages.send(MESSAGE)
        self.assertTrue(7 <= self.waits[0] <= 8)
        self.serve(fails(429, "rate_limited", "rate_limit_error", {"Retry-After": "600"}))
        with self.assertRaises(RateLimitError) as caught:
            self.parley.messages.send(MESSAGE)
        self.assertEqual((caught.exception.retry_after, self.waits), (600, []))

    def test_retry_after_may_be_a_date(self) -> None:
        self.serve(fails(429, "rate_limited", "rate_limit_error", {"Retry-After": formatdate(time.time() + 600, usegmt=True)}))
        with self.assertRaises(RateLimitError) as caught:
            self.parley.me()
        self.assertTrue(500 < (caught.exception.retry_after or 0) <= 600)

    def test_a_retry_after_that_is_neither_is_ignored(self) -> None:
        for wrong in ("soon", "-1", "1.5", "Sun, 99999999999999 Nov 15 1.5"):
            self.serve(fails(503, "service_unavailable", headers={"Retry-After": wrong}), responds(200, {"account_id": "a"}))
            self.assertEqual((self.parley.me()["account_id"], len(self.waits)), ("a", 1))

    def test_what_is_not_safe_to_repeat_is_not_repeated(self) -> None:
        requests = self.serve(fails(503, "service_unavailable"))
        with self.assertRaises(ServiceError):
            self.parley.inbound_messages.mark_as_read("msg_1", typing=True)
        with self.assertRaises(ServiceError):
            self.parley.media.upload(b"x", filename="a.png")
        self.assertEqual(len(requests), 2)
        self.assertEqual(json.loads(requests[0].body), {"typing": True})


class ErrorTest(ScriptedTest):
    def test_each_type_of_error_has_a_class(self) -> None:
        for status, code, kind, expected in [
            (401, "invalid_key", "authentication_error", AuthenticationError),
            (403, "insufficient_scope", "permission_error", PermissionDeniedError),
            (402, "insufficient_credits", "billing_error", BillingError),
            (422, "idempotency_key_reused", "idempotency_error", IdempotencyError),
            (404, "not_found", "invalid_request_error", NotFoundError),
            (500, "internal_error", "api_error", ServiceError),
            (418, "new_code", "new_type", ParleyError),
        ]:
            requests = self.serve(fails(status, code, kind))
            with self.subTest(code), self.assertRaises(expected) as caught:
                self.parley.senders.get("snd_1")
            self.assertEqual((caught.exception.code, type(caught.exception), len(requests)), (code, expected, 1))

    def test_responses_that_are_not_from_parley_say_so(self) -> None:
        self.serve(responds(200, b"<html>", {"Content-Type": "text/html; charset=utf-8"}))
        with self.assertRaisesRegex(ServiceError, "200 with text/html"):
            self.parley.me()
        requests = self.serve(responds(301, b"", {"Location": "https://other.example/"}))
        with self.assertRaisesRegex(ServiceError, "Use that address as base_url"):
            self.parley.me()
        self.assertEqual(len(requests), 1)

    def test_a_service_that_cannot_be_reached_is_tried_again(self) -> None:
        requests = self.serve(hangs_up)
        with self.assertRaises(ConnectionFailedError) as caught:
            self.parley.me()
        self.assertEqual((caught.exception.code, caught.exception.status, len(requests)), ("connection_failed", 0, 3))

    def test_a_response_that_does_not_come_in_time_is_a_timeout(self) -> None:
        self.serve(lambda handler: time.sleep(3))
        parley = Parley(base_url=self.base_url, key="prl_live_x", max_retries=0, timeout=0.2)
        with self.assertRaises(ConnectionFailedError) as caught:
            parley.me()
        self.assertEqual(caught.exception.code, "timeout")


class ListTest(ScriptedTest):
    def test_a_list_fetches_its_pages_when_they_are_needed(self) -> None:
        def page(items: list, cursor: "str | None") -> dict:
            return {"object": "list", "data": items, "total": 3, "total_is_exact": True, "has_more": cursor is not None, "next_cursor": cursor}

        requests = self.serve(responds(200, page([1, 2], "c/1")), responds(200, page([3], None)))
        after = datetime(2026, 11, 1, 12, tzinfo=timezone(timedelta(hours=2)))
        found = self.parley.inbound_messages.list(from_="491", received_after=after, limit=2)
        self.assertEqual(requests, [])
        self.assertEqual(list(found), [1, 2, 3])
        self.assertEqual(requests[0].path, "/v1/inbound_messages?from=491&received_after=2026-11-01T10%3A00%3A00Z&limit=2")
        self.assertTrue(requests[1].path.endswith("&cursor=c%2F1"))
        requests = self.serve(responds(200, page([1, 2], "c1")))
        first = self.parley.messages.list(reference="order 1001").page()
        self.assertEqual(requests[-1].path, "/v1/messages?reference=order+1001")
        self.assertEqual((first.data, first.total, first.total_is_exact, first.next_cursor), ([1, 2], 3, True, "c1"))

    def test_an_id_is_one_segment_of_the_path(self) -> None:
        requests = self.serve(responds(200, {}))
        self.parley.templates.get("a/../b?c")
        self.assertEqual(requests[0].path, "/v1/templates/a%2F..%2Fb%3Fc")
        with self.assertRaises(ValueError):
            self.parley.templates.get("")


class Reading(io.RawIOBase):
    """A file that keeps the sizes of its reads."""

    def __init__(self, file: Any, sizes: List[int]) -> None:
        self._file = file
        self._sizes = sizes

    def read(self, size: int = -1) -> bytes:
        self._sizes.append(size)
        return bytes(self._file.read(size))

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return int(self._file.tell())

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(self._file.seek(offset, whence))


class FileTest(ScriptedTest):
    def test_a_file_is_uploaded_as_a_form(self) -> None:
        requests = self.serve(responds(201, {"id": "med_1"}))
        content = bytes(range(256))
        self.assertEqual(self.parley.media.upload(content, filename='/tmp/of"fer.pdf')["id"], "med_1")
        boundary = requests[0].headers["content-type"].split("boundary=")[1].encode()
        head, _, rest = requests[0].body.partition(b"\r\n\r\n")
        self.assertEqual(rest, content + b"\r\n--" + boundary + b"--\r\n")
        self.assertIn(b'name="file"; filename="of%22fer.pdf"\r\nContent-Type: application/pdf', head)

    def test_a_file_of_the_disk_is_read_while_it_is_sent(self) -> None:
        requests = self.serve(responds(201, {"id": "med_1"}))
        content = bytes(range(256)) * 1000
        with tempfile.TemporaryFile() as file:
            file.write(b"left out" + content)
            file.seek(8)
            sizes = []
            self.parley.media.upload(Reading(file, sizes), filename="a.mp4")
        self.assertIn(b"Content-Type: video/mp4\r\n\r\n" + content + b"\r\n--", requests[0].body)
        self.assertTrue(len(sizes) > 3 and max(sizes) <= 64 * 1024)
        with self.assertRaisesRegex(TypeError, "binary mode"):
            self.parley.media.upload(io.StringIO("x"), filename="a.txt")  # type: ignore[arg-type]

    def test_a_download_that_breaks_off_is_an_error(self) -> None:
        def half(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.send_header("Content-Length", "10")
            handler.end_headers()
            handler.wfile.write(b"half")
            handler.close_connection = True

        self.serve(half)
        for read in (lambda file: file.read(), lambda file: list(file.chunks(2))):
            with self.assertRaisesRegex(ConnectionFailedError, "before the file was complete"):
                read(self.parley.media.of_message("msg_1"))

    def test_a_file_is_downloaded_with_its_name(self) -> None:
        headers = {"Content-Type": "image/jpeg", "Content-Disposition": "attachment; filename=\"a.jpg\"; filename*=UTF-8''%C3%B1.jpg"}
        self.serve(fails(503, "service_unavailable", "api_error", {"Retry-After": "1"}), responds(200, b"x" * 100_000, headers))
        with self.parley.flow_responses.file("frs_1", 0) as file:
            self.assertEqual((file.name, file.type, file.size), ("ñ.jpg", "image/jpeg", 100_000))
            self.assertEqual(b"".join(file.chunks(1000)), b"x" * 100_000)
        self.serve(responds(200, b"abc", {"Content-Disposition": 'attachment; filename="a\\"b.txt"'}))
        file = self.parley.media.of_message("msg_1")
        self.assertEqual((file.name, file.read()), ('a"b.txt', b"abc"))


class SettingsTest(unittest.TestCase):
    def test_wrong_settings_are_explained(self) -> None:
        for base_url, key, message in [
            ("", "prl_live_x", "base_url is missing"),
            ("parley.example.com", "prl_live_x", "must start with https://"),
            ("https://a:b@parley.example.com", "prl_live_x", "must not contain a user name"),
            ("https://parley.example.com/v1/", "prl_live_x", "must not include /v1"),
            ("https://parley.example.com", "", "key is missing"),
            ("https://parley.example.com", "Bearer prl", "without"),
            ("https://parley.example.com", "whsec_x", "signing secret"),
            ("https://parley.example.com", "prl_live_x\n", "invalid character"),
        ]:
            with self.subTest(message), self.assertRaisesRegex(ValueError, message):
                Parley(base_url=base_url, key=key)


if __name__ == "__main__":
    unittest.main()
