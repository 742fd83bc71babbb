"""One request, with its retries. Every request can be repeated safely."""

from __future__ import annotations

import email.utils
import http.client
import json
import logging
import platform
import random
import re
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Callable, Mapping, Optional

from .errors import CLASSES, PanoramaError

VERSION = "2.0.0"
_BACK_OFF_SECONDS_MAX = 8.0
_ANSWER_BYTES_MAX = 8 * 1024 * 1024
_NO_JSON = object()


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Following a redirect could send the key to another host, and would turn a POST into a GET."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Transport:
    """Where requests go, and how."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        timeout: float,
        per_attempt_timeout: float,
        max_retries: int,
        default_headers: Mapping[str, str],
        logger: Optional[logging.Logger],
    ) -> None:
        url = urllib.parse.urlsplit(base_url)
        if url.scheme not in ("http", "https") or not url.hostname or url.username is not None:
            message = "base_url or PANORAMA_BASE_URL must be a complete http(s) URL without a user name."
            raise CLASSES["invalid_request"]("invalid_request", message, param="base_url")
        path = url.path.rstrip("/")
        self.base_url = f"{url.scheme}://{url.netloc}{path if path.endswith('/api/v1') else path + '/api/v1'}"
        self._api_key = api_key
        self.timeout = timeout
        self.per_attempt_timeout = per_attempt_timeout
        self._max_retries = max_retries
        self._headers = {
            "User-Agent": f"panorama-client/{VERSION} Python/{platform.python_version()}",
            **default_headers,
        }
        self._logger = logger
        self._opener = urllib.request.build_opener(_NoRedirects)

    def call(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] = {},
        body: Optional[bytes] = None,
        timeout: Optional[float] = None,
        attempt_timeout: Optional[float] = None,
        is_answer: Optional[Callable[[Any], bool]] = None,
    ) -> Any:
        """The parsed JSON, `None` with the status 204. Raises `PanoramaError`.

        `is_answer`: whether this is what the caller relies on. Without it, the answer is the open response of a stream,
        each wait for its bytes ends after `attempt_timeout`.
        """
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        may_have_been_accepted = False
        for attempt in range(self._max_retries + 1):
            limit = attempt_timeout or self.per_attempt_timeout
            if is_answer is not None:
                limit = min(limit, max(0.001, deadline - time.monotonic()))
            try:
                return self._attempt(method, path, headers, body, limit, is_answer)
            except PanoramaError as error:
                # A refused retry does not prove that an earlier attempt was not accepted.
                may_have_been_accepted = may_have_been_accepted or error.may_have_been_accepted
                error.may_have_been_accepted = may_have_been_accepted
                pause = pause_seconds(error, attempt)
                if pause is None or attempt == self._max_retries or time.monotonic() + pause >= deadline:
                    raise
                if self._logger:
                    self._logger.warning("%s %s: %s; again in %.1f s", method, path.split("?")[0], error.code, pause)
                time.sleep(pause)
        raise AssertionError("unreachable")

    def _attempt(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: Optional[bytes],
        timeout: float,
        is_answer: Optional[Callable[[Any], bool]],
    ) -> Any:
        if not re.fullmatch(r"[\x21-\x7e]+", self._api_key):
            message = "The API key is missing or no API key. Pass api_key, or set PANORAMA_API_KEY."
            raise CLASSES["invalid_api_key"]("invalid_api_key", message)
        accept = "text/event-stream" if is_answer is None else "application/json"
        own = {"Accept": accept, **headers, "Authorization": f"Bearer {self._api_key}"}
        names = {name.lower() for name in own}
        others = {name: value for name, value in self._headers.items() if name.lower() not in names}
        request = urllib.request.Request(self.base_url + path, body, {**others, **own}, method=method)
        try:
            try:
                response = self._opener.open(request, timeout=timeout)
            except urllib.error.HTTPError as answer:
                response = answer
            status = response.status
            if is_answer is None and (status == 204 or (status == 200 and _is_stream(response))):
                return response
            with response:
                data = _read(response)
        except (OSError, http.client.HTTPException) as error:
            raise self._no_answer(method, error) from error
        if self._logger:
            self._logger.debug("%s %s: %s", method, path.split("?")[0], status)
        value = None if status == 204 else _parsed(data)
        if status < 300 and is_answer is not None and is_answer(value):
            return value
        raise self._refusal(method, status, response.headers, data)

    def _refusal(self, method: str, status: int, headers: Any, data: bytes) -> PanoramaError:
        value = _parsed(data)
        told = value.get("error") if isinstance(value, dict) and status >= 300 else None
        error: dict[str, Any] = told if isinstance(told, dict) else {}
        code = str(error.get("code")) if str(error.get("code")) in CLASSES else "unexpected_answer"
        message = str(error.get("message", f"{self.base_url} answered {status}, which is not from the service."))
        accepted = method == "POST" and (status < 300 or (status >= 500 and code != "upstream_error"))
        return CLASSES[code](
            code,
            message.replace(self._api_key, "[api key]"),
            status=status,
            param=error.get("param"),
            request_id=headers.get("x-request-id"),
            retry_after_seconds=_retry_after(headers.get("retry-after")),
            may_have_been_accepted=accepted,
        )

    def _no_answer(self, method: str, error: Exception) -> PanoramaError:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        nothing_listens = isinstance(reason, (ConnectionRefusedError, socket.gaierror))
        is_timeout = isinstance(reason, TimeoutError)
        code = "timeout" if is_timeout else "network_error"
        message = f"{self.base_url} " + ("did not answer in time." if is_timeout else f"cannot be reached: {reason}.")
        return CLASSES[code](code, message, may_have_been_accepted=method == "POST" and not nothing_listens)


def pause_seconds(error: PanoramaError, attempt: int) -> Optional[float]:
    """The pause before the next attempt; `None` for an error that a repetition cannot fix. `attempt`: from 0 on."""
    status = error.status or 0
    is_transient = (
        error.code in ("timeout", "network_error", "internal_error")
        or (error.code == "rate_limited" and error.retry_after_seconds is not None)
        or (error.code == "unexpected_answer" and (status >= 500 or status == 429))
    )
    if not is_transient:
        return None
    if error.retry_after_seconds is not None:
        return error.retry_after_seconds
    back_off: float = min(_BACK_OFF_SECONDS_MAX, 0.5 * 2**attempt)
    return random.random() * back_off


def _is_stream(response: Any) -> bool:
    return str(response.headers.get("content-type", "")).startswith("text/event-stream")


def _read(response: Any) -> bytes:
    """What is longer is no answer of the service. Raises if the connection was cut."""
    data: bytes = response.read(_ANSWER_BYTES_MAX + 1)
    if len(data) > _ANSWER_BYTES_MAX:
        return b""
    if response.length:  # bytes that were announced and have not come
        raise http.client.IncompleteRead(data, response.length)
    return data


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return _NO_JSON


def _retry_after(header: Optional[str]) -> Optional[float]:
    """The header holds seconds or a date (RFC 9110, 10.2.3)."""
    if header is None:
        return None
    if re.fullmatch("[0-9]+", header):
        return float(header)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return None
