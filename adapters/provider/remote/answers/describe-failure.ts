/** Why a generation failed, for the operator; the provider's own text may repeat the prompt, so it is not passed on. */
export const describeFailure = (status: string, upstreamText: unknown): string =>
  /nsfw|safety|moderat|policy|sensitive/i.test(JSON.stringify(upstreamText) ?? "")
    ? `the provider ended it as ${status}: its content rules`
    : `the provider ended it as ${status}`;
