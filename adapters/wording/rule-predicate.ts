import { type BrokenRule, type InvalidRequest, WHOLE_BODY } from "../../domain/invalid-request.js";
import { mebibytes } from "./numbers.js";
import { shown } from "./shown.js";

/** The names that an edge has for the fields of a creation request, where a rule mentions them. */
export type FieldNames = { readonly imageUrls: string };

const WIRE_NAMES: FieldNames = { imageUrls: "image_urls" };

/**
 * The violated rule as the predicate of a sentence with its full stop: "must have at most 3 items, but has 4.". The
 * caller puts its own name for the field in front.
 */
export const rulePredicate = (rule: RequestRule, names: FieldNames = WIRE_NAMES): string => {
  const write = predicates[rule.name] as (rule: RequestRule, names: FieldNames) => string;
  return write(rule, names);
};

/** Total by construction: a rule without a predicate does not compile. */
const predicates: {
  readonly [Name in RequestRule["name"]]: (rule: Extract<RequestRule, { name: Name }>, names: FieldNames) => string;
} = {
  type: ({ expected, actual }) => `must be ${TYPES[expected]}, but is ${shown(actual)}.`,
  one_of: ({ allowed, actual }) => `must be ${alternatives(allowed)}, but is ${shown(actual)}.`,
  integer: ({ min, max, actual }) =>
    max === Number.MAX_SAFE_INTEGER && !(Number(actual) > max)
      ? `must be a whole number, ${min} or more, but is ${shown(actual)}.`
      : `must be an integer from ${min} to ${max}, but is ${shown(actual)}.`,
  characters: ({ min, max, actual }) => `must have ${min} to ${max} characters, but has ${actual}.`,
  characters_max: ({ max, actual }) => `must have at most ${max} characters, but has ${actual}.`,
  items_max: ({ max, actual }) => `must have at most ${max} ${max === 1 ? "item" : "items"}, but has ${actual}.`,
  visible_characters: ({ min, max, actual }) =>
    `must have ${min} to ${max} visible characters, but is ${shown(actual)}.`,
  visible_ascii: ({ min, max, actual }) =>
    `must have ${min} to ${max} visible ASCII characters, but is ${shown(actual)}.`,
  storable_text: () => "must be valid Unicode text without NUL characters.",
  email: ({ actual }) => `must be an email address such as name@example.com, but is ${shown(actual)}.`,
  https_url: ({ actual }) => `must be a complete URL that starts with https://, but is ${shown(actual)}.`,
  http_url: ({ actual }) => `must be a complete http(s) URL, but is ${shown(actual)}.`,
  new_endpoint: () => "must not be the URL of another endpoint of this account.",
  public_host: ({ actual }) => `must be reachable on the Internet, but its host ${shown(actual)} is not public.`,
  no_user_info: () => "must not have a user name or password in front of the host.",
  future_time: ({ actual }) =>
    `must be a time in the future such as 2030-01-31 or 2030-01-31T12:00:00Z, but is ${shown(actual)}.`,
  cursor: ({ actual }) =>
    `must be the whole next_cursor of an earlier answer of this list with the same filters, but is ${shown(actual)}; leave it out to begin at the first page.`,
  date_time: ({ actual }) =>
    `must be a date and time such as 2026-01-31T12:00:00Z (RFC 3339), but is ${shown(actual)}.${LOST_PLUS.test(actual) ? " In a URL a + means a space: write it as %2B." : ""}`,
  pairs_max: ({ max, actual }) => `must have at most ${max} pairs, but has ${actual}.`,
  pair_key: ({ min, max, actual }) => `must have keys of ${min} to ${max} characters, but one is ${shown(actual)}.`,
  pair_value: ({ key, max, actual }) =>
    `must have a string of at most ${max} characters for ${shown(key)}, but has ${typeof actual === "string" ? `${[...actual].length} characters` : shown(actual)}.`,
  key_reused: ({ hours }) =>
    `was used with another request body within the last ${hours} hours; use a new key for a new request.`,
  key_of_deleted: ({ taskId }) =>
    `belongs to the panorama ${taskId}, which was deleted; use a new key for a new panorama.`,
  prompt_or_images: (_, { imageUrls }) => `needs a prompt, ${imageUrls}, or both.`,
  misnamed: ({ meant }) => `is not a field of this request; the field that it resembles is ${meant}.`,
  prompt_without_images: ({ min, actual }, { imageUrls }) =>
    `must have at least ${min} characters, not counting white space at its ends, and a visible one, if there are no ${imageUrls}, but is ${shown(actual)}.`,
  missing_image: () =>
    "does not exist in this service: it was deleted, has expired, or was never there; upload the image again and use its new URL.",
  thumbnail: () => "is a thumbnail; use the image_url of the panorama.",
  cost_max: ({ max, cost }) => `is ${max}, but this panorama costs ${cost} credits; nothing was reserved.`,
  not_finished: () => "is still being generated or stored; delete it when it is finished, or cancel it first.",
  images_only: () => "must have an item: this service makes panoramas from images only.",
  text_only: () => "must be empty: this service makes panoramas from text only.",
  files_required: ({ max }) => `is required; send 1 to ${max} images as multipart/form-data parts with the name files.`,
  files_max: ({ max }) => `must be at most ${max} files in one request.`,
  bytes_max: ({ max }) => `must have at most ${size(max)}.`,
  total_bytes_max: ({ max }) => `must have at most ${size(max)} in total.`,
  paid_order_or_credits: ({ credits }) => `need a paid order, or at least ${credits} credits on the account.`,
  unused_bytes_max: ({ max, actual }) =>
    `must stay below ${mebibytes(max)} of images that no panorama of the account uses, and there are already ${mebibytes(Math.ceil(actual / 1024 / 1024) * 1024 * 1024)}. Use them, or wait until the unused ones are deleted.`,
  image_type: ({ allowed }) =>
    `must be one of ${allowed.join(", ")}, but its first bytes are not the signature of any of them.`,
  declared_type: ({ declared, actual }) => `is declared as ${shown(declared)}, but its bytes are ${actual}.`,
  usable_image: ({ reason }) => `cannot be used: ${reason}.`,
  complete: () => "ended before it was complete.",
  not_empty: () => "is empty, but must be a JSON object.",
  json: () => "must be JSON; it cannot be parsed.",
  utf8: () => "must be JSON in UTF-8 and not compressed, but has bytes that are not valid UTF-8.",
  content_type: ({ expected, actual }) => `must be ${expected}, but is ${shown(actual)}.`,
  boundary: () => "is multipart/form-data, but has no boundary parameter of 1 to 70 characters.",
  multipart: ({ reason }) => `must be complete multipart/form-data, but cannot be parsed: ${reason}.`,
  parts_max: ({ max }) => `must have at most ${max} parts.`,
  files_field: ({ part, actual }) =>
    `part ${part} is a file in another form field; rename the form field ${shown(actual)} to "files".`,
  filename: () => "must be a file, but has no filename, and its bytes are not those of an image.",
  chunks: () => "has too many tiny chunks. Send larger ones, of 1 KiB or more.",
  content_encoding: ({ actual }) => `is ${shown(actual)}, but compressed bodies are not taken; send the body as it is.`,
  one_length: () => "must not be sent more than once with different values.",
  unknown_parameter: ({ meant, known }) =>
    `is not a parameter of this list; the nearest one is ${meant}. The list takes ${known.join(", ")}.`,
  once: () => "must not be given more than once.",
};

