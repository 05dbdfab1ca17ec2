"""Receives Parley's webhooks with FastAPI: uvicorn fastapi_receiver:app --port 9000"""

import os

from fastapi import BackgroundTasks, FastAPI, Request, Response
from parley import Event, MemorySeenEvents, WebhookVerificationError, verify_webhook

app = FastAPI()
secret = os.environ["PARLEY_WEBHOOK_SECRET"]
seen = MemorySeenEvents()


def handle(event: Event) -> None:
    try:
        if event["type"] == "message.received":
            print(event["data"]["from"], event["data"]["text"], flush=True)
    except Exception:
        # Parley does not retry an event that was acknowledged. Forget it, so that it can be sent again.
        seen.delete(event["id"])
        raise


@app.post("/hooks/parley")
async def hook(request: Request, background: BackgroundTasks) -> Response:
    try:
        event = verify_webhook(await request.body(), request.headers, secret)
    except WebhookVerificationError as error:
        return Response(str(error), 400)
    # Responds first, then handles the event.
    if seen.add(event["id"]):
        background.add_task(handle, event)
    return Response(status_code=204)
