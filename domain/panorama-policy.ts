import { API_KEYS_MAX } from "./accounts/api-key.js";
import type { Scope } from "./accounts/key-limits.js";
import { CREDIT_PACKS, type CreditPacks } from "./credits/order.js";
import { definePolicy, type Policy } from "./credits/policy.js";
import type { Rate } from "./credits/rate-limit.js";
import type { Resolution } from "./images/resolution.js";
import { UPLOAD_LIMITS, type UploadLimits } from "./images/upload-rules.js";

const WINDOW_SECONDS = 60;

const perMinute = (limit: number): Rate => ({ limit, windowSeconds: WINDOW_SECONDS });

/**
 * Requests of one kind share a limit. `read` and `write`: of an API key. `total`: the writes of an account. `form`: all
 * forms that an account sends on the web pages. The others are attempts on the web pages without a session
 * (application/accounts/check-credentials.ts).
 */
export type RequestKind = "read" | "write" | "total" | "form" | "login" | "login_network" | "login_email" | "mail";

/** The numbers of the panorama service: what clients are told and charged. */
export type PanoramaPolicy = Policy<Resolution, RequestKind> & {
  readonly uploads: UploadLimits;
  readonly packs: CreditPacks;
  /** Whether an account can create nothing while one of its payments is disputed. */
  readonly suspendOnDispute: boolean;
};

/** What an operator may change. */
export type PanoramaPolicyDefinition = {
  readonly prices?: Readonly<Record<Resolution, number>> | undefined;
  /** Requests of one API key. */
  readonly readsPerMinute?: number | undefined;
  readonly writesPerMinute?: number | undefined;
  /** Maximum of `processing` tasks per account, across all its keys. */
  readonly activeMax?: number | undefined;
  readonly uploads?: UploadLimits | undefined;
  readonly packs?: CreditPacks | undefined;
  readonly suspendOnDispute?: boolean | undefined;
};

/** Makes a policy. Omitted numbers are the specification's (Resolution, Limits). Throws as `definePolicy` does. */
export const panoramaPolicy = ({
  prices = { "1k": 4, "2k": 6, "4k": 10 },
  readsPerMinute = 60,
  writesPerMinute = 10,
  activeMax = 5,
  uploads = UPLOAD_LIMITS,
  packs = CREDIT_PACKS,
  suspendOnDispute = false,
}: PanoramaPolicyDefinition = {}): PanoramaPolicy => ({
  ...definePolicy({
    prices,
    rates: {
      read: perMinute(readsPerMinute),
      write: perMinute(writesPerMinute),
      /**
       * The writes of an account over all its keys: as many as the keys may make together, so that their own limits are
       * always met first. It is met only with more keys: revoked and made again within a minute, or from before the
       * number of keys was limited.
       */
      total: perMinute(writesPerMinute * API_KEYS_MAX),
      /** Forms of an account on the web pages, including those that also count as writes. */
      form: perMinute(60),
      /** Passwords for one e-mail address from one network. */
      login: perMinute(10),
      /** Passwords from one network for all e-mail addresses. More than `login`, because people share networks. */
      login_network: perMinute(60),
      /** Passwords for one e-mail address from all networks. High, because anybody can use up somebody else's limit. */
      login_email: perMinute(100),
      /** E-mails that one network requests. */
      mail: perMinute(10),
    },
    activeMax,
  }),
  uploads,
  packs,
  suspendOnDispute,
});

/** The numbers of the specification. */
export const PANORAMA_POLICY = panoramaPolicy();

/** The rate of each kind of request in the specification. */
export const RATE_LIMITS = PANORAMA_POLICY.rates;

/** The highest price of a panorama, in credits. */
export const PRICE_MAX = 1_000_000;

/** The window of every limit. */
export const RATE_WINDOW_MILLISECONDS = WINDOW_SECONDS * 1000;

/** The scope that a request of an API key needs. */
export const scopeOf = (kind: RequestKind): Scope => (kind === "write" ? "create" : "read");

/** How long an idempotency key names its task. */
export const IDEMPOTENCY_KEPT_MILLISECONDS = PANORAMA_POLICY.idempotencyHours * 60 * 60 * 1000;
