"""The resources of the API. Filters are those of the API; a time is a `datetime` or a string in ISO 8601."""

from __future__ import annotations

import json
import mimetypes
import re
import uuid
from datetime import datetime
from typing import Any, BinaryIO, Callable, Dict, List, Mapping, Optional, Sequence, Union
from urllib.parse import quote

from .errors import ParleyError
from .files import DownloadedFile, form_with_file
from .pages import Pages
from .transport import Transport, without_none
from .types import (
    FlowResponse,
    Media,
    Message,
    MessageWithHistory,
    Sender,
    StoredInboundMessage,
    Template,
    Webhook,
)

Time = Union[str, datetime]


class _Resource:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _pages(self, path: str, query: Mapping[str, Any]) -> Pages[Any]:
        def fetch(cursor: Optional[str]) -> Dict[str, Any]:
            more = {} if cursor is None else {"cursor": cursor}
            page: Dict[str, Any] = self._transport.get(path, {**query, **more})
            return page

        return Pages(fetch)

    def _one(self, path: str, id: str) -> Any:
        return self._transport.get(f"{path}/{_segment(id)}")


def _segment(id: str) -> str:
    """An empty ID would request the list, and one with a slash another route."""
    if not isinstance(id, str) or not id:
        raise ValueError("The ID is missing.")
    return quote(id, safe="")


class Senders(_Resource):
    """The phone numbers that the workspace sends from. Scope `senders:read`."""

    def list(self, *, limit: Optional[int] = None, order: Optional[str] = None) -> Pages[Sender]:
        return self._pages("/v1/senders", {"limit": limit, "order": order})

    def get(self, id: str) -> Sender:
        result: Sender = self._one("/v1/senders", id)
        return result


class Templates(_Resource):
    """The templates of the workspace and their variables. Scope `templates:read`."""

    def list(
        self,
        *,
        name: Optional[str] = None,
        language: Optional[str] = None,
        status: Optional[str] = None,
        category: Optional[str] = None,
        limit: Optional[int] = None,
        order: Optional[str] = None,
    ) -> Pages[Template]:
        filters = {"name": name, "language": language, "status": status, "category": category}
        return self._pages("/v1/templates", {**filters, "limit": limit, "order": order})

    def get(self, id: str) -> Template:
        result: Template = self._one("/v1/templates", id)
        return result


class Messages(_Resource):
    def send(
        self, message: Mapping[str, Any], *, idempotency_key: Optional[str] = None, timeout: Optional[float] = None
    ) -> Message:
        """Queues a message: the body of `POST /v1/messages`. Scope `messages:send`.

        It is safe to repeat, because each call generates an idempotency key and keeps it across its retries. Pass your own
        if your program may repeat the call itself: 1 to 255 visible ASCII characters.
        """
        key = str(uuid.uuid4()) if idempotency_key is None else idempotency_key
        if not re.fullmatch(r"[\x21-\x7e]{1,255}", key):
            raise ValueError("idempotency_key must be 1 to 255 visible ASCII characters without spaces.")
        result: Message = self._transport.post("/v1/messages", message, idempotency_key=key, timeout=timeout)
        return result

    def send_batch(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        idempotency_key: Optional[str] = None,
        on_progress: Optional[Callable[[int, int], object]] = None,
        timeout: Optional[float] = None,
    ) -> List[Dict[str, Any]]:
        """Queues any number of messages, 500 in each request. Scope `messages:send`.

        Each result has `index`, `status`, and `message` or `error`: a message that is rejected does not affect the others. To
        repeat a call after a crash, pass the same messages and the same key: each message is sent once. `on_progress` is called
        after each request, with how many messages have a result and how many there are.
        """
        key = str(uuid.uuid4()) if idempotency_key is None else idempotency_key
        results: List[Dict[str, Any]] = []
        for number, part in enumerate(_parts_of(messages)):
            part_key = f"{key}-{number}"
            if not re.fullmatch(r"[\x21-\x7e]{1,255}", part_key):
                raise ValueError("idempotency_key must be 1 to 250 visible ASCII characters without spaces.")
            body = {"messages": part}
            try:
                reply = self._transport.post("/v1/messages/batch", body, idempotency_key=part_key, timeout=timeout)
            except ParleyError as error:
                # With the key of this request, a repeated call would send the accepted messages again.
                error.idempotency_key = key
                raise
            first = len(results)
            results.extend({**result, "index": first + result["index"]} for result in reply["data"])
            if on_progress:
                on_progress(len(results), len(messages))
        return results

    def list(
        self,
        *,
        status: Optional[str] = None,
        to: Optional[str] = None,
        reference: Optional[str] = None,
        created_after: Optional[Time] = None,
        created_before: Optional[Time] = None,
        limit: Optional[int] = None,
        order: Optional[str] = None,
    ) -> Pages[Message]:
        """The messages sent with this key. Scope `messages:read`."""
        filters = {"status": status, "to": to, "reference": reference}
        times = {"created_after": created_after, "created_before": created_before}
        return self._pages("/v1/messages", {**filters, **times, "limit": limit, "order": order})

    def get(self, id: str) -> MessageWithHistory:
        """A message with its status history. Scope `messages:read`."""
        result: MessageWithHistory = self._one("/v1/messages", id)
        return result


