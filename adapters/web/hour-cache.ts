/** Headers of what programs read from a fixed path, such as a feed: a new version of it may wait for an hour. */
export const HOUR_CACHE = { "cache-control": "public, max-age=3600", "x-content-type-options": "nosniff" };
