import type { Progress } from "../../../../application/ports/generation-provider.js";

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
 * What providers write of refused content: whole phrases, because single words such as "policy", "moderate" and
 * "sensitive" are also in messages about other errors. Codes are read as words.
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

/** Whether a text of the provider says that its content rules are the reason. */
export const isModerated = (upstreamText: unknown): boolean =>
  textsIn(upstreamText).some((text) => PATTERN.test(asWords(text)));

/** The texts in a JSON value. The names of members say nothing. */
const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

/** `content_policy_violation`, `ContentPolicyViolation` and `content-policy` are words, too. */
const asWords = (text: string): string => text.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[_\s-]+/g, " ");
