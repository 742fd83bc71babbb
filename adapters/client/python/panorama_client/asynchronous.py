"""The same calls for asyncio, each in a thread of the default executor."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from datetime import datetime
from typing import Any, AsyncIterator, Generator, Mapping, Optional, Sequence, TypeVar, Union

from .client import WAIT_SECONDS, Image, PanoramaClient, Progress
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

T = TypeVar("T")


class AsyncPanoramaClient:
    """`PanoramaClient` for asyncio. A call that is cancelled raises at once; its request ends by itself.

    `on_progress` is called in the thread of the call.
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
        self._client = PanoramaClient(
            base_url=base_url,
            api_key=api_key,
            timeout=timeout,
            per_attempt_timeout=per_attempt_timeout,
            max_retries=max_retries,
            default_headers=default_headers,
            logger=logger,
        )

    def __repr__(self) -> str:
        return f"Async{self._client!r}"

    async def create(
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
        """See `PanoramaClient.create`."""
        return await asyncio.to_thread(
            self._client.create,
            resolution=resolution,
            prompt=prompt,
            image_urls=image_urls,
            visibility=visibility,
            seed=seed,
            metadata=metadata,
            max_credits=max_credits,
            webhook_url=webhook_url,
            idempotency_key=idempotency_key,
        )

    async def run(
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
        """See `PanoramaClient.run`."""
        return await asyncio.to_thread(
            self._client.run,
            resolution=resolution,
            prompt=prompt,
            image_urls=image_urls,
            visibility=visibility,
            seed=seed,
            metadata=metadata,
            max_credits=max_credits,
            webhook_url=webhook_url,
            idempotency_key=idempotency_key,
            timeout=timeout,
            on_progress=on_progress,
        )

    async def read(self, id: str, *, wait_seconds: int = 0) -> PanoramaTask:
        """See `PanoramaClient.read`."""
        return await asyncio.to_thread(self._client.read, id, wait_seconds=wait_seconds)

    async def wait(
        self, id: str, *, timeout: float = WAIT_SECONDS, on_progress: Optional[Progress] = None
    ) -> PanoramaTask:
        """See `PanoramaClient.wait`."""
        return await asyncio.to_thread(self._client.wait, id, timeout=timeout, on_progress=on_progress)

    async def cancel(self, id: str) -> PanoramaTask:
        """See `PanoramaClient.cancel`."""
        return await asyncio.to_thread(self._client.cancel, id)

    async def delete(self, id: str) -> None:
        """See `PanoramaClient.delete`."""
        await asyncio.to_thread(self._client.delete, id)

    def list(
        self,
        *,
        status: Optional[Status] = None,
        visibility: Optional[Visibility] = None,
        created_after: Union[datetime, str, None] = None,
        created_before: Union[datetime, str, None] = None,
        metadata: Mapping[str, str] = {},
        limit: int = 100,
    ) -> AsyncIterator[PanoramaTask]:
        """See `PanoramaClient.list`: `async for`."""
        return _stepwise(
            self._client.list(
                status=status,
                visibility=visibility,
                created_after=created_after,
                created_before=created_before,
                metadata=metadata,
                limit=limit,
            )
        )

    async def page(
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
        """See `PanoramaClient.page`."""
        return await asyncio.to_thread(
            self._client.page,
            status=status,
            visibility=visibility,
            created_after=created_after,
            created_before=created_before,
            metadata=metadata,
            limit=limit,
            cursor=cursor,
        )

    def events(
        self, *, task: Optional[str] = None, last_event_id: Optional[str] = None
    ) -> AsyncIterator[PanoramaEvent]:
        """See `PanoramaClient.events`: `async for`."""
        return _stepwise(self._client.events(task=task, last_event_id=last_event_id))

    async def upload(self, images: Union[Image, Sequence[Image]]) -> UploadedImages:
        """See `PanoramaClient.upload`."""
        return await asyncio.to_thread(self._client.upload, images)

    async def credits(self) -> CreditTotals:
        """See `PanoramaClient.credits`."""
        return await asyncio.to_thread(self._client.credits)

    def entries(self, *, limit: int = 100) -> AsyncIterator[CreditEntry]:
        """See `PanoramaClient.entries`: `async for`."""
        return _stepwise(self._client.entries(limit=limit))

    async def entries_page(self, *, limit: int = 100, cursor: Optional[str] = None) -> CreditEntryPage:
        """See `PanoramaClient.entries_page`."""
        return await asyncio.to_thread(self._client.entries_page, limit=limit, cursor=cursor)

    async def abilities(self) -> Abilities:
        """See `PanoramaClient.abilities`."""
        return await asyncio.to_thread(self._client.abilities)

    async def provenance(self, sha256: str) -> Provenance:
        """See `PanoramaClient.provenance`."""
        return await asyncio.to_thread(self._client.provenance, sha256)


async def _stepwise(iterator: Generator[T, None, None]) -> AsyncIterator[T]:
    """Takes each step of the iterator in a thread."""
    end: Any = object()
    try:
        while (value := await asyncio.to_thread(next, iterator, end)) is not end:
            yield value
    finally:
        # A step that is under way in its thread cannot be closed: it ends by itself.
        with contextlib.suppress(ValueError):
            iterator.close()
