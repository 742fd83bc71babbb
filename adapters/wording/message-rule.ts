import type { BrokenRule, InvalidRequest } from "../../domain/invalid-request.js";

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
  | { readonly name: "filename" }
  | { readonly name: "transfer_encoding" }
  | { readonly name: "content_encoding"; readonly actual: string }
  | { readonly name: "one_length" };

/** A rule of the domain, or of the message that brings the request. */
export type RequestRule = BrokenRule | MessageRule;

/** A message that cannot be read, or whose content breaks a rule. */
export type InvalidMessage = InvalidRequest<RequestRule>;
