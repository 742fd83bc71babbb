"""Why a call failed. `message` is for people and never contains the API key; decide by `code` or by the class."""

from __future__ import annotations

from typing import Mapping, Optional

from .types import PanoramaTask


class PanoramaError(Exception):
    """A call that failed, in the words of the service where it has answered."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: Optional[int] = None,
        param: Optional[str] = None,
        request_id: Optional[str] = None,
        retry_after_seconds: Optional[float] = None,
        may_have_been_accepted: bool = False,
        idempotency_key: Optional[str] = None,
        task_id: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.param = param
        self.request_id = request_id
        self.retry_after_seconds = retry_after_seconds
        self.may_have_been_accepted = may_have_been_accepted
        """The service may have accepted the request: a creation may have been charged."""
        self.idempotency_key = idempotency_key
        """Of a creation: the same call with this key within 24 hours is charged once."""
        self.task_id = task_id


class InvalidRequestError(PanoramaError):
    """`invalid_request`: correct the request; `param` says what."""


class AuthenticationError(PanoramaError):
    """`invalid_api_key`: it is missing, wrong, expired, or has not the scope."""


class InsufficientCreditsError(PanoramaError):
    """`insufficient_credits`: of the account, or of the key's budget."""


class NotFoundError(PanoramaError):
    """`not_found`: the account has no such task."""


class RateLimitError(PanoramaError):
    """`rate_limited` or `too_many_active_tasks`: wait for `retry_after_seconds`, or until a task ends."""


class ServiceError(PanoramaError):
    """`upstream_error`, `internal_error`, or `unexpected_answer`, which is not from the service."""


class ConnectionError(PanoramaError):
    """`network_error` or `timeout`: no answer. A creation may have been accepted: see `idempotency_key`."""


class TaskFailedError(PanoramaError):
    """`generation_failed`: the task of `run` has failed, and its credits are refunded."""

    def __init__(self, task: PanoramaTask, idempotency_key: str) -> None:
        error = task.get("error", {"code": "generation_failed", "message": "The generation has failed."})
        super().__init__(
            "generation_failed",
            error["message"],
            param=error.get("param"),
            idempotency_key=idempotency_key,
            task_id=task["id"],
        )
        self.task = task
        self.reason = error.get("reason")


class WebhookError(Exception):
    """A webhook that must not be trusted. `kind`: missing_header, wrong_time, wrong_signature or unknown_body."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


CLASSES: Mapping[str, type[PanoramaError]] = {
    "invalid_request": InvalidRequestError,
    "invalid_api_key": AuthenticationError,
    "insufficient_credits": InsufficientCreditsError,
    "not_found": NotFoundError,
    "rate_limited": RateLimitError,
    "too_many_active_tasks": RateLimitError,
    "upstream_error": ServiceError,
    "internal_error": ServiceError,
    "unexpected_answer": ServiceError,
    "timeout": ConnectionError,
    "network_error": ConnectionError,
}
