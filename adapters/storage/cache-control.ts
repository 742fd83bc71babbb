/** Objects never change, so caches never need to revalidate them. */
export const CACHE_CONTROL = "public, max-age=31536000, immutable";
