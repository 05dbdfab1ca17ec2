"""Tests a bot against Parley and a simulated WhatsApp network.

    with start_parley() as parley:
        parley.endpoint(my_bot)
        parley.phone("+16505550123").write("hi")
        assert parley.phone("+16505550123").received().text == "Hello!"
"""

from __future__ import annotations

import base64
import json
import os
import random
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Type, TypeVar, Union

from .client import Parley
from .scenario import describe, play_scenario, read_scenario
from .verify import WebhookVerificationError, verify_webhook

_Result = TypeVar("_Result")
_SETTINGS = re.compile(r"^(PARLEY_|OTEL_|SMTP_)|^(HOST|PORT|PUBLIC_URL|DATABASE_URL|LOG_LEVEL)$")
_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
#: The usual chat, but without a wait.
_QUICK = {"deliveredAfterMs": 0, "readAfterMs": 0}
_USUAL_EVENTS = (
    "message.received",
    "message.sent",
    "message.delivered",
    "message.read",
    "message.failed",
    "flow.completed",
)

Handler = Callable[[Any], object]


class PhoneMessage(NamedTuple):
    """A message of your business, as the phone shows it."""

    id: str
    type: str
    #: What a person reads: the text, the body of a template or of an interactive message, or the caption.
    text: Optional[str]
    #: The labels of the buttons and list rows that can be tapped.
    buttons: List[str]
    reply_to: Optional[str]
    #: The object under the name of the type, as your business sent it.
    content: Dict[str, Any]


class Sender(NamedTuple):
    id: str
    number: str


class Phone:
    """A simulated person. Any number works."""

    def __init__(self, control: "_Control", number: str, seen: Set[str], advance: Callable[[float], None]) -> None:
        self._control = control
        self._seen = seen
        self._advance = advance
        self.number = number

    def write(self, text: str, *, to: Optional[str] = None, reply_to: Optional[str] = None) -> str:
        """Writes a text. Returns WhatsApp's ID of the message."""
        return self.act("say", _given(text=text, to=to, replyTo=reply_to))

    def tap(self, button: Union[str, int], *, message: Optional[str] = None) -> str:
        """Taps a button or chooses a list row of the latest message that has it, by label, ID or index."""
        return self.act("tap", _given(button=button, message=message))

    def fill(self, values: Mapping[str, Any], *, message: Optional[str] = None) -> str:
        """Submits the latest form with these values."""
        return self.act("fillForm", _given(values=values, message=message))

    def send_image(self, data: bytes, *, caption: Optional[str] = None, mime_type: str = "image/png", to: Optional[str] = None) -> str:
        return self.act("image", _given(base64=base64.b64encode(data).decode(), mimeType=mime_type, caption=caption, to=to))

    def act(self, action: str, values: Optional[Mapping[str, Any]] = None) -> str:
        """Any other action of the simulator, such as `location`, `react`, `edit` or `delete`."""
        return str(self._control("POST", f"/phones/{self.number}/{action}", values or {}).get("id", ""))

    def received(self, *, within: float = 10) -> PhoneMessage:
        """The next message that arrives on the phone. Waits for it."""
        found = _until(
            f"a message on phone {self.number}",
            within,
            lambda: next((each for each in self.messages() if each.id not in self._seen), None),
        )
        self._seen.add(found.id)
        return found

    def messages(self) -> List[PhoneMessage]:
        """All messages that the phone shows, oldest first, without waiting."""
        return [
            _to_message(each)
            for each in self._control("GET", f"/phones/{self.number}/messages")
            if each["direction"] == "out" and each["journey"]["state"] in ("delivered", "read", "played")
        ]

    def fail(self, code: Union[str, int, None]) -> None:
        """Messages to this phone fail with this code of WhatsApp. None: they are delivered again."""
        self._change({"switches": {"failWith": None if code is None else int(code)}})

    def go_offline(self) -> None:
        self._change({"online": False})

    def go_online(self) -> None:
        self._change({"online": True})

    def play(
        self,
        scenario: Union[str, "os.PathLike[str]", Mapping[str, Any]],
        *,
        duplicates: bool = False,
        reorder: bool = False,
        delays: bool = False,
        speed: float = 1,
        to: Optional[str] = None,
        within: float = 10,
    ) -> None:
        """Plays a recorded conversation: does what the person did, and waits for what your business is expected to send.

        Fails with the difference. With `duplicates`, WhatsApp posts each update of this phone twice; with `reorder`, in another
        order, and then your replies to consecutive messages may be in any order. `delays` moves the clock as in the conversation,
        `speed` times as fast.
        """
        given = read_scenario(scenario)
        self._change({"switches": {"duplicateWebhooks": duplicates or None, "reorderWebhooks": reorder or None}})
        try:
            play_scenario(self, self._advance, given, reorder=reorder, delays=delays, speed=speed, to=to, within=within)
            self._control("POST", "/settled", {})
            extra = next((each for each in self.messages() if each.id not in self._seen), None)
            if extra:
                raise AssertionError(f"After the last step, the bot also sent {describe(extra.type, extra.text)}.")
        finally:
            self._change({"switches": {"duplicateWebhooks": None, "reorderWebhooks": None}})

    def _change(self, settings: Mapping[str, Any]) -> None:
        self._control("PATCH", f"/phones/{self.number}", settings)


