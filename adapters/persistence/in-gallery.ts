/** The domain's `isInGallery`, and not hidden. Queries must use this exact text, or the index does not apply. */
export const IN_GALLERY =
  "visibility = 'public' and state = 'succeeded' and storage_status in ('saved', 'saved-no-thumb') and hidden_at is null";

/** Whether the index of searches (search-rows.ts) and the gallery differ about a task. Again the exact text. */
export const IS_OUT_OF_SEARCH = `in_search <> (${IN_GALLERY})`;
