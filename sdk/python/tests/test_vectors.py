import base64
import hashlib
import hmac
import json
import time
import unittest
from pathlib import Path

from parley import WebhookVerificationError, verify_webhook

VECTORS = json.loads((Path(__file__).parents[2] / "vectors.json").read_text("utf-8"))


def result_of(vector: dict) -> str:
    try:
        verify_webhook(
            base64.b64decode(vector["body_base64"]),
            vector["headers"],
            vector["secrets"],
            tolerance_seconds=VECTORS["tolerance_seconds"],
            now=VECTORS["now"],
        )
        return "valid"
    except WebhookVerificationError as error:
        return error.reason


class VectorsTest(unittest.TestCase):
    def test_every_vector_has_its_result(self) -> None:
        vectors = VECTORS["service_signature"] + VECTORS["standard_webhooks"]
        self.assertGreater(len(vectors), 50)
        for vector in vectors:
            expected = vector["result"]
            if expected == "valid" and not vector["is_event"]:
                expected = "invalid_json"
            with self.subTest(vector["name"]):
                self.assertEqual(result_of(vector), expected)


class VerifyTest(unittest.TestCase):
    def sign(self, body: bytes, secret: str = "whsec_x") -> dict:
        t = int(time.time())
        signature = hmac.new(secret.encode(), f"{t}.".encode() + body, hashlib.sha256).hexdigest()
        return {"SERVICE-SIGNATURE": f"t={t},v1={signature}"}

    def test_returns_the_event_now(self) -> None:
        body = '{"id":"1","type":"t","data":{"text":"¿qué?"}}'.encode()
        self.assertEqual(verify_webhook(body, self.sign(body), "whsec_x")["id"], "1")

    def test_a_missing_secret_is_an_error_of_the_receiver(self) -> None:
        for none in ("", [], [""], None):
            with self.assertRaises(TypeError):
                verify_webhook(b"{}", self.sign(b"{}"), none)  # type: ignore[arg-type]

    def test_a_body_that_is_not_raw_and_a_duplicate_header_are_rejected(self) -> None:
        for body in ("{}", {}, None):
            with self.assertRaises(WebhookVerificationError) as caught:
                verify_webhook(body, self.sign(b"{}"), "whsec_x")  # type: ignore[arg-type]
            self.assertEqual(caught.exception.reason, "body_not_raw")
        twice = {**self.sign(b"{}"), "service-signature": "t=1,v1=x"}
        with self.assertRaises(WebhookVerificationError) as caught:
            verify_webhook(b"{}", twice, "whsec_x")
        self.assertEqual(caught.exception.reason, "malformed_header")


if __name__ == "__main__":
    unittest.main()