class TestEndpoint:
    """A webhook of the workspace that a test receives."""

    # Not a test, although pytest would take it for one by its name.
    __test__ = False

    def __init__(self, id: str, url: str, secret: str) -> None:
        self.id = id
        self.url = url
        #: Signs its deliveries.
        self.secret = secret
        #: The verified events that arrived, oldest first. Always empty for a server of your own.
        self.events: List[Any] = []
        self._returned = 0
        self._skipped: List[Any] = []

    def next(self, type: str, *, within: float = 10) -> Any:
        """The next event of this type that was not returned before. Waits for it."""
        event = _until(f"an event {type}", within, lambda: self._take(type))
        return event

    def _take(self, type: str) -> Any:
        while self._returned < len(self.events):
            self._skipped.append(self.events[self._returned])
            self._returned += 1
        for event in self._skipped:
            if event["type"] == type:
                self._skipped.remove(event)
                return event
        return None


class _Receiver:
    """Receives deliveries on a free port, verifies each one and passes it to its handler."""

    def __init__(self, key: Sequence[str]) -> None:
        self.key = key
        self.id = ""
        self.secret = ""
        #: None: events are acknowledged and ignored.
        self.handler: Optional[Handler] = None
        self.has_failed = False
        receiver = self

        class Handles(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                status, text = receiver._receive(body, self.headers)
                self.send_response(status)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handles)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"

    def _receive(self, body: bytes, headers: Any) -> "tuple[int, bytes]":
        try:
            # The clock of the service may have been moved, so its time is not checked.
            event = verify_webhook(body, headers, self.secret, tolerance_seconds=1e10)
            if self.handler:
                self.handler(event)
            return 204, b""
        except WebhookVerificationError as error:
            self.has_failed = True
            return 400, str(error).encode()
        except Exception as error:
            self.has_failed = True
            return 500, str(error).encode()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class TestParley:
    """A service of your test's own, with a demo workspace and a simulated WhatsApp network."""

    __test__ = False

    def __init__(self, service: "_Service") -> None:
        self._service = service
        started = service.started
        #: The base URL for your bot.
        self.url: str = started["url"]
        #: An API key with every scope.
        self.key: str = started["key"]
        self.senders = [Sender(each["id"], re.sub(r"\D", "", each["phone_number"])) for each in started["senders"]]
        self.sender = self.senders[0]
        #: The simulator, with the handset.
        self.simulator_url: str = started["simulator_url"]
        #: The client of the SDK, with the key.
        self.client = Parley(base_url=self.url, key=self.key)
        self._control = _Control(self.simulator_url)
        self._seen: Set[str] = set()
        self._receivers: List[_Receiver] = []
        self._own: List[str] = []
        self._moved = 0.0
        self._control("PATCH", "/switches", _QUICK)

    def phone(self, number: str) -> Phone:
        """A simulated person. Any number works, with or without `+` and spaces."""
        return Phone(self._control, re.sub(r"[\s()+-]", "", number), self._seen, self.advance)

    def endpoint(self, handler: Union[Handler, str], *, events: Optional[Sequence[str]] = None) -> TestEndpoint:
        """A webhook: your handler gets each verified event, or your own server at a URL gets its deliveries."""
        types = tuple(sorted(events)) if events else _USUAL_EVENTS
        if isinstance(handler, str):
            created = self._create(handler, types)
            self._own.append(created["id"])
            return TestEndpoint(created["id"], handler, created["secret"])
        receiver = next((each for each in self._receivers if each.handler is None and each.key == types), None)
        if receiver is None:
            receiver = _Receiver(types)
            created = self._create(receiver.url, types)
            receiver.id, receiver.secret = created["id"], created["secret"]
            self._receivers.append(receiver)
        endpoint = TestEndpoint(receiver.id, receiver.url, receiver.secret)
        handle = handler

        def receive(event: Any) -> object:
            endpoint.events.append(event)
            return handle(event)

        receiver.handler = receive
        return endpoint

    def _create(self, url: str, types: Sequence[str]) -> Any:
        wanted = [word for each in types for word in ("--event", each)]
        return self._service.command("webhook", "create", "--name", "Test", "--url", url, *wanted)

    def advance(self, duration: Union[str, float]) -> None:
        """Moves the clock of the service and of the network, and waits until what became due is done: `advance("25h")`."""
        seconds = _seconds(duration)
        # A request in flight would look as if it took all this time.
        self.idle()
        self._control("POST", "/clock/advance", {"ms": seconds * 1000})
        self._moved += seconds
        self.idle()

    def now(self) -> float:
        """The current time of the service, for `verify_webhook(…, now=parley.now())`."""
        return time.time() + self._moved

    def fail(self, code: Union[str, int, None]) -> None:
        """All messages fail with this code of WhatsApp, until `reset` or `fail(None)`."""
        self._control("PATCH", "/switches", {"failWith": None if code is None else int(code)})

    def idle(self) -> None:
        """Waits until all sends, statuses and deliveries are done."""
        self._control("POST", "/settled", {})

    def reset(self) -> None:
        """Between tests: ends endpoints and failures, and forgets the phones and their conversations."""
        self.idle()
        for receiver in list(self._receivers):
            receiver.handler = None
            if receiver.has_failed:
                self._receivers.remove(receiver)
                self._service.command("webhook", "delete", receiver.id)
                receiver.close()
        for id in self._own:
            self._service.command("webhook", "delete", id)
        self._own.clear()
        self._control("POST", "/reset", {})
        self._control("PATCH", "/switches", _QUICK)
        # The next test has a full rate limit.
        self._control("POST", "/clock/advance", {"ms": 61_000})
        self._moved += 61
        self._seen.clear()

    def stop(self) -> None:
        for receiver in self._receivers:
            receiver.close()
        self._receivers.clear()
        self._service.stop()

    def __enter__(self) -> "TestParley":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.stop()


