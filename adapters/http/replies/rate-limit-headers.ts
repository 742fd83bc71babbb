import type { AccountRateLimited, Admission, RateLimited } from "../../../domain/credits/rate-limit.js";
import type { PanoramaPolicy, RequestKind } from "../../../domain/panorama-policy.js";
import type { Reply } from "./reply.js";

/** The value of `RateLimit-Policy` for each kind of request. */
export type RateLimitPolicies = Readonly<Record<RequestKind, string>>;

export const rateLimitPolicies = (rates: PanoramaPolicy["rates"]): RateLimitPolicies =>
  // The entries have the keys of `rates`.
  Object.fromEntries(
    Object.entries(rates).map(([kind, { limit, windowSeconds }]) => [kind, `"${kind}";q=${limit};w=${windowSeconds}`]),
  ) as RateLimitPolicies;

/** draft-ietf-httpapi-ratelimit-headers: the remaining requests, and the seconds until more are allowed. */
const stateOf = (kind: RequestKind, remaining: number, seconds: number): string =>
  `"${kind}";r=${remaining};t=${seconds}`;

const withHeaders = (reply: Reply, policy: string, state: string): Reply => ({
  status: reply.status,
  headers: reply.headers,
  body: reply.body,
  rateLimit: { policy, state },
  error: reply.error,
  cause: reply.cause,
});

export const withAdmitted = (
  reply: Reply,
  policies: RateLimitPolicies,
  kind: RequestKind,
  admission: Omit<Admission, "log">,
): Reply => withHeaders(reply, policies[kind], stateOf(kind, admission.remaining, admission.resetSeconds));

/** A request that is refused for its account is described by the limit of the account. */
export const withLimited = (
  reply: Reply,
  policies: RateLimitPolicies,
  requested: RequestKind,
  { kind, retryAfterSeconds }: RateLimited | AccountRateLimited,
): Reply => {
  const described = kind === "rate_limited" ? requested : "total";
  return withHeaders(reply, policies[described], stateOf(described, 0, retryAfterSeconds));
};
