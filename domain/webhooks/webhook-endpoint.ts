import { err, ok, type Result } from "neverthrow";
import { type AccountId, type Brand, valueOrThrow } from "../ids.js";
import { type BrokenRule, type InvalidRequest, invalidRequest } from "../invalid-request.js";
import { isPublicHost } from "../public-host.js";

/** Identifies an endpoint. */
export type EndpointId = Brand<string, "EndpointId">;

/** Parses an id; `undefined` if the text has another form. */
export const parseEndpointId = (text: string): EndpointId | undefined =>
  /^[A-Za-z0-9_-]{1,64}$/.test(text) ? (text as EndpointId) : undefined;

/** Creates an id from a constant. Throws if it is invalid; parse input instead. */
export const endpointId = (text: string): EndpointId =>
  valueOrThrow(parseEndpointId(text), text, "the id of an endpoint: 1 to 64 of the characters A-Z, a-z, 0-9, _ and -");

/** The secret that signs webhooks as Standard Webhooks defines it: `whsec_` and 32 random bytes in base64. */
export type EndpointSecret = Brand<string, "EndpointSecret">;

/** The secret of an endpoint, with its prefix. */
export const endpointSecret = (random32BytesAsBase64: string): EndpointSecret =>
  `whsec_${random32BytesAsBase64}` as EndpointSecret;

/** A receiver of all events of an account. */
export type Endpoint = {
  readonly id: EndpointId;
  readonly accountId: AccountId;
  /** `undefined`: the default endpoint, which gets events at the `webhook_url` of their tasks. */
  readonly url: string | undefined;
  readonly secret: EndpointSecret;
  /** The secret before the last rotation. Webhooks are signed with both secrets until `until`. */
  readonly previous: { readonly secret: EndpointSecret; readonly until: Date } | undefined;
  readonly createdAt: Date;
  /** Time of the first failure after the last success. */
  readonly failingSince: Date | undefined;
  /** Time and reason of switching off. */
  readonly off: { readonly at: Date; readonly reason: OffReason } | undefined;
};

/**
 * `failing`: every attempt of three days has failed. `gone`: it answered with status 410. `deleted`: by its account.
 */
export const OFF_REASONS = ["failing", "gone", "deleted"] as const;
/** One of `OFF_REASONS`. */
export type OffReason = (typeof OFF_REASONS)[number];

/** Maximum number of endpoints per account. */
export const ENDPOINTS_MAX = 10;

/** The account already has `limit` endpoints. */
export type TooManyEndpoints = { readonly kind: "too_many_endpoints"; readonly limit: number };

/** `endpoints`: number of the account's endpoints with a URL. */
export const admitEndpoint = (endpoints: number): Result<void, TooManyEndpoints> =>
  endpoints < ENDPOINTS_MAX ? ok(undefined) : err({ kind: "too_many_endpoints", limit: ENDPOINTS_MAX });

/**
 * Refuses a URL that an endpoint of the account already has: it would get every event twice. `urls`: the existing ones.
 */
export const admitEndpointAt = (
  url: string,
  urls: readonly string[],
): Result<void, TooManyEndpoints | InvalidRequest> => {
  if (urls.some((other) => targetOf(other) === targetOf(url))) {
    return err(invalidRequest("url", { name: "new_endpoint" }));
  }
  return admitEndpoint(urls.length);
};

/** The normalized URL without its fragment. */
const targetOf = (url: string): string | undefined => new URL(url).href.split("#")[0];

/** Maximum length of an endpoint's URL, in characters. */
export const WEBHOOK_URL_CHARACTERS_MAX = 2048;

/**
 * Parses the URL of an endpoint: https, without user name and password, not at a private address. `privateOrigins` of
 * the operator may be both http and private. The address of a name is checked when a webhook is sent, because it can
 * change.
 */
export const parseEndpointUrl = (text: string, privateOrigins: readonly string[]): Result<string, InvalidRequest> => {
  const refuse = (rule: InvalidRequest["rule"]) => err(invalidRequest("url", rule));
  if (text.length > WEBHOOK_URL_CHARACTERS_MAX) {
    return refuse({ name: "characters_max", max: WEBHOOK_URL_CHARACTERS_MAX, actual: text.length });
  }
  if (/[\s\p{Cc}]/u.test(text) || !text.isWellFormed() || !/^https?:\/\//.test(text) || !URL.canParse(text)) {
    return refuse({ name: "https_url", actual: text });
  }
  const { username, password } = new URL(text);
  if (username !== "" || password !== "") return refuse({ name: "no_user_info" });
  const broken = brokenTargetRule(text, privateOrigins);
  return broken === undefined ? ok(text) : refuse(broken);
};

/** The rule that an http or https URL breaks as a target of webhooks; `undefined` if it is allowed. */
export const brokenTargetRule = (url: string, privateOrigins: readonly string[]): BrokenRule | undefined => {
  const { protocol, origin, hostname } = new URL(url);
  if (privateOrigins.includes(origin)) return undefined;
  if (protocol !== "https:") return { name: "https_url", actual: url };
  return isPublicHost(hostname) ? undefined : { name: "public_host", actual: hostname };
};

/** Time for which webhooks are signed with the old secret too, after a rotation. */
export const SECRET_OVERLAP_MILLISECONDS = 24 * 60 * 60 * 1000;

/** The secrets that are valid at `now`, newest first. */
export const secretsAt = ({ secret, previous }: Endpoint, now: Date): readonly EndpointSecret[] =>
  previous !== undefined && now < previous.until ? [secret, previous.secret] : [secret];
