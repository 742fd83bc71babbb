/*
 * Conditions of indexes. Queries must use these exact texts, or the index does not apply.
 */

/** The domain's `isInGallery`, and not deleted. */
export const IN_GALLERY =
  "visibility = 'public' and state = 'succeeded' and storage_status in ('saved', 'saved-no-thumb') and deleted_at is null";

/** Hidden by an operator. Also while the files of a deleted one are being erased. */
export const HIDDEN = "hidden_at is not null";

/** An order that an operator has to confirm, because its customer pays outside of this service. */
export const AWAITS_OPERATOR = "paid_at is null and checkout_session is null";

/** A closed account of which something is left. */
export const TO_BE_ERASED = "closed_at is not null and erased_at is null";

/** Finished images that an operator may retry. */
export const FAILED_IMAGE = "state = 'succeeded' and storage_status = 'failed' and deleted_at is null";

/** A task that has no picture, because it failed or was deleted, and still has its texts. */
export const HAS_TEXTS_TO_ERASE = "(state = 'failed' or deleted_at is not null) and texts_erased_at is null";

/** When such a task failed or, later, was deleted. */
export const ENDED_WITHOUT_PICTURE_AT = "coalesce(deleted_at, failed_at)";

export const LISTED_ENDPOINT = "(off_reason is null or off_reason <> 'deleted')";
