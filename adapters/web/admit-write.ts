import type { Visitor } from "../../application/accounts/sessions.js";
import type { RateLimits } from "../../application/ports/stores/rate-limits.js";
import type { PageReply } from "../web-page/page.js";
import type { Layout } from "./layout.js";

type Parts = { readonly rateLimits: RateLimits; readonly layout: Layout };

/** The rate limit of writes, counted per account instead of per key. Resolves to the refusal, or to `undefined`. */
export const admitWrite = ({ rateLimits, layout }: Parts, visitor: Visitor): Promise<PageReply | undefined> =>
  admit({ rateLimits, layout }, visitor, "write");

/** The rate limit of all forms of an account. */
export const admitForm = ({ rateLimits, layout }: Parts, visitor: Visitor): Promise<PageReply | undefined> =>
  admit({ rateLimits, layout }, visitor, "form");

const admit = async ({ rateLimits, layout }: Parts, visitor: Visitor, kind: "write" | "form") => {
  const admitted = await rateLimits.admit(visitor.account.id, kind);
  return admitted.isOk() ? undefined : layout.limited(admitted.error.retryAfterSeconds, visitor);
};
