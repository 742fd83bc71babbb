import type { Admission, RateLimited, RequestKind } from "../../domain/rate-limit.js";
import { RATE_WINDOW_MILLISECONDS } from "../../domain/rate-limit.js";
import type { Reply } from "./reply.js";

/** draft-ietf-httpapi-ratelimit-headers: the remaining requests, and the seconds until more are allowed. */
const withHeaders = (reply: Reply, kind: RequestKind, limit: number, remaining: number, seconds: number): Reply => ({
  ...reply,
  headers: {
    ...reply.headers,
    "ratelimit-policy": `"${kind}";q=${limit};w=${RATE_WINDOW_MILLISECONDS / 1000}`,
    ratelimit: `"${kind}";r=${remaining};t=${seconds}`,
  },
});

export const withAdmitted = (reply: Reply, kind: RequestKind, admission: Omit<Admission, "log">): Reply =>
  withHeaders(reply, kind, admission.limit, admission.remaining, admission.resetSeconds);

export const withLimited = (reply: Reply, kind: RequestKind, { limit, retryAfterSeconds }: RateLimited): Reply =>
  withHeaders(reply, kind, limit, 0, retryAfterSeconds);
