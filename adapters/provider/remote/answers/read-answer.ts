import { err, ok, type Result } from "neverthrow";
import * as z from "zod";
import type {
  Progress,
  ProviderUnavailable,
  SubmissionFailure,
} from "../../../../application/ports/generation-provider.js";
import { resultUrlOf } from "../../../../domain/images/picture.js";
import { unavailable } from "../../sound-reference.js";
import type { Answer } from "../calls/upstream-call.js";
import { unusableReference } from "../images/reference-input.js";

/** Not `min(1)`: zod compares the `length` of any object, and throws if that is an object without a number. */
export const nonEmpty = z.string().refine((text) => text !== "");

/** The JSON of a 2xx answer. */
export const jsonOf = (answer: Answer): Result<unknown, ProviderUnavailable> => {
  if (answer.status < 200 || answer.status >= 300) return err(unavailable(meaningOf(answer)));
  return answer.body === undefined ? err(unavailable("the answer is not JSON")) : ok(answer.body);
};

/** The body as `schema` reads it; `what` completes "the answer is not ..." for the log. */
export const parseBody = <T>(schema: z.ZodType<T>, what: string, body: unknown): Result<T, ProviderUnavailable> => {
  const parsed = schema.safeParse(body);
  return parsed.success ? ok(parsed.data) : err(unavailable(`the answer is not ${what}`));
};

/** The body of a 2xx answer as `schema` reads it. */
export const bodyIn = <T>(
  answer: Result<Answer, ProviderUnavailable>,
  schema: z.ZodType<T>,
  what: string,
): Result<T, ProviderUnavailable> => answer.andThen(jsonOf).andThen((body) => parseBody(schema, what, body));

/** Id of the generation in the answer to a creation. Without it, one may have been started all the same. */
export const createdIn = <T>(schema: z.ZodType<T>, what: string, body: unknown): Result<T, SubmissionFailure> => {
  const { data } = schema.safeParse(body);
  return data === undefined ? err({ kind: "unknown", reason: `the answer has no ${what}` }) : ok(data);
};

/** Explains the status to the operator. Never quotes the provider's text, which may repeat prompts and keys. */
export const meaningOf = (answer: Answer): string =>
  `status ${answer.status}${MEANINGS[isOutOfCredit(answer) ? 402 : answer.status] ?? ""}`;

export const isKeyRejected = (answer: Answer): boolean =>
  answer.status === 401 || (answer.status === 403 && !isOutOfCredit(answer));

/** The operator's key, credit, model or URL is at fault, and nothing of the request. */
export const isAboutAccess = ({ status }: Answer): boolean => ACCESS_STATUSES.has(status);

const ACCESS_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 404, 405]);

/** With status 403, only the provider's text distinguishes an account without credit from a bad key. */
const isOutOfCredit = ({ status, body }: Answer): boolean =>
  status === 402 || (status === 403 && /balance|quota|top.?up|credit|used every/i.test(JSON.stringify(body) ?? ""));

const MEANINGS: Readonly<Record<number, string>> = {
  400: ": the provider rejects the request as invalid",
  401: ": the provider does not accept the API key",
  402: ": no credit or quota is left with the provider",
  403: ": the provider does not allow this to the API key",
  404: ": the provider does not know this model or path",
  422: ": the provider rejects the request as invalid",
  429: ": too many requests for the provider",
};

/** The picture is refused, and not the call. */
const UNUSABLE_STATUSES: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/**
 * The JSON of the answer to an upload, or the failure of the creation. An upload starts nothing, so a failure that may
 * pass is retried after `pauseSeconds`.
 */
export const uploaded = (answer: Answer, pauseSeconds: number): Result<unknown, SubmissionFailure> => {
  const { status, body } = answer;
  if (status >= 200 && status < 300 && body !== undefined) return ok(body);
  const reason = `the upload of a reference image: ${meaningOf(answer)}`;
  if (UNUSABLE_STATUSES.has(status)) return err(unusableReference(reason));
  return status === 429 || status === 408 || status >= 500
    ? err({ kind: "busy", reason, retryAfterMilliseconds: pauseSeconds * 1000 })
    : err({ kind: "refused", reason, cause: "provider_unavailable" });
};

/** A finished generation; failed if the result is not a URL that can be downloaded. */
export const succeededWith = (url: string): Progress => {
  const temporaryUrl = resultUrlOf(url);
  return temporaryUrl === undefined
    ? {
        state: "failed",
        reason: "the provider's result is not a URL that can be downloaded",
        cause: "unusable_result",
      }
    : { state: "succeeded", temporaryUrl };
};

type Failed = Extract<Progress, { readonly state: "failed" }>;

/**
 * A generation that the provider has ended with this status. The provider's own text may repeat the prompt, so it is
 * only searched for words about content rules and never shown.
 */
export const failedAs = (status: string, upstreamText: unknown): Failed => {
  return isModerated(upstreamText)
    ? { state: "failed", reason: `the provider ended it as ${status}: its content rules`, cause: "content_refused" }
    : { state: "failed", reason: `the provider ended it as ${status}` };
};

const RULES =
  "(?:(?:content|usage|acceptable use|our|your|the) (?:polic(?:y|ies)|guidelines|rules|filters?|moderation|safety)|" +
  "safety(?: (?:system|filters?|checker|check|polic(?:y|ies)|guidelines|rules|reasons?|settings))?|" +
  "moderation|nsfw(?: (?:filter|checker))?)(?! (?:service|server|api|endpoint|model)\\b)";
const FORBIDDEN = "(?:sensitive|unsafe|inappropriate|prohibited|harmful|explicit|disallowed|nsfw)";
const REFUSED = "(?:blocked|flagged|rejected|refused|denied|filtered|triggered|stopped|prohibited)";
const BETWEEN = "(?: (?:by|for|due|to|because|of|the|our|its|a|an|any|under|pass|violating)){0,4}";

/**
 * Phrases in providers' messages about refused content. Whole phrases, because single words such as "policy",
 * "moderate" and "sensitive" are also in messages about other errors. Codes are read as words.
 */
const MODERATED = [
  "e005", // Replicate: "The input or output was flagged as sensitive"
  "content polic(?:y|ies)",
  "content moderat(?:ed|ion)(?! (?:service|server|api|endpoint|model))",
  `(?:${REFUSED}|violat(?:es?|ed|ing|ions? of)|against|fail(?:s|ed)|not pass)${BETWEEN} ${RULES}`,
  `${RULES}(?: (?:has|was|were|is|been)){0,2} (?:${REFUSED}|violat(?:ed|ions?))`,
  `(?:as|potential|potentially|contains?|includes?|is|be)(?: potentially)? ${FORBIDDEN}(?= content| material| image|$|[^ ])`,
  `${FORBIDDEN} (?:content|concepts?|material|imagery|images?)`,
  "nsfw detected",
  "(?:input|output|request|prompt|image|content)(?: (?:was|is|has|been)){0,2} moderated",
  "^(?:image )?safety$",
  "^nsfw$",
].map((phrase) => (phrase.startsWith("^") ? phrase : `\\b(?:${phrase})\\b`));
const PATTERN = new RegExp(MODERATED.join("|"), "i");

/** True if a text of the provider gives its content rules as the reason. */
export const isModerated = (upstreamText: unknown): boolean =>
  textsIn(upstreamText).some((text) => PATTERN.test(asWords(text)));

/** The texts in a JSON value. The names of members say nothing. */
const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

/** `content_policy_violation`, `ContentPolicyViolation` and `content-policy` are words, too. */
const asWords = (text: string): string => text.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[_\s-]+/g, " ");
