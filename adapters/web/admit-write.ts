import type { Visitor } from "../../application/accounts/find-session.js";
import type { RateLimits } from "../../application/ports/rate-limits.js";
import type { PageReply } from "../web-page/page.js";
import type { Layout } from "./layout.js";

type Parts = { readonly rateLimits: RateLimits; readonly layout: Layout };

/** The rate limit of writes, counted per account instead of per key. Resolves to the refusal, or to `undefined`. */
export const admitWrite = async ({ rateLimits, layout }: Parts, visitor: Visitor): Promise<PageReply | undefined> => {
  const admitted = await rateLimits.admit(visitor.account.id, "write");
  return admitted.isErr() ? layout.rateLimited(admitted.error, visitor) : undefined;
};
