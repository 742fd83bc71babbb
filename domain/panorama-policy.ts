import { API_KEYS_MAX } from "./api-key.js";
import type { Scope } from "./key-limits.js";
import { definePolicy } from "./policy.js";

const WINDOW_SECONDS = 60;
const WRITES_PER_KEY = 10;

const perMinute = (limit: number) => ({ limit, windowSeconds: WINDOW_SECONDS });

/** The numbers of the panorama service (specification, Resolution and Limits). */
export const PANORAMA_POLICY = definePolicy({
  prices: { "1k": 4, "2k": 6, "4k": 10 },
  rates: {
    /** `read` and `write`: of an API key. */
    read: perMinute(60),
    write: perMinute(WRITES_PER_KEY),
    /**
     * The writes of an account over all its keys: as many as these may make together, so that their own limits are always
     * met first. Met only with more keys: revoked and made again within a minute, or from before the number of keys was
     * limited.
     */
    total: perMinute(WRITES_PER_KEY * API_KEYS_MAX),
    // The others are attempts on the web pages without a session (application/accounts/admit-login-attempt.ts).
    /** Passwords for one e-mail address from one network. */
    login: perMinute(10),
    /** Passwords from one network for all e-mail addresses. More than `login`, because people share networks. */
    login_network: perMinute(60),
    /** Passwords for one e-mail address from all networks. High, because everybody can use it up for somebody else. */
    login_email: perMinute(100),
    /** E-mails that one network requests. */
    mail: perMinute(10),
  },
  activeMax: 5,
  idempotencyHours: 24,
});

/** The rate of each kind of request. */
export const RATE_LIMITS = PANORAMA_POLICY.rates;

/** Requests of one kind share a limit. */
export type RequestKind = keyof typeof RATE_LIMITS;

/** The window of every limit. */
export const RATE_WINDOW_MILLISECONDS = WINDOW_SECONDS * 1000;

/** The scope that a request of an API key needs. */
export const scopeOf = (kind: RequestKind): Scope => (kind === "write" ? "create" : "read");

/** Maximum of `processing` tasks per account, across all its keys (specification, Limits). */
export const ACTIVE_TASKS_MAX = PANORAMA_POLICY.activeMax;

/** How long an idempotency key names its task. */
export const IDEMPOTENCY_KEPT_MILLISECONDS = PANORAMA_POLICY.idempotencyHours * 60 * 60 * 1000;
