"""Receives Parley's webhooks, verifies each delivery, acknowledges it and prints its event once, on one line.

Needs only Python 3.9 or later.
"""

import hashlib
import hmac
import json
import os
import re
import sys
import threading
import time
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_BYTES = 1024 * 1024
TOLERANCE_SECONDS = 300
MAX_IDS = 10_000


def verify(body: bytes, header: str, secret: str) -> None:
    """Raises ValueError unless the body was signed with the secret within the last 300 seconds."""
    match = re.fullmatch(r"t=([0-9]{1,12})((?:,v1=[0-9a-f]{64}){1,8})", header)
    if not match:
        raise ValueError("Service-Signature is missing or malformed; expected t=<seconds>,v1=<hex>")
    # There are two signatures while a new secret is being introduced. One of them has to match.
    seconds, signatures = match[1], match[2].split(",v1=")[1:]
    if abs(time.time() - int(seconds)) > TOLERANCE_SECONDS:
        raise ValueError("the timestamp is too old or in the future")
    # The signature covers the raw bytes: JSON that was parsed and serialized again does not match.
    expected = hmac.new(secret.encode(), seconds.encode() + b"." + body, hashlib.sha256).hexdigest()
    if not any(hmac.compare_digest(expected, signature) for signature in signatures):
        raise ValueError("the signature does not match the body and the secret")


def handle(event: dict) -> None:
    # A single write per line, because several requests may be handled at the same time.
    sys.stdout.write(f"{event['type']} {event['id']} {json.dumps(event['data'], ensure_ascii=False)}\n")
    sys.stdout.flush()


class SeenEvents:
    """The last IDs, in memory. Keep them in a database if you run more than one process."""

    def __init__(self) -> None:
        self.ids: OrderedDict[str, None] = OrderedDict()
        self.lock = threading.Lock()

    def add(self, event_id: str) -> bool:
        """Returns False if the ID was known."""
        with self.lock:
            if event_id in self.ids:
                return False
            self.ids[event_id] = None
            if len(self.ids) > MAX_IDS:
                self.ids.popitem(last=False)
            return True


SEEN = SeenEvents()


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            return self.respond(411, "Content-Length is missing")
        if int(length) > MAX_BYTES:
            return self.respond(413, "the body is too large")
        body = self.rfile.read(int(length))
        try:
            verify(body, self.headers.get("Service-Signature", ""), SECRET)
            event = json.loads(body)
        except ValueError as error:
            return self.respond(400, str(error))
        # The same event may arrive more than once.
        is_new = SEEN.add(event["id"])
        self.respond(204)
        # Work that takes longer belongs after the response, which has to be sent within ten seconds.
        if is_new:
            handle(event)

    def respond(self, status: int, reason: str = "") -> None:
        body = reason.encode()
        self.send_response(status)
        if status != 204:
            # The body may be unread, so the connection cannot be reused.
            self.send_header("Connection", "close")
            self.send_header("Content-Type", "text/plain; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Only events are printed."""


if __name__ == "__main__":
    SECRET = os.environ.get("PARLEY_WEBHOOK_SECRET", "")
    if not SECRET:
        sys.exit('Set PARLEY_WEBHOOK_SECRET to the "whsec_…" value that was shown when the endpoint was created.')
    host, port = os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "9000"))
    print(f"Listening at http://{host}:{port}/", flush=True)
    with ThreadingHTTPServer((host, port), Receiver) as server:
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass
