"""Receives Parley's webhooks with Flask: flask --app flask_receiver run --port 9000"""

import os

from flask import Flask, Response, request
from parley import Event, WebhookReceiver

app = Flask(__name__)


def handle(event: Event) -> None:
    if event["type"] == "message.received":
        print(event["data"]["from"], event["data"]["text"], flush=True)


receiver = WebhookReceiver(os.environ["PARLEY_WEBHOOK_SECRET"], handle)


@app.post("/hooks/parley")
def hook() -> Response:
    status, body = receiver.receive(request.headers, request.get_data())
    return Response(body, status, content_type="application/json")
