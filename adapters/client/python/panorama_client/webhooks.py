"""Webhooks as Standard Webhooks defines them (https://www.standardwebhooks.com)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Mapping, Optional, Sequence, Union, cast

from .errors import WebhookError
from .types import PanoramaEvent

_TOLERANCE_SECONDS = 5 * 60


def verify_webhook(
    body: Union[str, bytes],
    headers: Mapping[str, str],
    secrets: Union[str, Sequence[str]],
    *,
    now: Optional[float] = None,
) -> PanoramaEvent:
    """The event of a webhook whose signature is right. Raises `WebhookError`: answer that with 400.

    `body` as it was received; `secrets`: the `whsec_…` of the endpoint, several while you replace one.
    """
    known = {name.lower(): value for name, value in headers.items()}
    id, sent_at, signatures = (known.get(f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    if id is None or sent_at is None or signatures is None:
        raise WebhookError("missing_header", "There is no webhook-id, webhook-timestamp or webhook-signature.")
    if not sent_at.isascii() or not sent_at.isdigit() or abs((now or time.time()) - int(sent_at)) > _TOLERANCE_SECONDS:
        raise WebhookError("wrong_time", f"The webhook-timestamp {sent_at} is not within five minutes of now.")
    raw = body.encode() if isinstance(body, str) else body
    expected = [_signature(secret, id, sent_at, raw) for secret in ([secrets] if isinstance(secrets, str) else secrets)]
    given = signatures.split(" ")
    if not any(one and hmac.compare_digest(one.encode(), other.encode()) for one in expected for other in given):
        raise WebhookError("wrong_signature", "No signature is right. Compare the secret with that of the endpoint.")
    try:
        event = json.loads(raw)
    except ValueError:
        event = None
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        raise WebhookError("unknown_body", "The body of the webhook is no event.")
    return cast(PanoramaEvent, {**event, "id": id})


def sign_webhook(
    body: Union[str, bytes], secret: str, *, id: str = "evt_test", now: Optional[float] = None
) -> dict[str, str]:
    """The headers of a webhook with this body, as the service sends them: for tests of your endpoint."""
    sent_at = str(int(now or time.time()))
    signature = _signature(secret, id, sent_at, body.encode() if isinstance(body, str) else body)
    if signature is None:
        raise ValueError("The secret is not base64 after whsec_.")
    return {"webhook-id": id, "webhook-timestamp": sent_at, "webhook-signature": signature}


def _signature(secret: str, id: str, sent_at: str, body: bytes) -> Optional[str]:
    """`None` for text that is no secret."""
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        return None
    digest = hmac.new(key, f"{id}.{sent_at}.".encode() + body, hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode() if key else None
