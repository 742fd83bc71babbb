/**
 * The circuit breaker in front of a provider: `closed` sends every call, `open` sends none, `half-open` waits for the
 * answer to one probe.
 */
export type CircuitState = "closed" | "half-open" | "open";
