import type { Result } from "neverthrow";
import * as z from "zod";

/** The types of values that several groups of environment variables have. */

export const milliseconds = (min: number) => z.coerce.number().int().min(min).max(86_400_000);

/** An http(s) URL without a slash at its end. */
export const origin = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ""));

/** Secrets are sent in HTTP headers, which allow visible ASCII only. */
export const secret = z.string().regex(/^[\x21-\x7e]+$/, "must be visible ASCII characters");

/** A server of the operator's own: its URL is shown in messages, so a password belongs elsewhere. */
export const ownServer = origin.refine((url) => new URL(url).username === "", "must not have a user name or password");

/** The value of a result, such as of what a function returns whose type is nowhere written down. */
export type Value<Returned> = Returned extends Result<infer Valid, unknown> ? Valid : never;
