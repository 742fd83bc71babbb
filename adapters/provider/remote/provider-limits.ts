/** What the operator may set for a provider; `undefined`: the provider's own. */
export type ProviderLimits = {
  /** Shortest time between two looks at one generation. */
  readonly pollMilliseconds: number | undefined;
  /** Calls of this process. */
  readonly callsPerSecond: number | undefined;
  /** Generations that it runs at once. */
  readonly concurrencyMax: number | undefined;
};
