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
 * Kinds of rate limits. `read` and `write`: per API key. `total`: writes per account. `form`: web forms per account.
 * The others: web requests without a session (application/accounts/check-credentials.ts).
 */
export type RequestKind = "read" | "write" | "total" | "form" | "login" | "login_network" | "login_email" | "mail";

/** Prices, rates and limits of the panorama service. */
export type PanoramaPolicy = Policy<Resolution, RequestKind> & {
  readonly uploads: UploadLimits;
  readonly packs: CreditPacks;
  /** If true, accounts with an open dispute cannot create. */
  readonly suspendOnDispute: boolean;
};

/** The numbers that an operator may change. */
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

/** Creates a policy. Defaults: the specification's numbers (Resolution, Limits). Throws as `definePolicy` does. */
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
       * Writes per account: the limit per key times the maximum number of keys, so that a key's own limit is met first.
       * Only reached by replacing keys within a minute, or with older keys above the maximum.
       */
      total: perMinute(writesPerMinute * API_KEYS_MAX),
      /** Forms of an account on the web pages, including forms that also count as writes. */
      form: perMinute(60),
      /** Password attempts for one e-mail address from one network. */
      login: perMinute(10),
      /** Password attempts from one network. More than `login`, because people share networks. */
      login_network: perMinute(60),
      /** Password attempts for one e-mail address. High, because strangers can use it up. */
      login_email: perMinute(100),
      /** E-mails requested by one network. */
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

/** Lifetime of an idempotency key. */
export const IDEMPOTENCY_KEPT_MILLISECONDS = PANORAMA_POLICY.idempotencyHours * 60 * 60 * 1000;