/** A time whose offset has a space for its sign. */
const LOST_PLUS = /:\d[^ ]* \d\d(:?\d\d)?$/;

const TYPES = { string: "a string", strings: "an array of strings", object: "a JSON object" } as const;

/** `"1k", "2k" or "4k"` */
export const alternatives = (values: readonly string[]): string => {
  const quoted = values.map((value) => JSON.stringify(value));
  return quoted.length < 2 ? quoted.join() : `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
};

/** `10 MiB (10485760 bytes)`; in bytes only if it is not a whole number of MiB. */
const size = (bytes: number): string =>
  bytes % (1024 * 1024) === 0 ? `${mebibytes(bytes)} (${bytes} bytes)` : `${bytes} bytes`;

/** Rules about the format of an HTTP message. */
export type MessageRule =
  | { readonly name: "complete" }
  | { readonly name: "not_empty" }
  | { readonly name: "json" }
  | { readonly name: "utf8" }
  | { readonly name: "content_type"; readonly expected: string; readonly actual: string | undefined }
  | { readonly name: "boundary" }
  | { readonly name: "multipart"; readonly reason: string }
  | { readonly name: "parts_max"; readonly max: number }
  /** A part is a file whose name resembles `files`. */
  | { readonly name: "files_field"; readonly part: number; readonly actual: string }
  | { readonly name: "filename" }
  | { readonly name: "chunks" }
  | { readonly name: "content_encoding"; readonly actual: string }
  | { readonly name: "one_length" }
  | { readonly name: "unknown_parameter"; readonly meant: string; readonly known: readonly string[] }
  | { readonly name: "once" };

/** A rule of the domain, or of the message that brings the request. */
export type RequestRule = BrokenRule | MessageRule;

/** A message that cannot be read, or whose content breaks a rule. */
export type InvalidMessage = InvalidRequest<RequestRule>;

/** The refusal of an HTTP message whose header or body breaks a rule of its format. */
export const invalidMessage = (field: string, rule: MessageRule, index?: number): InvalidMessage => ({
  kind: "invalid_request",
  field,
  ...(index !== undefined && { index }),
  rule,
});

/** Sentence for a broken rule, with the field in front: "image_urls[2]: must be an https URL, …". */
export const invalidRequestSentence = (refusal: InvalidRequest): string =>
  `${parameterName(refusal) ?? "request"}: ${rulePredicate(refusal.rule)}`;

/** The parameter at fault, such as `image_urls[2]`; `undefined` if the request body as a whole is wrong. */
export const parameterName = ({ field, index }: Omit<InvalidRequest, "rule">): string | undefined => {
  if (field === WHOLE_BODY) return undefined;
  return index === undefined ? field : `${field}[${index}]`;
};
