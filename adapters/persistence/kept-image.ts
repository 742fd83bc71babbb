/** Finished images in the storage. Queries must use this exact text, or the index does not apply. */
export const KEPT_IMAGE = "state = 'succeeded' and storage_status in ('saved', 'saved-no-thumb') and hidden_at is null";
