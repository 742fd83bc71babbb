/**
 * Invalid input, as data: each adapter (HTTP, web pages, MCP, terminal) writes its own sentence for it.
 *
 * `field`: name of the parameter or header as on the wire; `WHOLE_BODY` if the request body as a whole is wrong.
 * `index`: position in a list, from 0. An adapter adds rules of its own as `Rule`.
 */
export type InvalidRequest<Rule = BrokenRule> = {
  readonly kind: "invalid_request";
  readonly field: string;
  readonly index?: number;
  readonly rule: Rule;
};

/** The `field` of an error that concerns the body as a whole. */
export const WHOLE_BODY = "body";

/** The broken rule, with the limit and the actual value. Passwords, and URLs that contain one, are left out. */
export type BrokenRule = ValueRule | CreationRule | UploadRule;

/** Rules about one value. `actual`: the value itself, or the number of its characters or items. */
type ValueRule =
  | { readonly name: "type"; readonly expected: "string" | "strings" | "object"; readonly actual: unknown }
  | { readonly name: "one_of"; readonly allowed: readonly string[]; readonly actual: unknown }
  | { readonly name: "integer"; readonly min: number; readonly max: number; readonly actual: unknown }
  | { readonly name: "characters"; readonly min: number; readonly max: number; readonly actual: number }
  | { readonly name: "characters_max"; readonly max: number; readonly actual: number }
  | { readonly name: "items_max"; readonly max: number; readonly actual: number }
  | { readonly name: "visible_characters"; readonly min: number; readonly max: number; readonly actual: string }
  | { readonly name: "visible_ascii"; readonly min: number; readonly max: number; readonly actual: string }
  /** Well-formed Unicode without U+0000. */
  | { readonly name: "storable_text" }
  | { readonly name: "email"; readonly actual: string }
  | { readonly name: "https_url"; readonly actual: string }
  | { readonly name: "http_url"; readonly actual: string }
  /** The host of the URL is an address that is not public, or `localhost`. `actual`: the host. */
  | { readonly name: "public_host"; readonly actual: string }
  /** The URL contains a user name or a password. */
  | { readonly name: "no_user_info" }
  /** The account already has an endpoint with this URL. */
  | { readonly name: "new_endpoint" }
  /** Not a date or time of RFC 3339, or not in the future. */
  | { readonly name: "future_time"; readonly actual: string }
  /** Not a `next_cursor` of an earlier page of the same list with the same filters. */
  | { readonly name: "cursor"; readonly actual: string }
  | { readonly name: "date_time"; readonly actual: string }
  | { readonly name: "pairs_max"; readonly max: number; readonly actual: number }
  | { readonly name: "pair_key"; readonly min: number; readonly max: number; readonly actual: string }
  /** Not a text, or a longer one. */
  | { readonly name: "pair_value"; readonly key: string; readonly max: number; readonly actual: unknown }
  /** The idempotency key belongs to another request. */
  | { readonly name: "key_reused"; readonly hours: number }
  /** The idempotency key has created this panorama, which its owner has deleted. */
  | { readonly name: "key_of_deleted"; readonly taskId: string };

/** Rules about several fields of a creation request, and limits of a provider. */
type CreationRule =
  | { readonly name: "prompt_or_images" }
  /** No field of a creation has this name; `meant` has nearly the same. */
  | { readonly name: "misnamed"; readonly meant: string }
  /** Without image URLs, the trimmed prompt needs at least `min` characters, one of them visible. */
  | { readonly name: "prompt_without_images"; readonly min: number; readonly actual: string }
  /** The URL is one of this service, which has no such image for this account: deleted, hidden, private, expired. */
  | { readonly name: "missing_image" }
  /** The URL is one of a thumbnail of this service. */
  | { readonly name: "thumbnail" }
  /** `max_credits` is below the cost of the panorama. */
  | { readonly name: "cost_max"; readonly max: number; readonly cost: number }
  /** The panorama is still being generated or stored. */
  | { readonly name: "not_finished" }
  | { readonly name: "images_only" }
  | { readonly name: "text_only" };

/** Rules of uploaded files. They are checked while the bytes arrive, so the final size is not known. */
type UploadRule =
  | { readonly name: "files_required"; readonly max: number }
  | { readonly name: "files_max"; readonly max: number }
  | { readonly name: "bytes_max"; readonly max: number }
  | { readonly name: "total_bytes_max"; readonly max: number }
  /** The account needs a paid order, or this many credits, before it may upload. */
  | { readonly name: "paid_order_or_credits"; readonly credits: number }
  /** The account has too many unused uploaded bytes. `actual`: before this upload. */
  | { readonly name: "unused_bytes_max"; readonly max: number; readonly actual: number }
  | { readonly name: "image_type"; readonly allowed: readonly string[] }
  | { readonly name: "declared_type"; readonly declared: string; readonly actual: string }
  /** `reason`: of the imaging port, a clause without a full stop. */
  | { readonly name: "usable_image"; readonly reason: string };

/** The refusal of a field that breaks a rule; `index` is the element of a list. */
export const invalidRequest = (field: string, rule: BrokenRule, index?: number): InvalidRequest => ({
  kind: "invalid_request",
  field,
  ...(index !== undefined && { index }),
  rule,
});
