/** Finished images that an operator may retry. Queries must use this exact text, or the index does not apply. */
export const FAILED_IMAGE = "state = 'succeeded' and storage_status = 'failed' and hidden_at is null";
