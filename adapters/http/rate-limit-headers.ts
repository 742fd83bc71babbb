import {
  type Admission,
  RATE_LIMITS,
  RATE_WINDOW_MILLISECONDS,
  type RateLimited,
  type RequestKind,
} from "../../domain/rate-limit.js";
import type { Reply } from "./reply.js";

const policyOf = (kind: RequestKind): string => `"${kind}";q=${RATE_LIMITS[kind]};w=${RATE_WINDOW_MILLISECONDS / 1000}`;

const POLICIES: Readonly<Record<RequestKind, string>> = {
  read: policyOf("read"),
  write: policyOf("write"),
  login: policyOf("login"),
};

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

export const withLimited = (reply: Reply, kind: RequestKind, { retryAfterSeconds }: RateLimited): Reply =>
  withHeaders(reply, kind, 0, retryAfterSeconds);
