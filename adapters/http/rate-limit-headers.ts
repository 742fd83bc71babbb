import { RATE_LIMITS, type RequestKind } from "../../domain/panorama-policy.js";
import type { AccountRateLimited, Admission, RateLimited } from "../../domain/rate-limit.js";
import type { Reply } from "./reply.js";

const POLICIES = Object.fromEntries(
  Object.entries(RATE_LIMITS).map(([kind, { limit, windowSeconds }]) => [
    kind,
    `"${kind}";q=${limit};w=${windowSeconds}`,
  ]),
) as Readonly<Record<RequestKind, string>>;

/** draft-ietf-httpapi-ratelimit-headers: the remaining requests, and the seconds until more are allowed. */
const withHeaders = (reply: Reply, kind: RequestKind, remaining: number, seconds: number): Reply => ({
  status: reply.status,
  headers: reply.headers,
  body: reply.body,
  rateLimit: { policy: POLICIES[kind], state: `"${kind}";r=${remaining};t=${seconds}` },
  cause: reply.cause,
});

export const withAdmitted = (reply: Reply, kind: RequestKind, admission: Omit<Admission, "log">): Reply =>
  withHeaders(reply, kind, admission.remaining, admission.resetSeconds);

/** A request that is refused for its account is described by the limit of the account. */
export const withLimited = (
  reply: Reply,
  requested: RequestKind,
  { kind, retryAfterSeconds }: RateLimited | AccountRateLimited,
): Reply => withHeaders(reply, kind === "rate_limited" ? requested : "total", 0, retryAfterSeconds);
