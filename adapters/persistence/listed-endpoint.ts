/** An endpoint that is not deleted. Queries must use this exact text, or the index does not apply. */
export const LISTED_ENDPOINT = "(off_reason is null or off_reason <> 'deleted')";
