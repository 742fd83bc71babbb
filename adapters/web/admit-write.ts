import type { Visitor } from "../../application/accounts/find-session.js";
import type { RateLimits } from "../../application/ports/rate-limits.js";
import type { PageReply } from "../web-page/page.js";
import type { Layout } from "./layout.js";

type Parts = { readonly rateLimits: RateLimits; readonly layout: Layout };

/** The rate limit of writes, counted per account instead of per key. Resolves to the refusal, or to `undefined`. */
export const admitWrite = async ({ rateLimits, layout }: Parts, visitor: Visitor): Promise<PageReply | undefined> => {
  const admitted = await rateLimits.admit(visitor.account.id, "write");
  if (admitted.isOk()) return undefined;
  // The page reads nothing from the store.
  return layout.message(429, "Too fast", `Too fast. Try again in ${admitted.error.retryAfterSeconds} s.`, visitor);
};
