import type { Result } from "neverthrow";
import * as z from "zod";

/** Schemas shared by environment variables. */

export const milliseconds = (min: number) => z.coerce.number().int().min(min).max(86_400_000);

/** An http(s) URL without a slash at its end. */
export const origin = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ""));

/** Secrets are sent in HTTP headers, which allow visible ASCII only. */
export const secret = z.string().regex(/^[\x21-\x7e]+$/, "must be visible ASCII characters");

/** URL of an operator's server, without credentials: messages show it. */
export const ownServer = origin.refine((url) => new URL(url).username === "", "must not have a user name or password");

/** Success type of a Result. */
export type SuccessOf<Returned> = Returned extends Result<infer Valid, unknown> ? Valid : never;