def _parts_of(messages: Sequence[Mapping[str, Any]]) -> List[List[Mapping[str, Any]]]:
    """At most 500 messages for each request, whose body may have 2 MiB."""
    parts: List[List[Mapping[str, Any]]] = []
    size = 0
    for message in messages:
        length = len(json.dumps(message)) + 2
        if parts and len(parts[-1]) < 500 and size + length <= 1_900_000:
            parts[-1].append(message)
            size += length
        else:
            parts.append([message])
            size = length
    return parts


class InboundMessages(_Resource):
    """Messages that people sent to the workspace's numbers. Scope `inbound:read`."""

    def list(
        self,
        *,
        sender_id: Optional[str] = None,
        from_: Optional[str] = None,
        type: Optional[str] = None,
        received_after: Optional[Time] = None,
        received_before: Optional[Time] = None,
        limit: Optional[int] = None,
        order: Optional[str] = None,
    ) -> Pages[StoredInboundMessage]:
        filters = {"sender_id": sender_id, "from": from_, "type": type}
        times = {"received_after": received_after, "received_before": received_before}
        return self._pages("/v1/inbound_messages", {**filters, **times, "limit": limit, "order": order})

    def get(self, id: str) -> StoredInboundMessage:
        """`id` is the `message_id` of `message.received`."""
        result: StoredInboundMessage = self._one("/v1/inbound_messages", id)
        return result

    def mark_as_read(self, id: str, *, typing: Optional[bool] = None) -> None:
        """Marks a message as read, and with `typing` shows that you are typing. Scope `messages:send`."""
        path = f"/v1/inbound_messages/{_segment(id)}/read"
        self._transport.post(path, without_none({"typing": typing}), idempotency_key=None)


class MediaFiles(_Resource):
    def upload(
        self,
        content: Union[bytes, BinaryIO],
        *,
        filename: str,
        mime_type: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Media:
        """Uploads a file of up to 100 MB. Use its `id` as `image.id` and so on in `messages.send`. There is only one attempt.

        `content` is bytes, or a file that was opened with `"rb"`, which is read while it is sent. Without `mime_type`, the type comes from the end of the name. Scope `messages:send`.
        """
        kind = mime_type or mimetypes.guess_type(filename)[0] or "application/octet-stream"
        form = form_with_file(content, filename, kind)
        result: Media = self._transport.post_form("/v1/media", form, timeout=timeout)
        return result

    def of_message(self, message_id: str, *, timeout: Optional[float] = None) -> DownloadedFile:
        """Downloads the file of a received message. While Parley is still fetching it, the request is repeated. Scope `inbound:read`."""
        path = f"/v1/inbound_messages/{_segment(message_id)}/media"
        return DownloadedFile(self._transport.open(path, timeout=timeout))


class FlowResponses(_Resource):
    """Form submissions and their files. Scope `flow_responses:read`."""

    def list(
        self,
        *,
        flow_id: Optional[str] = None,
        from_: Optional[str] = None,
        received_after: Optional[Time] = None,
        received_before: Optional[Time] = None,
        limit: Optional[int] = None,
        order: Optional[str] = None,
    ) -> Pages[FlowResponse]:
        filters = {"flow_id": flow_id, "from": from_}
        times = {"received_after": received_after, "received_before": received_before}
        return self._pages("/v1/flow_responses", {**filters, **times, "limit": limit, "order": order})

    def get(self, id: str) -> FlowResponse:
        result: FlowResponse = self._one("/v1/flow_responses", id)
        return result

    def file(self, id: str, index: int, *, timeout: Optional[float] = None) -> DownloadedFile:
        """Downloads a file. `index` is the `index` of an entry in `files`. While Parley is still fetching it, the request is repeated."""
        path = f"/v1/flow_responses/{_segment(id)}/files/{int(index)}"
        return DownloadedFile(self._transport.open(path, timeout=timeout))


class Webhooks(_Resource):
    """The webhook endpoints. They are created and changed in the console only. Scope `webhooks:read`."""

    def list(self) -> Pages[Webhook]:
        return self._pages("/v1/webhook", {})
