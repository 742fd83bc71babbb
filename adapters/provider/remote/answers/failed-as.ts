import type { Progress } from "../../../../application/ports/generation-provider.js";

type Failed = Extract<Progress, { readonly state: "failed" }>;

/**
 * A generation that the provider has ended with this status. The provider's own text may repeat the prompt, so it is
 * only searched for words about moderation and never shown.
 */
export const failedAs = (status: string, upstreamText: unknown): Failed => {
  return isModerated(upstreamText)
    ? { state: "failed", reason: `the provider ended it as ${status}: its content rules`, cause: "content_refused" }
    : { state: "failed", reason: `the provider ended it as ${status}` };
};

/** Whether the provider's text has words about content rules. */
export const isModerated = (upstreamText: unknown): boolean =>
  /nsfw|safety|moderat|policy|sensitive/i.test(JSON.stringify(upstreamText) ?? "");
