"""A server that handles each request with the next act, and all further ones with the last act."""

import json
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, List, Optional

from parley import Parley


class Request:
    def __init__(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        self.method = handler.command
        self.path = handler.path
        self.headers = {name.lower(): value for name, value in handler.headers.items()}
        self.body = body


Act = Callable[[BaseHTTPRequestHandler], None]


def responds(status: int, body: Any, headers: Optional[Dict[str, str]] = None) -> Act:
    content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()

    def act(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            handler.send_header(name, value)
        if status != 204:
            handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return act


def fails(status: int, code: str, type: str = "api_error", headers: Optional[Dict[str, str]] = None, **more: Any) -> Act:
    error = {"type": type, "code": code, "message": f"It is {code}.", "request_id": "req_1", **more}
    return responds(status, {"error": error}, headers)


def hangs_up(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True
    handler.connection.close()


class ScriptedTest(unittest.TestCase):
    def serve(self, *acts: Act) -> List[Request]:
        """Starts a server; `self.parley` is a client of it that does not really wait."""
        requests: List[Request] = []
        lock = threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            def handle_one(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                with lock:
                    act = acts[min(len(requests), len(acts) - 1)]
                    requests.append(Request(self, body))
                act(self)

            do_GET = do_POST = handle_one

            def log_message(self, *_: Any) -> None:
                pass

            def finish(self) -> None:
                try:
                    super().finish()
                except (OSError, ValueError):
                    pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.base_url = f"http://127.0.0.1:{server.server_address[1]}"
        self.parley = Parley(base_url=self.base_url, key="prl_live_x")
        self.waits: List[float] = []
        self.parley._transport.sleep = self.waits.append
        return requests
