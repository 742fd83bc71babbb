"""What the service answers, with the names of the REST interface. Newer services may answer with more members."""

from __future__ import annotations

from typing import Literal, Mapping, NotRequired, Sequence, TypedDict, Union

Resolution = Literal["1k", "2k", "4k"]
Visibility = Literal["private", "public"]
Status = Literal["processing", "succeeded", "failed"]


class PanoramaOutput(TypedDict):
    """The picture of a task that has succeeded. Permanent once `storage_status` is `saved` or `saved-no-thumb`."""

    image_url: str
    slug: str
    viewer_url: str
    storage_status: Literal["uploading", "saved", "saved-no-thumb", "failed", "expired"]
    ai_generated: NotRequired[bool]
    native_width: NotRequired[int]
    native_height: NotRequired[int]
    thumbnail_url: NotRequired[str]


class TaskError(TypedDict):
    """Why a task has failed. A later service may add reasons: treat them as `provider_failed`."""

    code: Literal["generation_failed"]
    message: str
    reason: NotRequired[str]
    param: NotRequired[str]


class PanoramaTask(TypedDict):
    """A task. `output` is there when it has succeeded, perhaps a moment later; `error` when it has failed."""

    id: str
    status: Status
    credits_charged: int
    created_at: NotRequired[str]
    finished_at: NotRequired[str]
    resolution: NotRequired[Resolution]
    visibility: NotRequired[Visibility]
    prompt: NotRequired[str]
    image_urls: NotRequired[Sequence[str]]
    seed: NotRequired[int]
    metadata: NotRequired[Mapping[str, str]]
    queue_position: NotRequired[int]
    estimated_seconds: NotRequired[int]
    output: NotRequired[PanoramaOutput]
    error: NotRequired[TaskError]


class TaskPage(TypedDict):
    """A page of the list, newest first. `next_cursor` is `None` on the last one."""

    data: Sequence[PanoramaTask]
    next_cursor: Union[str, None]


class UploadedImages(TypedDict):
    """The public URLs in the order of the images, and until when they are kept unused (RFC 3339)."""

    image_urls: Sequence[str]
    expires_at: NotRequired[str]


class CreditTotals(TypedDict):
    """What an account has, has reserved, and has spent, in credits."""

    remaining_credits: int
    reserved_credits: NotRequired[int]
    spent_credits: NotRequired[int]


class CreditEntry(TypedDict):
    """What has changed the balance. A later version of the service may add kinds; what is optional depends on it."""

    kind: str
    credits: int
    balance_after: int
    task_id: NotRequired[str]
    order_id: NotRequired[str]
    key_id: NotRequired[str]
    reason: NotRequired[str]
    at: str


class CreditEntryPage(TypedDict):
    """A page of the ledger, newest first. `next_cursor` is `None` on the last one."""

    data: Sequence[CreditEntry]
    next_cursor: Union[str, None]


class Abilities(TypedDict):
    """What the service can make now."""

    images_min: int
    images_max: int
    prompt_characters_max: int
    resolutions: Sequence[str]


class Provenance(TypedDict):
    """Whether exactly a file was made by the service, when (RFC 3339), and by which image generator."""

    made_here: bool
    made_at: NotRequired[str]
    provider: NotRequired[str]


class PanoramaEvent(TypedDict):
    """What has happened. `data` is the task; of `credits.low`, the balance. `id` is the same each time it is sent."""

    id: str
    type: str
    timestamp: str
    data: Mapping[str, object]
