"""Parley's API, with one attribute per resource."""

from __future__ import annotations

from typing import Union

from .events import Events
from .resources import FlowResponses, InboundMessages, MediaFiles, Messages, Senders, Templates, Webhooks
from .transport import Transport
from .types import Me


class Parley:
    """`Parley(base_url="https://parley.example.com", key="prl_live_…")`

    A client has no connections of its own and may be used by several threads.
    """

    def __init__(
        self,
        *,
        base_url: str,
        key: str,
        timeout: float = 30,
        max_retries: int = 2,
        max_wait: float = 65,
    ) -> None:
        """`timeout`: the seconds to wait for the service in one attempt. `max_wait`: if `Retry-After` is longer, the request
        fails immediately; a rate limit resets within 60 seconds."""
        transport = Transport(base_url, key, timeout=timeout, max_retries=max_retries, max_wait=max_wait)
        self._transport = transport
        self.senders = Senders(transport)
        self.templates = Templates(transport)
        self.messages = Messages(transport)
        self.inbound_messages = InboundMessages(transport)
        self.media = MediaFiles(transport)
        self.flow_responses = FlowResponses(transport)
        self.webhooks = Webhooks(transport)
        self.events = Events(transport)

    def me(self, *, timeout: Union[float, None] = None) -> Me:
        """The workspace, the key and its scopes. Works with any key, so it is a good health check."""
        result: Me = self._transport.get("/v1/me", timeout=timeout)
        return result