def start_parley(*, command: Optional[str] = None, env: Optional[Mapping[str, str]] = None, within: float = 60) -> TestParley:
    """Starts Parley with a fresh data directory on free ports. It takes a few seconds, so start it once for all tests.

    `command` is the `parley` command; by default PARLEY_COMMAND, or `parley` in the PATH.
    """
    service = _Service(command or os.environ.get("PARLEY_COMMAND") or "parley", dict(env or {}), within)
    try:
        return TestParley(service)
    except BaseException:
        service.stop()
        raise


class _Service:
    def __init__(self, command: str, env: Dict[str, str], within: float) -> None:
        self._command = command
        self._data = tempfile.mkdtemp(prefix="parley-test-")
        # Not the settings of the program under test: DATABASE_URL would be its database.
        usual = {name: value for name, value in os.environ.items() if not _SETTINGS.search(name)}
        own = {"PARLEY_DATA_DIR": self._data, "PORT": "0", "PARLEY_SIMULATOR_PORT": str(_free_port())}
        self._env = {**usual, **env, **own}
        self._log = open(os.path.join(self._data, "test.log"), "w+b")
        try:
            self._process = subprocess.Popen(
                [command, "start", "--json", "--movable-clock"], env=self._env, stdout=subprocess.PIPE, stderr=self._log
            )
        except OSError as error:
            self._remove()
            raise RuntimeError(f'"{command}" cannot be started: {error}. Set PARLEY_COMMAND to its path.') from error
        limit = threading.Timer(within, self._process.kill)
        limit.start()
        assert self._process.stdout
        line = self._process.stdout.readline()
        limit.cancel()
        if not line:
            self._process.wait()
            self._log.seek(0)
            said = self._log.read().decode(errors="replace")[-4000:]
            self._remove()
            raise RuntimeError(f"Parley did not start within {within:g} seconds:\n{said}")
        self.started: Dict[str, Any] = json.loads(line)

    def command(self, *words: str) -> Any:
        """Runs another command of the same installation, and returns its JSON."""
        done = subprocess.run([self._command, *words, "--json"], env=self._env, capture_output=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(_message_in(done.stderr.decode(errors="replace")))
        return json.loads(done.stdout)

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()
        self._remove()

    def _remove(self) -> None:
        self._log.close()
        shutil.rmtree(self._data, ignore_errors=True)


class _Control:
    """Calls the control API of the simulator."""

    def __init__(self, simulator_url: str) -> None:
        self._url = f"{simulator_url}/control"

    def __call__(self, method: str, path: str, body: Optional[Mapping[str, Any]] = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, data=data, method=method)
        try:
            with urllib.request.urlopen(request) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            raise RuntimeError(_message_in(error.read().decode(errors="replace"))) from None


def _message_in(text: str) -> str:
    try:
        return str(json.loads(text)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return text.strip()


def _given(**values: Any) -> Dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _until(what: str, within: float, find: Callable[[], Optional[_Result]]) -> _Result:
    end = time.monotonic() + within
    while True:
        found = find()
        if found is not None:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"Waited {within:g} s for {what}.")
        time.sleep(0.01)


def _seconds(duration: Union[str, float]) -> float:
    if isinstance(duration, (int, float)):
        return float(duration)
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*", duration)
    if not parts or re.sub(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*", "", duration):
        raise ValueError(f'Invalid duration "{duration}". Use a number of seconds, or text such as "25h" or "1h 30m".')
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def _to_message(message: Mapping[str, Any]) -> PhoneMessage:
    return PhoneMessage(
        id=message["id"],
        type=message["type"],
        text=message["text"],
        buttons=[each.get("text") or each.get("title") or "" for each in message["options"]],
        reply_to=message["contextId"],
        content=message["content"],
    )


def _free_port() -> int:
    """A free port below those of outgoing connections, so that no other program gets it before the simulator listens."""
    while True:
        port = random.randrange(10_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
