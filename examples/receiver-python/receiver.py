"""Receives Parley's webhooks, verifies each delivery with the SDK, acknowledges it and prints its event once, on one line.

Needs only Python 3.9 or later.
"""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

# In your own project, install the SDK instead: pip install sdk/python
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "sdk" / "python" / "src"))

from parley import Event, MemorySeenEvents, WebhookVerificationError, verify_webhook

MAX_BYTES = 1024 * 1024


def handle(event: Event) -> None:
    # A single write per line, because several requests may be handled at the same time.
    sys.stdout.write(f"{event['type']} {event['id']} {json.dumps(event['data'], ensure_ascii=False)}\n")
    sys.stdout.flush()


# Keep the IDs in a database if you run more than one process.
SEEN = MemorySeenEvents()


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
            event = verify_webhook(body, self.headers, SECRET)
        except WebhookVerificationError as error:
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
