"""The REST interface as typed calls."""

from __future__ import annotations

import http.client
import json
import logging
import mimetypes
import os
import random
import re
import time
import urllib.parse
import uuid
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, BinaryIO, Callable, Generator, Iterator, Mapping, Optional, Sequence, Union, cast

from .errors import ConnectionError, InvalidRequestError, PanoramaError, TaskFailedError
from .transport import Transport, pause_seconds
from .types import (
    Abilities,
    CreditEntry,
    CreditEntryPage,
    CreditTotals,
    PanoramaEvent,
    PanoramaTask,
    Provenance,
    Resolution,
    Status,
    TaskPage,
    UploadedImages,
    Visibility,
)

Image = Union[str, Path, bytes, BinaryIO]
"""The path of a file, its bytes, or a file that is open for reading in binary mode."""

Progress = Callable[[PanoramaTask], None]

WAIT_SECONDS = 15 * 60.0
"""Longer than the deadlines of the service for a generation and for saving its image."""

_SLICE_SECONDS = 10
_POLL_SECONDS_MIN = 2.0
_GRACE_SECONDS = 8.0
_SILENCE_SECONDS_MAX = 45.0
_RECONNECT_SECONDS = 1.0


class PanoramaClient:
    """The REST interface as typed calls. A call that fails raises a `PanoramaError`. Times are in seconds.

    Every call is retried with back-off after a transient error, because every call can be repeated safely: reads change
    nothing, uploads of equal bytes are one object, and the idempotency key of a creation ensures one charge at most.
    """

    def __init__(
        self,
        *,
        base_url: Optional[str] = None,
        api_key: Optional[str] = None,
        timeout: float = 40.0,
        per_attempt_timeout: float = 12.0,
        max_retries: int = 5,
        default_headers: Mapping[str, str] = {},
        logger: Optional[logging.Logger] = None,
    ) -> None:
        """`base_url` and `api_key` default to the variables PANORAMA_BASE_URL and PANORAMA_API_KEY.

        `timeout` is for one call with its retries; `per_attempt_timeout` for each time that an attempt waits for bytes.
        """
        self._transport = Transport(
            base_url if base_url is not None else os.environ.get("PANORAMA_BASE_URL", ""),
            api_key if api_key is not None else os.environ.get("PANORAMA_API_KEY", ""),
            timeout,
            per_attempt_timeout,
            max_retries,
            default_headers,
            logger,
        )

    def __repr__(self) -> str:
        return f"PanoramaClient(base_url={self._transport.base_url!r})"

    def create(
        self,
        *,
        resolution: Resolution,
        prompt: Optional[str] = None,
        image_urls: Optional[Sequence[str]] = None,
        visibility: Optional[Visibility] = None,
        seed: Optional[int] = None,
        metadata: Optional[Mapping[str, str]] = None,
        max_credits: Optional[int] = None,
        webhook_url: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> PanoramaTask:
        """`POST /panoramas`. A repetition with the `idempotency_key` of the error within 24 hours is charged once."""
        key = str(uuid.uuid4()) if idempotency_key is None else idempotency_key
        if not re.fullmatch(r"[\x21-\x7e]{1,255}", key):
            message = "Idempotency-Key: must have 1 to 255 visible ASCII characters."
            raise InvalidRequestError("invalid_request", message, param="Idempotency-Key", idempotency_key=key)
        given = {
            "resolution": resolution,
            "prompt": prompt,
            "image_urls": None if image_urls is None else list(image_urls),
            "visibility": visibility,
            "seed": seed,
            "metadata": None if metadata is None else dict(metadata),
            "max_credits": max_credits,
            "webhook_url": webhook_url,
        }
        body = json.dumps({name: value for name, value in given.items() if value is not None}).encode()
        headers = {"Content-Type": "application/json", "Idempotency-Key": f'"{key}"'}
        try:
            answer = self._transport.call("POST", "/panoramas", headers=headers, body=body, is_answer=_is_task)
            return cast(PanoramaTask, answer)
        except PanoramaError as error:
            error.idempotency_key = key
            raise

    def run(
        self,
        *,
        resolution: Resolution,
        prompt: Optional[str] = None,
        image_urls: Optional[Sequence[str]] = None,
        visibility: Optional[Visibility] = None,
        seed: Optional[int] = None,
        metadata: Optional[Mapping[str, str]] = None,
        max_credits: Optional[int] = None,
        webhook_url: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        timeout: float = WAIT_SECONDS,
        on_progress: Optional[Progress] = None,
    ) -> PanoramaTask:
        """Creates a panorama, waits, and returns the task with its `output`.

        Raises `TaskFailedError` if the generation fails. After any other error the same call with the
        `idempotency_key` of the error continues.
        """
        key = str(uuid.uuid4()) if idempotency_key is None else idempotency_key
        created = self.create(
            resolution=resolution,
            prompt=prompt,
            image_urls=image_urls,
            visibility=visibility,
            seed=seed,
            metadata=metadata,
            max_credits=max_credits,
            webhook_url=webhook_url,
            idempotency_key=key,
        )
        try:
            task = self.wait(created["id"], timeout=timeout, on_progress=on_progress)
        except PanoramaError as error:
            error.idempotency_key = key
            error.may_have_been_accepted = True
            raise
        if task["status"] == "failed":
            raise TaskFailedError(task, key)
        if task["status"] == "succeeded" and "output" in task:
            return task
        message = f"The panorama {task['id']} is not finished after {timeout} s. It goes on: wait for it again."
        raise ConnectionError(
            "timeout", message, idempotency_key=key, task_id=task["id"], may_have_been_accepted=True
        )

    def read(self, id: str, *, wait_seconds: int = 0) -> PanoramaTask:
        """`GET /panoramas/{id}`; with `wait_seconds` (at most 30) it answers when the task leaves `processing`."""
        return self._read(id, wait_seconds, self._transport.timeout)

    def wait(
        self, id: str, *, timeout: float = WAIT_SECONDS, on_progress: Optional[Progress] = None
    ) -> PanoramaTask:
        """Waits until the task has failed, or has succeeded and its image is no longer `uploading`.

        Returns the task as it is at the timeout, finished or not. `on_progress` gets the task after each read.
        """
        deadline = time.monotonic() + timeout
        while True:
            sent_at = time.monotonic()
            left = max(0.0, deadline - sent_at)
            task = self._read(id, min(_SLICE_SECONDS, int(left)), left + _GRACE_SECONDS)
            if _is_done(task):
                return task
            if on_progress is not None:
                on_progress(task)
            pause = max(0.0, sent_at + _POLL_SECONDS_MIN * (1 + random.random() / 4) - time.monotonic())
            if time.monotonic() + pause >= deadline:
                return task
            time.sleep(pause)

    def cancel(self, id: str) -> PanoramaTask:
        """`POST /panoramas/{id}/cancel`: the task afterwards. It goes on, or had ended, if it is not `failed`."""
        return cast(PanoramaTask, self._about(id, "POST", _is_task, "/cancel"))

    def delete(self, id: str) -> None:
        """`DELETE /panoramas/{id}`: also succeeds if the panorama is deleted already."""
        self._about(id, "DELETE", lambda value: value is None)

    def list(
        self,
        *,
        status: Optional[Status] = None,
        visibility: Optional[Visibility] = None,
        created_after: Union[datetime, str, None] = None,
        created_before: Union[datetime, str, None] = None,
        metadata: Mapping[str, str] = {},
        limit: int = 100,
    ) -> Generator[PanoramaTask, None, None]:
        """`GET /panoramas`: the tasks that match, newest first; each page of `limit` is read when it is needed."""
        cursor: Optional[str] = None
        while True:
            page = self.page(
                status=status,
                visibility=visibility,
                created_after=created_after,
                created_before=created_before,
                metadata=metadata,
                limit=limit,
                cursor=cursor,
            )
            yield from page["data"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def page(
        self,
        *,
        status: Optional[Status] = None,
        visibility: Optional[Visibility] = None,
        created_after: Union[datetime, str, None] = None,
        created_before: Union[datetime, str, None] = None,
        metadata: Mapping[str, str] = {},
        limit: int = 100,
        cursor: Optional[str] = None,
    ) -> TaskPage:
        """One page of `list`; `cursor` is the `next_cursor` of the page before, which had the same filters."""
        given = {
            "limit": str(limit),
            "cursor": cursor,
            "status": status,
            "visibility": visibility,
            "created_after": _time(created_after),
            "created_before": _time(created_before),
            **{f"metadata.{key}": value for key, value in metadata.items()},
        }
        query = urllib.parse.urlencode({name: value for name, value in given.items() if value is not None})
        return cast(TaskPage, self._transport.call("GET", f"/panoramas?{query}", is_answer=_is_page))

    def events(
        self, *, task: Optional[str] = None, last_event_id: Optional[str] = None
    ) -> Generator[PanoramaEvent, None, None]:
        """`GET /events`: the events from now on, or after `last_event_id`; with `task` those of one task, to its last.

        Connects again, after the last event, when the connection is lost. Raises if it cannot connect at first, or may
        not any longer. Close the iterator to end it: `events.close()`.
        """
        path = "/events" if task is None else f"/panoramas/{urllib.parse.quote(task, safe='')}/events"
        was_open = False
        failures = 0
        while True:
            headers = {} if last_event_id is None else {"Last-Event-ID": last_event_id}
            try:
                stream = self._transport.call("GET", path, headers=headers, attempt_timeout=_SILENCE_SECONDS_MAX)
            except PanoramaError as error:
                error.task_id = task
                pause = pause_seconds(error, failures)
                if not was_open or pause is None:
                    raise
                failures += 1
                time.sleep(max(pause, _RECONNECT_SECONDS))  # Retry-After may be 0
                continue
            was_open = True
            failures += 1
            with stream:
                if stream.status == 204:
                    return
                for event in _events(stream):
                    failures = 0
                    last_event_id = event["id"]
                    yield event
            time.sleep(_RECONNECT_SECONDS * random.random() * 2 ** min(failures, 3))

    def upload(self, images: Union[Image, Sequence[Image]]) -> UploadedImages:
        """`POST /images`: uploads an image or several, and returns their URLs in order."""
        several = isinstance(images, Sequence) and not isinstance(images, (str, bytes))
        sources = cast(Sequence[Image], images) if several else [cast(Image, images)]
        boundary = uuid.uuid4().hex
        parts = b"".join(_part(boundary, image, position) for position, image in enumerate(sources, 1))
        return cast(
            UploadedImages,
            self._transport.call(
                "POST",
                "/images",
                headers={"Content-Type": f"multipart/form-data; boundary={boundary}"},
                body=parts + f"--{boundary}--\r\n".encode(),
                # On a slow connection a retry would lose the bytes that are sent already.
                attempt_timeout=self._transport.timeout,
                is_answer=lambda value: _has(value, "image_urls", list),
            ),
        )

    def credits(self) -> CreditTotals:
        """`GET /credits`: the balance, what is reserved for tasks in processing, and what is spent."""
        is_totals: Callable[[Any], bool] = lambda value: _has(value, "remaining_credits", int)
        return cast(CreditTotals, self._transport.call("GET", "/credits", is_answer=is_totals))

    def entries(self, *, limit: int = 100) -> Generator[CreditEntry, None, None]:
        """`GET /credits/entries`: what has changed the balance, newest first; each page is read when it is needed."""
        cursor: Optional[str] = None
        while True:
            page = self.entries_page(limit=limit, cursor=cursor)
            yield from page["data"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def entries_page(self, *, limit: int = 100, cursor: Optional[str] = None) -> CreditEntryPage:
        """One page of `entries`; `cursor` is the `next_cursor` of the page before."""
        query = urllib.parse.urlencode({"limit": str(limit), **({} if cursor is None else {"cursor": cursor})})
        is_page: Callable[[Any], bool] = lambda value: _has(value, "data", list) and "next_cursor" in value
        return cast(CreditEntryPage, self._transport.call("GET", f"/credits/entries?{query}", is_answer=is_page))

    def abilities(self) -> Abilities:
        """`GET /abilities`: what the service can make now. A service of an older version answers `not_found`."""
        is_abilities: Callable[[Any], bool] = lambda value: _has(value, "images_max", int)
        return cast(Abilities, self._transport.call("GET", "/abilities", is_answer=is_abilities))

    def provenance(self, sha256: str) -> Provenance:
        """`GET /provenance/{sha256}`: whether a file with this digest, 64 hexadecimal digits, was made there."""
        is_provenance: Callable[[Any], bool] = lambda value: _has(value, "made_here", bool)
        path = f"/provenance/{urllib.parse.quote(sha256, safe='')}"
        return cast(Provenance, self._transport.call("GET", path, is_answer=is_provenance))

    def _read(self, id: str, wait_seconds: int, timeout: float) -> PanoramaTask:
        headers = {"Prefer": f"wait={wait_seconds}"} if wait_seconds > 0 else {}
        attempt_timeout = self._transport.per_attempt_timeout + wait_seconds
        return cast(PanoramaTask, self._about(id, "GET", _is_task, "", headers, timeout, attempt_timeout))

    def _about(
        self,
        id: str,
        method: str,
        is_answer: Callable[[Any], bool],
        suffix: str = "",
        headers: Mapping[str, str] = {},
        timeout: Optional[float] = None,
        attempt_timeout: Optional[float] = None,
    ) -> Any:
        path = f"/panoramas/{urllib.parse.quote(id, safe='')}{suffix}"
        try:
            return self._transport.call(
                method, path, headers=headers, timeout=timeout, attempt_timeout=attempt_timeout, is_answer=is_answer
            )
        except PanoramaError as error:
            error.task_id = id
            raise


def _has(value: Any, member: str, kind: type) -> bool:
    return isinstance(value, dict) and isinstance(value.get(member), kind)


def _is_task(value: Any) -> bool:
    return _has(value, "id", str) and value.get("status") in ("processing", "succeeded", "failed")


def _is_page(value: Any) -> bool:
    """Without a cursor, the next page would be the first one again."""
    return _has(value, "data", list) and "next_cursor" in value and all(map(_is_task, value["data"]))


def _is_done(task: PanoramaTask) -> bool:
    output = task.get("output")
    succeeded = task["status"] == "succeeded" and output is not None and output["storage_status"] != "uploading"
    return task["status"] == "failed" or succeeded


def _time(time: Union[datetime, str, None]) -> Optional[str]:
    return time.astimezone(timezone.utc).isoformat().replace("+00:00", "Z") if isinstance(time, datetime) else time


def _part(boundary: str, image: Image, position: int) -> bytes:
    """The part of a file. The service finds its type by its first bytes."""
    if isinstance(image, (str, Path)):
        name, data = Path(image).name, Path(image).read_bytes()
    elif isinstance(image, bytes):
        name, data = f"image-{position}", image
    else:
        name, data = Path(str(getattr(image, "name", f"image-{position}"))).name, image.read()
    quoted = name.replace("\\", "_").replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
    type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    disposition = f'Content-Disposition: form-data; name="files"; filename="{quoted}"'
    return f"--{boundary}\r\n{disposition}\r\nContent-Type: {type}\r\n\r\n".encode() + data + b"\r\n"


def _events(stream: Any) -> Iterator[PanoramaEvent]:
    """The events of one connection. Ends when it ends, breaks, or is silent for too long."""
    fields: dict[str, str] = {}
    try:
        for line in stream:
            text = line.decode(errors="replace").rstrip("\r\n")  # a connection may be cut within a character
            if text:
                name, _, value = text.partition(":")
                fields[name] = value.removeprefix(" ")
                continue
            id, data = fields.get("id"), fields.get("data")
            fields = {}
            if id is None or data is None:
                continue
            try:
                event = json.loads(data)
            except ValueError:
                continue
            if isinstance(event, dict) and isinstance(event.get("type"), str):
                yield cast(PanoramaEvent, {**event, "id": id})
    except (OSError, http.client.HTTPException):
        return
