"""The typed client of the panorama service, for Python 3.11 and later, with the standard library only."""

from .asynchronous import AsyncPanoramaClient
from .client import PanoramaClient
from .errors import (
    AuthenticationError,
    ConnectionError,
    InsufficientCreditsError,
    InvalidRequestError,
    NotFoundError,
    PanoramaError,
    RateLimitError,
    ServiceError,
    TaskFailedError,
    WebhookError,
)
from .webhooks import sign_webhook, verify_webhook

__all__ = [
    "AsyncPanoramaClient",
    "AuthenticationError",
    "ConnectionError",
    "InsufficientCreditsError",
    "InvalidRequestError",
    "NotFoundError",
    "PanoramaClient",
    "PanoramaError",
    "RateLimitError",
    "ServiceError",
    "TaskFailedError",
    "WebhookError",
    "sign_webhook",
    "verify_webhook",
]
