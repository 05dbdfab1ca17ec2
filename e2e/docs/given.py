"""Runs a block in Python with what it takes for granted: the reader's own values."""

import hashlib
import hmac
import json
import os
import sys
import time

from parley import Parley, WebhookReceiver


class Request:
    """A request as Flask passes it on."""

    def __init__(self, headers, body):
        self.headers = headers
        self.body = body

    def get_data(self):
        return self.body


secret = os.environ["PARLEY_WEBHOOK_SECRET"]
body = json.dumps({"id": "e-1", "type": "webhook.test", "created_at": "2026-11-15T09:00:00.000Z", "data": {}}).encode()
seconds = int(time.time())
signature = hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()

given = {
    "__name__": "__main__",
    "parley": Parley(base_url=os.environ["PARLEY_URL"], key=os.environ["PARLEY_API_KEY"]),
    "message": {"sender_id": os.environ["SENDER_ID"], "to": "16505550123", "type": "text", "text": {"body": "Hello"}},
    "receiver": WebhookReceiver(secret, lambda event: None),
    "request": Request({"Service-Signature": f"t={seconds},v1={signature}"}, body),
    "raw_body": body,
    "secret": secret,
}
with open(sys.argv[1], encoding="utf-8") as file:
    exec(compile(file.read(), sys.argv[1], "exec"), given)
