import type { Admission, RateLimited, RequestKind } from "../../domain/rate-limit.js";
import { RATE_WINDOW_MILLISECONDS } from "../../domain/rate-limit.js";

type Headers = { readonly "ratelimit-policy": string; readonly ratelimit: string };

/** draft-ietf-httpapi-ratelimit-headers: the remaining requests, and the seconds until more are allowed. */
const headers = (kind: RequestKind, limit: number, remaining: number, seconds: number): Headers => ({
  "ratelimit-policy": `"${kind}";q=${limit};w=${RATE_WINDOW_MILLISECONDS / 1000}`,
  ratelimit: `"${kind}";r=${remaining};t=${seconds}`,
});

export const admittedHeaders = (kind: RequestKind, admission: Omit<Admission, "log">): Headers =>
  headers(kind, admission.limit, admission.remaining, admission.resetSeconds);

export const limitedHeaders = (kind: RequestKind, { limit, retryAfterSeconds }: RateLimited): Headers =>
  headers(kind, limit, 0, retryAfterSeconds);
