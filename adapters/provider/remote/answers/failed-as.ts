type Failed = { readonly state: "failed"; readonly reason: string };

/**
 * A generation that the provider has ended with this status. The provider's own text may repeat the prompt, so it is
 * only searched for words about moderation and never shown.
 */
export const failedAs = (status: string, upstreamText: unknown): Failed => {
  const moderated = /nsfw|safety|moderat|policy|sensitive/i.test(JSON.stringify(upstreamText) ?? "");
  return { state: "failed", reason: `the provider ended it as ${status}${moderated ? ": its content rules" : ""}` };
};
